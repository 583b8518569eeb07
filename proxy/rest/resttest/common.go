package resttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantgate/tenantgate/proxy"
)

// checkUndocumented checks the answer to what the document has no operation for.
func (c *Contract) checkUndocumented(e Exchange, allowed ...int) error {
	status := e.Response.StatusCode
	if e.Request.URL.Path == "*" || slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}, status) {
		return nil
	}
	if !slices.Contains(allowed, status) && status != http.StatusBadRequest {
		return fmt.Errorf("status %d on a path or method that the document does not have", status)
	}
	if e.Request.Method == http.MethodHead {
		return nil
	}
	var body any
	if err := json.Unmarshal(e.ResponseBody, &body); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	return c.doc.Components.Schemas["Error"].Value.VisitJSON(body, openapi3.EnableJSONSchema2020())
}

// checkError checks what every error has in common, and its place in the table of codes.
func checkError(e Exchange) error {
	if e.Response.StatusCode < http.StatusBadRequest || e.Request.Method == http.MethodHead {
		return nil
	}
	var body struct {
		Error struct {
			Code      proxy.Code `json:"code"`
			RequestID string     `json:"requestId"`
		} `json:"error"`
	}
	if err := json.Unmarshal(e.ResponseBody, &body); err != nil {
		return fmt.Errorf("the error is not JSON: %w", err)
	}
	if want := proxy.Codes[body.Error.Code].Status; want != e.Response.StatusCode {
		return fmt.Errorf("code %q was sent with status %d, it belongs to %d", body.Error.Code, e.Response.StatusCode, want)
	}
	if body.Error.RequestID != e.Response.Header.Get("X-Request-ID") {
		return errors.New("the error's requestId is not the answer's X-Request-ID")
	}
	if retry := slices.Contains([]int{429, 503}, e.Response.StatusCode); retry && e.Response.Header.Get("Retry-After") == "" {
		return errors.New("Retry-After is missing")
	}
	return nil
}

// checkHeaders checks the headers that every answer has, and that it has no others than
// the document or the introduction to it names.
func (c *Contract) checkHeaders(e Exchange) error {
	header := e.Response.Header
	if len(header.Values("X-Request-ID")) != 1 {
		return fmt.Errorf("X-Request-ID is on the answer %d times", len(header.Values("X-Request-ID")))
	}
	for name := range header {
		if !slices.Contains(everywhere, name) && !strings.HasPrefix(name, "Access-Control-") && !c.names(name) {
			return fmt.Errorf("the answer has a header that the document does not name: %s", name)
		}
	}
	if e.Response.StatusCode == http.StatusNoContent {
		return nil
	}
	if want, got := "application/json", header.Get("Content-Type"); got != want && !strings.HasSuffix(e.Request.URL.Path, "/docs") {
		return fmt.Errorf("Content-Type is %q, want %q", got, want)
	}
	return nil
}

// everywhere are the headers of HTTP itself and those that the introduction names.
var everywhere = []string{
	"Date", "Connection", "Content-Length", "Content-Type", "Vary", "Cache-Control", "X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy",
}

func (c *Contract) names(header string) bool {
	if header == "Link" {
		return true
	}
	for name := range c.doc.Components.Headers {
		if http.CanonicalHeaderKey(name) == header {
			return true
		}
	}
	return false
}
