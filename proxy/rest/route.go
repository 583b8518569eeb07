package rest

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/proxy"
)

// route is one path. HEAD is answered wherever GET is, OPTIONS everywhere.
type route struct {
	segments []string // {project} and {server} stand for ids
	methods  []method
}

// at makes a route.
func at(path string, methods ...method) route {
	return route{segments: strings.Split(path[1:], "/"), methods: methods}
}

// method is what one method of a path does; name is its label in logs and metrics.
// answer sends the answer itself, or returns why not.
type method struct {
	verb, name string
	answer     func(*request) error
}

// routes is the whole public surface. There are few paths, so a table is searched
// rather than a tree built: the order of the checks, the decoding of ids and the
// Allow headers then follow this file and nothing else.
func (s *Server) routes() []route {
	const servers = "/api/developer/projects/{project}/servers"
	return []route{
		at("/api/auth/user/by-email", method{"GET", "user_by_email", s.userByEmail}),
		at(servers, method{"GET", "list_servers", s.listServers}, method{"POST", "create_server", s.createServer}),
		at(servers+"/{server}", method{"GET", "get_server", s.getServer}, method{"PUT", "update_server", s.updateServer}),
		at(servers+"/{server}/database/query", method{"POST", "query", s.query}),
		at("/openapi.json", method{"GET", "openapi", s.openAPI}),
		at("/docs", method{"GET", "docs", s.docs}),
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

func (s *Server) noRoute() error {
	at := s.cfg.BasePath
	return proxy.Refuse(proxy.NotFound, "there is no such path; "+at+"/openapi.json and "+at+"/docs list what there is")
}

// match finds the route of the path and its ids, each percent-decoded exactly once.
func (s *Server) match(r *request) (route, error) {
	path, inside := strings.CutPrefix(r.path, s.cfg.BasePath)
	if !inside || !strings.HasPrefix(path, "/") {
		return route{}, s.noRoute()
	}
	var segments [deepest]string
	count := 0
	for rest, more := path[1:], true; more; count++ {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return route{}, proxy.Refuse(proxy.InvalidRequest, "the path holds a malformed percent-encoding")
		}
		if count < deepest {
			segments[count] = decoded
		}
	}
	for _, candidate := range s.table {
		if len(candidate.segments) == count && r.matches(candidate, segments[:count]) {
			return candidate, nil
		}
	}
	return route{}, s.noRoute()
}

// deepest is how many segments a path has at most.
const deepest = 8

// matches compares as many segments as the candidate has.
func (r *request) matches(candidate route, segments []string) bool {
	for i, want := range candidate.segments {
		switch {
		case want == segments[i]:
		case segments[i] == "":
			return false
		case want == "{project}":
			r.projectID = segments[i]
		case want == "{server}":
			r.serverID = segments[i]
		default:
			return false
		}
	}
	return true
}

// method gives what the verb does here; ok is false when it is not allowed.
func (route route) method(verb string) (m method, ok bool) {
	if verb == "HEAD" {
		verb = "GET"
	}
	i := slices.IndexFunc(route.methods, func(m method) bool { return m.verb == verb })
	if i < 0 {
		return method{}, false
	}
	return route.methods[i], true
}

// allow is the Allow header of a path.
func (route route) allow() string {
	var verbs []string
	for _, method := range route.methods {
		verbs = append(verbs, method.verb)
		if method.verb == "GET" {
			verbs = append(verbs, "HEAD")
		}
	}
	return strings.Join(append(verbs, "OPTIONS"), ", ")
}
