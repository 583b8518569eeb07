package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// maxRefusals is how many connections are turned away with an answer at a time; those
// beyond are just closed.
const maxRefusals = 32

// take starts the goroutine of a connection.
func (s *Server) take(transport net.Conn) {
	c, admission := s.conns.add(transport)
	if admission == proxy.Admitted {
		s.serving.Go(func() { s.serve(c) })
		return
	}
	select {
	case s.refusals <- struct{}{}:
		s.serving.Go(func() {
			defer func() { <-s.refusals }()
			s.turnAway(c, admission)
		})
	default:
		_ = transport.Close()
	}
}

// serve answers the requests of a connection until it ends. The recover is the last
// resort: a panic in a handler was answered before, one in fasthttp costs the connection.
func (s *Server) serve(c *conn) {
	defer func() {
		if cause := recover(); cause != nil {
			s.cfg.Logger.Error("serving a connection panicked", "error", proxy.Recovered(cause))
		}
		_ = c.Close() // closed already unless it panicked or TLS failed
		if c.present != nil {
			c.present.end(nil)
		}
	}()
	stream, err := s.secure(c)
	if errors.Is(err, proxy.ErrNoHandshake) {
		s.cfg.Recorder.Short("handshakes", "all")
	}
	if err != nil {
		s.cfg.Logger.Debug("TLS handshake failed", "error", err)
		return
	}
	_ = s.http.ServeConn(stream) // its errors are the client's, and were answered where they could be
}

// secure puts TLS on the connection, if it is on.
func (s *Server) secure(c *conn) (*stream, error) {
	if s.tls == nil {
		return &stream{Conn: c, socket: c}, nil
	}
	ctx, cancel := context.WithTimeout(s.base, s.cfg.HeadTimeout)
	defer cancel()
	c.endWait.Store(&cancel)
	defer c.endWait.Store(nil)
	handshake := s.cfg.Handshakes.Begin(ctx, c, proxy.NetworkOf(c))
	defer handshake.End()
	secured := tls.Server(handshake, s.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return &stream{Conn: secured, socket: c}, nil
}

// turnAway tells a connection beyond the limits why it is closed. Under TLS nothing is
// said: a handshake is what the limits are to save.
func (s *Server) turnAway(c *conn, why proxy.Admission) {
	defer func() { _ = c.Close() }()
	if s.tls != nil || c.SetDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	e := proxy.Refuse(proxy.Overloaded, "too many connections are open; try again")
	if why == proxy.FullForNetwork {
		e = proxy.Refuse(proxy.RateLimited, "too many connections are open from this address; use fewer, and keep them alive")
	}
	c.linger.Store(true) // its request may be under way
	_, _ = c.Write(connectionAnswer(e))
	s.cfg.Recorder.Request(otherEndpoint, string(e.Code), 0)
	s.cfg.Recorder.Rejected(string(e.Code), frontend)
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelDebug, "connection turned away", slog.String("code", string(e.Code)))
}

// connectionAnswer is an answer to a connection that is not served.
func connectionAnswer(e *proxy.Error) []byte {
	r := &request{id: requestID(nil)}
	body := r.appendError(nil, e)
	status := proxy.Codes[e.Code].Status
	head := "HTTP/1.1 " + strconv.Itoa(status) + " \r\nDate: " + time.Now().UTC().Format(httpDate) +
		"\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-ID: " + r.id +
		"\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...)
}

// httpDate is the layout of a Date header, RFC 9110 section 5.6.7.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
