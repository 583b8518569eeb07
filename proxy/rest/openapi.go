package rest

import (
	_ "embed" // for the OpenAPI document

	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/proxy/rest/apidoc"
)

// openAPIYAML is the contract, written by hand.
//
//go:embed openapi.yaml
var openAPIYAML []byte

// document is the contract as it is served.
type document struct {
	json, page []byte
	policy     string // the page's Content-Security-Policy
}

func newDocument(basePath string) (document, error) {
	parsed, err := apidoc.Parse(openAPIYAML, basePath)
	if err != nil {
		return document{}, err
	}
	json, err := parsed.JSON()
	if err != nil {
		return document{}, err
	}
	page, policy, err := parsed.Page()
	return document{json, page, policy}, err
}

// OpenAPI is the document that /openapi.json serves under a base path, in JSON.
func OpenAPI(basePath string) ([]byte, error) {
	document, err := newDocument(basePath)
	return document.json, err
}

// openAPI answers GET /openapi.json.
func (s *Server) openAPI(r *request) error {
	if err := r.negotiate(false); err != nil {
		return err
	}
	return r.sendDocument(jsonType, s.document.json)
}

// docs answers GET /docs.
func (s *Server) docs(r *request) error {
	r.set("Content-Security-Policy", s.document.policy)
	r.set("Referrer-Policy", "no-referrer")
	return r.sendDocument("text/html; charset=utf-8", s.document.page)
}

// root answers GET / for who was given the base URL alone: a browser goes on to the page, and everybody else reads where
// the documents are.
func (s *Server) root(r *request) error {
	at := s.cfg.BasePath
	body := appendString(append(r.buffer(), `{"docs":`...), at+"/docs")
	body = appendString(append(body, `,"openapi":`...), at+"/openapi.json")
	r.setBody(fasthttp.StatusFound, append(body, '}'))
	r.set("Location", at+"/docs")
	return nil
}

// sendDocument answers with bytes that all requests share and nobody writes to.
func (r *request) sendDocument(contentType string, shared []byte) error {
	r.http.Response.SetStatusCode(200)
	r.commonHeaders("no-cache")
	r.http.Response.Header.SetContentType(contentType)
	r.http.Response.SetBodyRaw(shared)
	return nil
}
