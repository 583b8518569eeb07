package rest

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"strconv"

	"github.com/valyala/fasthttp"
)

// malformed answers what fasthttp could not read as a request. What it says of the
// cause is not shown: it quotes header lines. The connection is closed after it.
func (s *Server) malformed(ctx *fasthttp.RequestCtx, err error) {
	stream := streamOf(ctx.Conn())
	if !stream.heard.Load() || isBroken(err) {
		// Opened ahead and never used, or broken: an answer would be taken for that of
		// a request which is still to come, or reach nobody.
		stream.muted.Store(true)
		return
	}
	r := s.newRequest(ctx)
	if r == nil {
		stream.muted.Store(true)
		return
	}
	r.conn.linger.Store(true)
	r.bodyRead = true // nothing is read after it
	defer r.finish()
	r.fail(s.whatIsWrong(err, r.fault))
}

// isBroken tells errors of the connection from errors of what came over it.
func isBroken(err error) bool {
	var failure *net.OpError
	return errors.As(err, &failure) && !failure.Timeout() || errors.Is(err, net.ErrClosed)
}

func (s *Server) whatIsWrong(err, fault error) error {
	var timeout net.Error
	var tooSmall *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &tooSmall):
		return invalid("the request line and headers are larger than " + strconv.Itoa(s.cfg.MaxHeaderBytes) + " bytes")
	case errors.Is(err, errLong):
		return longHead()
	case errors.As(err, &timeout) && timeout.Timeout():
		return invalid("the request did not arrive whole in time")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return invalid("the request ended early")
	case errors.Is(err, fasthttp.ErrUnsupportedTransferEncoding):
		return invalid("the only Transfer-Encoding is chunked, once, in HTTP/1.1")
	case fault != nil:
		return invalid(fault.Error())
	}
	return invalid("the request is not well-formed HTTP: check its request line, its Host header and its Content-Length")
}

// quietLogger is for fasthttp's messages. Their arguments can quote header lines, so
// only the format is logged.
type quietLogger struct{ log *slog.Logger }

// Printf implements fasthttp.Logger.
func (q quietLogger) Printf(format string, _ ...any) {
	q.log.Debug("http server", "message", format)
}
