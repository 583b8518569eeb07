package resttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Transport is a http.RoundTripper that checks each exchange that goes through it.
type Transport struct {
	Contract *Contract
	Base     http.RoundTripper // what makes the requests; required
	Report   func(error)       // told what is not as the document says; required
}

// RoundTrip implements http.RoundTripper. The answer's body is read whole.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	if request.Body != nil && request.Body != http.NoBody {
		var err error
		if sent, err = io.ReadAll(request.Body); err != nil {
			return nil, fmt.Errorf("reading the request's body: %w", err)
		}
		_ = request.Body.Close()
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := t.Base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer's body: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(received))
	if err := t.Contract.Check(Exchange{request, sent, response, received}); err != nil {
		t.Report(fmt.Errorf("%s %s: %w", request.Method, request.URL, err))
	}
	return response, nil
}
