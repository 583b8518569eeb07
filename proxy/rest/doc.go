// Package rest is the HTTP front end: the endpoints of the service interface on
// fasthttp, their documents (openapi.yaml is the contract), and nothing else. Who is
// calling, what they reach and what may run is the gate's business.
//
// # The way of a request
//
//	accept    accept.go     places for connections, one owned goroutine each; who makes room
//	                        for others is told by phase.go and proxy.Connections
//	head      head.go       the raw header block, read once and strictly
//	route     route.go      path, then method; ids are percent-decoded once
//	endpoint  users.go, servers.go, list.go, query.go: credentials → reach → scope and
//	          activity → media types → body → statement, in that order
//	answer    respond.go    the body and its headers
//	finish    handle.go     one log line, one count
//
// A client that asks with Expect before it sends a body has it told by expect.go. The
// place that a statement takes among its server's running ones is held until its answer
// is written (conn.go). What large answers take in memory until then is bounded for all
// servers together, by shares (room.go): a statement whose answer has no room is undone.
//
// # Invariants
//
//   - Every answer, to whatever bytes, is JSON of the documented shape with a request
//     id, except the page at /docs and connections that are cut off.
//   - A connection on which the end of a request is in doubt is closed after its answer.
//   - Credentials are read from the header block alone, never from trailers, and a
//     repeated one is refused, so that no proxy in front can have seen another.
//   - What belongs to fasthttp is copied before it leaves the handler.
//   - A request is made where its connection's last one was, of which nothing is left.
//     Decoders of bodies are used by all in turn: what they give is copied.
//   - Nothing here logs a request's path, query, credentials, body or arguments.
package rest
