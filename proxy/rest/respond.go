package rest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// keptBody is the largest buffer, in bytes, of an answer or a request, that stays with its
// connection. An answer's larger one is lent by bodies, a request's is left to the collector.
// A buffer grows ahead of what is in it: a large answer is one whose buffer may be larger.
const (
	keptBody  = 64 << 10
	largeBody = keptBody / 2
)

// codeGone is the code, in logs and metrics, of requests whose client went away.
const codeGone = "client_closed"

// buffer gives an empty buffer for an answer's body; setBody takes it back.
func (r *request) buffer() []byte {
	if r.conn.body != nil {
		return (*r.conn.body)[:0]
	}
	return r.http.Response.SwapBody(nil)[:0]
}

// resultBuffer is buffer for an account's result. After a large one it is a large one, where there is
// room: where there was one, there are often more.
func (r *request) resultBuffer(a proxy.Account) []byte {
	c := r.conn
	c.account = a
	if c.large && c.body == nil {
		body := c.opened.bodies.take()
		if c.Have(cap(*body)) == nil {
			c.body = body
		} else {
			c.opened.bodies.giveBack(body)
		}
	}
	return r.buffer()
}

// send answers 200 with a JSON body. The body is the connection's from here on.
func (r *request) send(body []byte) error {
	r.setBody(200, body)
	return nil
}

// setBody answers in JSON.
func (r *request) setBody(status int, body []byte) {
	r.http.Response.SetStatusCode(status)
	r.commonHeaders("no-store")
	r.http.Response.Header.SetContentType(jsonType)
	r.conn.large = len(body) > largeBody
	if r.conn.large || r.conn.body != nil || cap(body) > keptBody {
		r.conn.lend(body)
		r.http.Response.SetBodyRaw(body)
		return
	}
	r.http.Response.SwapBody(body)
}

// commonHeaders are on every answer.
func (r *request) commonHeaders(cacheControl string) {
	r.set("X-Request-ID", r.id)
	r.set("X-Content-Type-Options", "nosniff")
	r.set("Cache-Control", cacheControl)
}

// set puts a header, its name spelled as given.
func (r *request) set(name, value string) {
	var room [192]byte // most headers fit in
	header := append(append(room[:0], name...), value...)
	r.http.Response.Header.SetCanonical(header[:len(name)], header[len(name):])
}

// fail answers with an error; a body that was prepared before is dropped.
func (r *request) fail(err error) {
	e := r.explain(err)
	meaning, known := proxy.Codes[e.Code]
	if !known {
		e = proxy.AsError(errors.New("code without a meaning: " + e.Error()))
		meaning = proxy.Codes[e.Code]
	}
	r.code, r.failure = string(e.Code), e
	if errors.Is(e, errClientGone) {
		r.code = codeGone
	}
	r.failureHeaders(e)
	r.setBody(meaning.Status, r.appendError(r.buffer(), e))
	if meaning.Status >= 500 && r.code != codeGone {
		r.logCause(e)
	}
}

// explain gives err in the interface's terms, the end of a context included.
func (r *request) explain(err error) *proxy.Error {
	e := proxy.AsError(err)
	switch {
	case e.Code != policy.Internal:
		return e
	case errors.Is(err, context.Canceled) && r.server.base.Err() != nil:
		return refuseShutdown(err)
	case errors.Is(err, context.Canceled) && phase(r.conn.phase.Load()) == evicted:
		return noPlace()
	case errors.Is(err, context.Canceled) && r.conn.left.Load():
		return &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the look-up was given up because the connection is broken; send the request again", Retryable: true, Cause: errClientGone}
	case errors.Is(err, context.DeadlineExceeded):
		return &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the data for the answer was not available in time; try again", Cause: err}
	}
	return e
}

// refuseShutdown is for what certainly did not take effect.
func refuseShutdown(cause error) *proxy.Error {
	return &proxy.Error{Code: proxy.ShuttingDown, Message: "the service is shutting down; send the request again", Retryable: true, Cause: cause}
}

// logCause writes what the answer must not hold, under the request id.
func (r *request) logCause(e *proxy.Error) {
	if !r.known && e.Code == proxy.Overloaded || !r.server.failures.may(r) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", r.id), slog.String("server", r.reached),
		slog.String("endpoint", r.endpoint), slog.String("code", string(e.Code)), slog.String("error", e.Error()),
	}
	attrs = append(attrs, r.statementAttrs(e)...)
	var panicked *proxy.Panicked
	if errors.As(e, &panicked) {
		attrs = append(attrs, slog.String("stack", panicked.Stack))
	}
	level := slog.LevelWarn
	if e.Code == policy.Internal {
		level = slog.LevelError
	}
	r.server.cfg.Logger.LogAttrs(context.Background(), level, "request failed", attrs...)
}
