package rest

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/proxy"
)

// route is one path. HEAD is answered wherever GET is, OPTIONS everywhere.
type route struct {
	path    string // {project} and {server} stand for ids
	methods []method
}

// method is what one method of a path does; name is its label in logs and metrics.
// answer sends the answer itself, or returns why not.
type method struct {
	verb, name string
	answer     func(*request) error
}

// routes is the whole public surface.
func (s *Server) routes() []route {
	const servers = "/api/developer/projects/{project}/servers"
	return []route{
		{"/api/auth/user/by-email", []method{{"GET", "user_by_email", s.userByEmail}}},
		{servers, []method{{"GET", "list_servers", s.listServers}, {"POST", "create_server", s.createServer}}},
		{servers + "/{server}", []method{{"GET", "get_server", s.getServer}, {"PUT", "update_server", s.updateServer}}},
		{servers + "/{server}/database/query", []method{{"POST", "query", s.query}}},
		{"/openapi.json", []method{{"GET", "openapi", s.openAPI}}},
		{"/docs", []method{{"GET", "docs", s.docs}}},
		{"/", []method{{"GET", "root", s.root}}},
	}
}

// otherEndpoint is the label of requests that reach no endpoint.
const otherEndpoint = "other"

// Endpoints are the names by which logs and metrics know the endpoints; "other" is
// for requests that reach none.
func Endpoints() []string {
	names := []string{otherEndpoint}
	for _, route := range new(Server).routes() {
		for _, method := range route.methods {
			names = append(names, method.name)
		}
	}
	return names
}

// splitTarget gives path and query of a request target, RFC 9112 section 3.2, as they
// were sent. The path of what is neither origin- nor absolute-form matches no route.
// They are copied apart: an id that is kept somewhere must not keep a long query alive.
func splitTarget(target []byte) (path, query string) {
	rawPath, rawQuery, _ := bytes.Cut(target, []byte("?"))
	path, query = string(rawPath), string(rawQuery)
	if _, rest, absolute := strings.Cut(path, "://"); absolute && !strings.HasPrefix(path, "/") {
		_, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	return path, query
}

// newRouter gives each path its methods, OPTIONS, and a refusal of all others. It is only asked
// for handlers: what it answers itself, redirects among it, is no JSON.
func (s *Server) newRouter() *router.Router {
	paths := router.New()
	for _, route := range s.routes() {
		var verbs []string
		for _, method := range route.methods {
			verbs = append(verbs, method.verb)
			paths.Handle(method.verb, route.path, handler(method.serve))
			if method.verb == "GET" {
				verbs = append(verbs, "HEAD")
				paths.HEAD(route.path, handler(method.serve))
			}
		}
		allow := strings.Join(append(verbs, "OPTIONS"), ", ")
		options := method{"OPTIONS", otherEndpoint, func(r *request) error { return r.options(allow) }}
		paths.OPTIONS(route.path, handler(options.serve))
		paths.ANY(route.path, handler(func(r *request) error {
			r.set("Allow", allow)
			return proxy.Refuse(proxy.MethodNotAllowed, "this path answers "+allow)
		}))
	}
	return paths
}

// handler makes one for the router, which leaves its error in the request.
func handler(answer func(*request) error) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		r := &streamOf(ctx.Conn()).socket.request
		r.projectID, r.serverID = r.idOf("project"), r.idOf("server")
		r.err = answer(r)
	}
}

// idOf gives an id of the path, percent-decoded exactly once; "" where the path has none.
func (r *request) idOf(name string) string {
	segment, _ := r.http.UserValue(name).(string)
	id, _ := url.PathUnescape(segment) // it can be decoded: see canonical
	return id
}

// serve makes the checks between the method and the credentials, and answers.
func (m method) serve(r *request) error {
	r.endpoint = m.name
	if err := r.checkHead(); err != nil {
		return err
	}
	return m.answer(r)
}

// find gives the handler of the path and the method.
func (s *Server) find(r *request) (fasthttp.RequestHandler, error) {
	path, inside := strings.CutPrefix(r.path, s.cfg.BasePath)
	if path == "" { // the base path alone
		path = "/"
	}
	if !inside || !strings.HasPrefix(path, "/") {
		return nil, s.noRoute()
	}
	path, err := canonical(path)
	if err != nil {
		return nil, proxy.Refuse(proxy.InvalidRequest, "the path holds a malformed percent-encoding")
	}
	if strings.Contains(path, "//") { // an empty segment, which the router would take for an id
		return nil, s.noRoute()
	}
	found, _ := s.router.Lookup(r.verb, path, r.http)
	if found == nil {
		return nil, s.noRoute()
	}
	return found, nil
}

// canonical encodes each segment in one way, whichever was sent, for the router compares bytes. A slash in an id stays
// encoded, so that it separates nothing.
func canonical(path string) (string, error) {
	if !strings.Contains(path, "%") {
		return path, nil
	}
	var encoded strings.Builder
	encoded.Grow(len(path))
	for segment := range strings.SplitSeq(path[1:], "/") {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return "", err
		}
		encoded.WriteByte('/')
		encoded.WriteString(url.PathEscape(decoded))
	}
	return encoded.String(), nil
}

func (s *Server) noRoute() error {
	at := s.cfg.BasePath
	return proxy.Refuse(proxy.NotFound, "there is no such path; "+at+"/openapi.json and "+at+"/docs list what there is")
}
