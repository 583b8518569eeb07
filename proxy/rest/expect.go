package rest

import (
	"bytes"
	"errors"

	"github.com/valyala/fasthttp"
)

// errSendBody ends the checks of a request whose client waits to be told whether to send
// its body: nothing speaks against it.
var errSendBody = errors.New("the body may be sent")

// expect is what fasthttp calls for a request with Expect: 100-continue, RFC 9110 section
// 10.1.1, instead of reading its body. All checks that come before the body are made, and
// a refusal is answered; otherwise the client is told to go on, and handle makes them
// again with the body.
func (s *Server) expect(ctx *fasthttp.RequestCtx) (status int) {
	c := streamOf(ctx.Conn()).socket
	r := s.newRequest(ctx)
	if r == nil {
		return fasthttp.StatusServiceUnavailable // nobody reads it
	}
	r.asking = true
	if s.maySend(r) {
		c.move(handling, waiting)
		return fasthttp.StatusContinue
	}
	return ctx.Response.StatusCode()
}

// headReceived gives a body its own time to arrive, and spells the expectation as fasthttp knows it, which compares bytes. In HTTP/1.0
// it is to be ignored. A request that declares too large a body is treated as if it asked
// whether to send it, since fasthttp would wait for the body's beginning otherwise.
func (s *Server) headReceived(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	given := h.Peek("Expect")
	switch {
	case h.ContentLength() > s.cfg.MaxBodyBytes:
		h.Set("Expect", "100-continue")
	case len(given) == 0:
	case !h.IsHTTP11():
		h.Del("Expect")
	case bytes.EqualFold(given, []byte("100-continue")):
		h.Set("Expect", "100-continue")
	}
	if h.ContentLength() == 0 {
		return fasthttp.RequestConfig{}
	}
	return fasthttp.RequestConfig{ReadTimeout: s.cfg.ReadTimeout}
}

// maySend tells whether the request reaches the reading of its body; if not, it is answered.
func (s *Server) maySend(r *request) bool {
	defer r.finish()
	err := s.answer(r)
	if errors.Is(err, errSendBody) {
		r.toBeContinued = true
		return true
	}
	if err != nil {
		r.fail(err)
	}
	return false
}
