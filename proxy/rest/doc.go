// Package rest is the HTTP front end: the endpoints of the service interface on
// fasthttp, and their documents (openapi.yaml is the contract). Authentication,
// authorisation and decisions are the gate's.
//
// # Stages of a request
//
//	accept    accept.go     places for connections, one owned goroutine each; phase.go and
//	                        proxy.Connections choose which one is closed to make room
//	head      head.go       the raw header block, read once and strictly
//	route     route.go      path, then method; ids are percent-decoded once
//	endpoint  users.go, servers.go, list.go, query.go: credentials → reach → scope and
//	          activity → media types → body → statement, in that order
//	answer    respond.go    the body and its headers
//	finish    handle.go     one log line, one count
//
// expect.go answers a client that sends Expect before a body. A
// statement keeps its place among its server's running ones until its answer
// is written (conn.go). The memory of large answers until then is limited for all
// servers together, by shares (room.go): a statement whose answer finds no space is rolled back.
//
// # Invariants
//
//   - Every answer, to whatever bytes, is JSON of the documented shape with a request
//     id, except the page at /docs and connections that are cut off.
//   - If the end of a request is in doubt, its connection is closed after the answer.
//   - Credentials are read from the header block only, never from trailers, and a
//     repeated one is refused, so that no proxy in front can have read another one.
//   - What belongs to fasthttp is copied before it leaves the handler.
//   - A connection reuses the memory of its previous request, of which nothing is left.
//     Decoders of bodies are shared: what they return is copied.
//   - Nothing here logs a request's path, query, credentials, body or arguments.
package rest
