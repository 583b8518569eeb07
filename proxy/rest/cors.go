package rest

import (
	"slices"
)

// The headers that scripts may send and read.
const (
	corsRequestHeaders  = "Authorization, Content-Type, Accept, X-API-Key, X-Server-ID, X-Request-ID, X-Int8"
	corsResponseHeaders = "X-Request-ID, Link, Allow, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate"
)

// allowOrigin lets scripts of a configured origin read the answer. Credentials mode is
// never allowed: the service knows no cookies.
func (r *request) allowOrigin() {
	origins := r.server.cfg.CORSOrigins
	if len(origins) == 0 {
		return
	}
	origin := string(r.head.value[fieldOrigin])
	switch {
	case slices.Contains(origins, "*"):
		r.set("Access-Control-Allow-Origin", "*")
	case origin != "" && slices.Contains(origins, origin):
		r.set("Access-Control-Allow-Origin", origin)
		r.set("Vary", "Origin")
	default:
		r.set("Vary", "Origin")
		return
	}
	r.set("Access-Control-Expose-Headers", corsResponseHeaders)
}

// options answers 204: what the path allows, and to a preflight of an allowed origin
// what scripts may do.
func (r *request) options(allow string) error {
	r.set("Allow", allow)
	allowed := len(r.http.Response.Header.Peek("Access-Control-Allow-Origin")) > 0
	if allowed && r.head.seen[fieldCORSMethod] {
		r.set("Access-Control-Allow-Methods", allow)
		r.set("Access-Control-Allow-Headers", corsRequestHeaders)
		r.set("Access-Control-Max-Age", "600")
	}
	r.http.Response.SetStatusCode(204)
	r.commonHeaders("no-store")
	return nil
}
