// Package resttest checks requests and responses of the HTTP front end against its OpenAPI
// document. It is for tests: of the front end itself, and of the whole program.
//
// The library that reads the document checks OpenAPI 3.1 schemas with a validator of
// JSON Schema 2020-12. This package checks what the library omits: answers to HEAD, paths and
// methods that the document does not have, headers that it does not name, the pairing of
// codes and statuses, and that a request which was served is one that it allows. Not
// checked are the order of members, repeated members, and the digits of numbers.
package resttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Contract is a loaded OpenAPI document.
type Contract struct {
	doc  *openapi3.T
	base string
}

// Load reads the document that /openapi.json serves and checks that it is valid.
func Load(document []byte) (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("loading the document: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("validating the document: %w", err)
	}
	return &Contract{doc: doc, base: strings.TrimSuffix(doc.Servers[0].URL, "/")}, nil
}

// Document is the loaded document. The caller must not change it.
func (c *Contract) Document() *openapi3.T { return c.doc }

// Exchange is a request and its answer, both with their bodies read.
type Exchange struct {
	Request      *http.Request // only method, URL and Header are read
	RequestBody  []byte
	Response     *http.Response // only StatusCode and Header are read
	ResponseBody []byte
}

// Check tells what in the exchange is not as the document says.
func (c *Contract) Check(e Exchange) error {
	return errors.Join(c.checkHeaders(e), c.checkOperation(e), checkError(e))
}

func (c *Contract) checkOperation(e Exchange) error {
	path, item, params := c.find(e.Request.URL)
	method := e.Request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch {
	case item == nil:
		return c.checkUndocumented(e, http.StatusNotFound, http.StatusBadRequest)
	case item.GetOperation(method) == nil:
		return c.checkUndocumented(e, http.StatusMethodNotAllowed)
	}
	operation := item.GetOperation(method)
	input := &openapi3filter.RequestValidationInput{
		Request: normalized(e, method), PathParams: params, QueryParams: e.Request.URL.Query(),
		Route:   &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: method, Operation: operation},
		Options: &openapi3filter.Options{AuthenticationFunc: hasCredentials, IncludeResponseStatus: true, SkipSettingDefaults: true},
	}
	return errors.Join(checkRequest(e, input), checkResponse(e, input))
}

// checkRequest: what was served must be allowed. What was refused may be anything.
func checkRequest(e Exchange, input *openapi3filter.RequestValidationInput) error {
	if e.Response.StatusCode != http.StatusOK {
		return nil
	}
	if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
		return fmt.Errorf("a request was served that the document does not allow: %w", err)
	}
	for name := range e.Request.URL.Query() {
		known := func(p openapi3.Parameters) bool { return p.GetByInAndName("query", name) != nil }
		if !known(input.Route.Operation.Parameters) && !known(input.Route.PathItem.Parameters) && input.Route.Operation.Security != nil && len(*input.Route.Operation.Security) > 0 {
			return fmt.Errorf("a query parameter was served that the document does not name: %q", name)
		}
	}
	return nil
}

func checkResponse(e Exchange, input *openapi3filter.RequestValidationInput) error {
	body, options := e.ResponseBody, *input.Options
	if e.Request.Method == http.MethodHead {
		if len(body) > 0 {
			return errors.New("the answer to HEAD has a body")
		}
		options.ExcludeResponseBody = true
	}
	if strings.HasPrefix(e.Response.Header.Get("Content-Type"), "text/html") {
		options.ExcludeResponseBody = true // the library reads no HTML
	}
	output := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: e.Response.StatusCode, Header: e.Response.Header, Options: &options,
	}
	err := openapi3filter.ValidateResponse(context.Background(), output.SetBodyBytes(body))
	if err != nil {
		return fmt.Errorf("the answer %d is not as the document says: %w", e.Response.StatusCode, err)
	}
	return nil
}

// normalized is the request as the library can read it: with a body, and the media
// type that a missing one stands for.
func normalized(e Exchange, method string) *http.Request {
	request := e.Request.Clone(context.Background())
	request.Method = method
	request.Body = http.NoBody
	request.GetBody = nil
	if len(e.RequestBody) > 0 {
		request.Body = readCloser{bytes.NewReader(e.RequestBody)}
		if request.Header.Get("Content-Type") == "" {
			request.Header.Set("Content-Type", "application/json")
		}
	}
	return request
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// hasCredentials wants the headers of a security scheme, whatever is in them.
func hasCredentials(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	name := input.SecurityScheme.Name
	if input.SecurityScheme.Type == "http" {
		name = "Authorization"
	}
	if input.RequestValidationInput.Request.Header.Get(name) == "" {
		return fmt.Errorf("header %s is missing", name)
	}
	return nil
}

// find gives the path of the document that a URL is on, with its parameters.
func (c *Contract) find(target *url.URL) (string, *openapi3.PathItem, map[string]string) {
	path, inside := strings.CutPrefix(target.EscapedPath(), c.base)
	if !inside {
		return "", nil, nil
	}
	segments := strings.Split(cmp.Or(path, "/"), "/")
	for _, pattern := range c.doc.Paths.InMatchingOrder() {
		if params, ok := match(strings.Split(pattern, "/"), segments); ok {
			return pattern, c.doc.Paths.Value(pattern), params
		}
	}
	return "", nil, nil
}

func match(pattern, segments []string) (map[string]string, bool) {
	if len(pattern) != len(segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, want := range pattern {
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		if name, isParam := strings.CutPrefix(want, "{"); isParam && value != "" {
			params[strings.TrimSuffix(name, "}")] = value
		} else if want != value {
			return nil, false
		}
	}
	return params, true
}
