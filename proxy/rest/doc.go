// Package rest is the HTTP front end: the endpoints of the service interface on
// fasthttp, their documents (openapi.yaml is the contract), and nothing else. Who is
// calling, what they reach and what may run is the gate's business.
//
// # The way of a request
//
//	accept    listener.go   places for connections, one owned goroutine each
//	head      head.go       the raw header block, read once and strictly
//	route     route.go      path, then method; ids are percent-decoded once
//	endpoint  users.go, servers.go, query.go: credentials → reach → scope and
//	          activity → media types → body → statement, in that order
//	answer    respond.go    the body, its headers, one log line, one count
//
// # Invariants
//
//   - Every answer, to whatever bytes, is JSON of the documented shape with a request
//     id, except the page at /docs and connections that are cut off.
//   - A connection on which the end of a request is in doubt is closed after its answer.
//   - Credentials are read from the header block alone, never from trailers, and a
//     repeated one is refused, so that no proxy in front can have seen another.
//   - What belongs to fasthttp is copied before it leaves the handler.
//   - Nothing here logs a request's path, query, credentials, body or arguments.
package rest
