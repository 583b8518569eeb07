package rest

import (
	"bytes"
	"errors"
	"io"
	"net"

	"github.com/tenantgate/tenantgate/proxy"
)

// readBody reads the request's body. fasthttp has read its first 8 KiB at most, so
// that nobody without credentials makes the service hold more.
func (r *request) readBody() ([]byte, error) {
	if r.asking {
		return nil, errSendBody
	}
	stream := r.http.Request.BodyStream()
	if stream == nil {
		r.bodyRead = true
		return nil, nil
	}
	limit := r.server.cfg.MaxBodyBytes
	var body bytes.Buffer
	if declared := r.http.Request.Header.ContentLength(); declared > 0 {
		body.Grow(min(declared, limit) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(stream, int64(limit)+1))
	switch {
	case err != nil:
		return nil, brokenBody(err)
	case body.Len() > limit:
		return nil, r.tooLarge()
	}
	r.bodyRead = true
	return body.Bytes(), nil
}

// brokenBody says why a body did not arrive.
func brokenBody(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return proxy.Refuse(proxy.InvalidRequest, "the request did not arrive whole in time")
	}
	return proxy.Refuse(proxy.InvalidRequest, "the body ended early or its chunks are malformed")
}

// settled makes sure that the next bytes on the connection are a new request's: a
// body that nobody read is taken off if it is short enough to be here already.
// Otherwise it reports false, and the connection has to be closed.
func (r *request) settled() bool {
	stream := r.http.Request.BodyStream()
	if stream == nil || r.bodyRead {
		return true
	}
	const prefetched = 8 << 10 // fasthttp waits for this much before it calls the handler
	if declared := r.http.Request.Header.ContentLength(); declared < 0 || declared > prefetched {
		return false
	}
	_, err := io.Copy(io.Discard, io.LimitReader(stream, prefetched+1))
	return err == nil
}
