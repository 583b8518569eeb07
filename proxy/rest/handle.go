package rest

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// handle is what fasthttp calls for every request whose head it could parse.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	r := s.newRequest(ctx)
	if r == nil {
		ctx.SetConnectionClose()
		return
	}
	defer r.finish()
	if err := s.answer(r); err != nil {
		r.fail(err)
	}
}

// answer makes the checks that all endpoints share, in the interface's order: path,
// method, header, body size. The endpoint makes the others.
func (s *Server) answer(r *request) error {
	if s.draining.Load() {
		return refuseShutdown(nil)
	}
	r.allowOrigin()
	if r.verb == "OPTIONS" && r.path == "*" {
		return r.options("GET, HEAD, POST, PUT, OPTIONS")
	}
	found, err := s.find(r)
	if err != nil {
		return err
	}
	found(r.http)
	return r.err
}

// checkHead refuses a faulty header block, another HTTP than 1.0 and 1.1, and a body
// that is declared to be too large.
func (r *request) checkHead() error {
	if r.fault != nil {
		return proxy.Refuse(proxy.InvalidRequest, r.fault.Error())
	}
	if version := string(r.http.Request.Header.Protocol()); version != "HTTP/1.1" && version != "HTTP/1.0" {
		return proxy.Refuse(proxy.InvalidRequest, "the request must be HTTP/1.1 or HTTP/1.0")
	}
	if r.http.Request.Header.ContentLength() > r.server.cfg.MaxBodyBytes {
		return r.tooLarge()
	}
	return nil
}

func (r *request) tooLarge() error {
	return proxy.Refuse(proxy.BodyTooLarge, "the body is larger than "+strconv.Itoa(r.server.cfg.MaxBodyBytes)+" bytes")
}

// finish ends every request: a panic becomes an answer, a request that has a faulty head
// or was not read to its end costs the connection, the request is logged and counted, and
// an idle connection does not keep it alive.
func (r *request) finish() {
	defer r.forget()
	defer r.giveBack()
	if cause := recover(); cause != nil {
		r.fail(proxy.Recovered(cause))
	}
	if r.toBeContinued {
		return
	}
	if r.asking || r.fault != nil || !r.settled() {
		r.http.SetConnectionClose()
		r.conn.linger.Store(true)
	}
	if r.server.draining.Load() {
		r.http.SetConnectionClose()
	}
	r.conn.move(handling, answering)
	took := time.Since(r.start)
	r.count(took)
	r.log(took)
	r.pause(took)
}

// log writes the request's line. It makes the record itself, as a Logger would look up
// the line of code for each.
func (r *request) log(took time.Duration) {
	ctx, handler := context.Background(), r.server.cfg.Logger.Handler()
	if !handler.Enabled(ctx, slog.LevelInfo) || !r.server.requests.may(r) {
		return
	}
	record := slog.NewRecord(r.start.Add(took), slog.LevelInfo, "request", 0)
	record.AddAttrs(
		slog.String("request_id", r.id), slog.String("server", r.reached), slog.String("endpoint", r.endpoint),
		slog.String("code", r.code), slog.Int("status", r.http.Response.StatusCode()), slog.Int64("duration_us", took.Microseconds()))
	if r.failure != nil {
		record.AddAttrs(r.statementAttrs(r.failure)...)
	}
	_ = handler.Handle(ctx, record) // there is nobody to tell
}

// statementAttrs are what a line says of a statement that was refused or has failed; none where the request has no statement.
func (r *request) statementAttrs(e *proxy.Error) (attrs []slog.Attr) {
	if r.failed == nil || !r.known {
		return nil
	}
	if token := r.failed.Caller.TokenID; token != "" {
		attrs = append(attrs, slog.String("token", token), slog.String("project", r.logProject))
	}
	policyName := ""
	if r.failed.Server.ID != "" { // else it is not known which policy the server has
		policyName = r.server.cfg.Gate.PolicyName(*r.failed)
	}
	return append(attrs, e.LineAttrs(policyName, r.statement.text, e.Position)...)
}

// count tells the recorder how the request ended.
func (r *request) count(took time.Duration) {
	recorder := r.server.cfg.Recorder
	recorder.Request(r.endpoint, r.code, took.Seconds())
	if r.kind != "" {
		recorder.Statement(r.kind, r.code)
		recorder.Overridden(r.overridden)
	}
	if r.rejected() {
		recorder.Rejected(r.code, frontend)
	}
	if r.code == string(policy.ForeignServerID) {
		recorder.Overridden(1) // refused, not replaced; told for each statement
	}
}

// rejected tells whether the request was turned away before its statement ran. What has
// no connection or can't be sent as an argument was handed over, but did not run.
func (r *request) rejected() bool {
	switch proxy.Code(r.code) {
	case codeOK, codeGone:
		return false
	case policy.InvalidArgument, proxy.Overloaded:
		return true
	}
	return !r.ran
}
