package wire

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// maxRefusals is how many clients are turned away with an answer at a time; those beyond
// are just closed.
const maxRefusals = 32

// accept starts the goroutine of a client.
func (s *Server) accept(conn net.Conn) {
	c := s.newClient(conn)
	full := s.clients.add(c)
	if full == nil {
		s.serving.Go(func() { s.greet(c) })
		return
	}
	select {
	case s.refusals <- struct{}{}:
		s.serving.Go(func() {
			defer func() { <-s.refusals }()
			s.turnAway(c, full)
		})
	default:
		_ = conn.Close()
	}
}

// newClient makes a client of a connection. All its start-up has one deadline.
func (s *Server) newClient(conn net.Conn) *client {
	keepAlive(conn)
	c := &client{server: s, network: proxy.NetworkOf(conn), since: time.Now()}
	c.socket = transport{Conn: conn, left: maxUnknown}
	c.conn = &c.socket
	c.in.From, c.in.Buf, c.out.To = c, c.small[:], c
	c.reading.until = c.since.Add(s.cfg.LoginTimeout)
	return c
}

// greet brings a client through its start-up, on a goroutine that ends with it: the stack
// that a handshake needs is not kept for the session.
func (s *Server) greet(c *client) {
	if err := c.socket.SetDeadline(c.reading.until); err != nil {
		s.end(c, err)
		return
	}
	err := guarded(func() error { return c.startUp(s.base) })
	s.cfg.Recorder.Connection(outcome(err))
	if err != nil {
		s.end(c, err)
		return
	}
	s.serving.Go(func() { s.end(c, guarded(func() error { return newSession(c).run(s.base) })) })
}

// guarded makes an error of a panic: it costs the client that it happened to.
func guarded(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = proxy.Recovered(cause)
		}
	}()
	return do()
}

// end tells the client why, where there is something to tell, and forgets it.
func (s *Server) end(c *client, err error) {
	var told *fatal
	if errors.As(err, &told) {
		c.sendFatal(told)
	}
	_ = c.conn.Close()
	s.clients.remove(c)
	c.rest() // after an error, what is in the buffers does not matter
	s.logEnd(c, err)
}

// logEnd writes the one line that each client gets: where it was perhaps none, or one that came
// to cancel, for who looks for it.
func (s *Server) logEnd(c *client, err error) {
	level, word := slog.LevelInfo, ended(c, err)
	var panicked *proxy.Panicked
	switch {
	case errors.As(err, &panicked):
		level = slog.LevelError
		s.cfg.Logger.Error("serving a Postgres client panicked", "error", panicked, "stack", panicked.Stack)
	case c.serverID == "" && (word == "protocol" || word == "cancel") && !errors.Is(err, errWantsTLS):
		level = slog.LevelDebug
	}
	if c.key == (proxy.KeyID{}) && level == slog.LevelInfo && !s.strangers.May("") {
		return
	}
	attributes := []slog.Attr{
		slog.String("server", printable(c.serverID)), slog.String("remote", c.socket.RemoteAddr().String()),
		slog.Int64("duration_us", time.Since(c.since).Microseconds()), slog.String("outcome", word),
	}
	if err != nil {
		attributes = append(attributes, slog.String("error", err.Error()))
	}
	s.cfg.Logger.LogAttrs(context.Background(), level, "Postgres client ended", attributes...)
}

// ended is how a client ended, in a word: by its own, without a word, or as it was told.
func ended(c *client, err error) string {
	word := outcome(err)
	switch {
	case err == nil:
		return "quit"
	case word == "protocol" && c.key != (proxy.KeyID{}) && !errors.As(err, new(*fatal)):
		return "gone"
	}
	return word
}

// outcome is how a start-up ended, in a word.
func outcome(err error) string {
	var told *fatal
	var panicked *proxy.Panicked
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, errCancel):
		return "cancel"
	case errors.Is(err, proxy.ErrNoHandshake): // it is told nothing: there is no TLS to tell it under
		return string(proxy.Overloaded)
	case errors.As(err, &panicked):
		return string(errInternal.code)
	case errors.As(err, &told) && told.code != "":
		return string(told.code)
	}
	return "protocol"
}

// turnAway tells a client beyond the limits so, once it has said what it wants, encrypted where
// it asks for that: psql does not show an error that it gets instead. Who has come to cancel a
// statement is served.
func (s *Server) turnAway(c *client, why *fatal) {
	defer func() { _ = c.conn.Close() }()
	c.reading.until = time.Now().Add(lingerTime)
	if c.socket.SetDeadline(c.reading.until) != nil {
		return
	}
	err := guarded(func() error {
		opening := c.opening
		if why == errTooManyThere { // who is too many gets no handshake
			opening = c.packet
		}
		first, err := opening()
		switch {
		case err != nil:
			return err
		case first.code == cancelRequest:
			return c.cancel(first.body)
		}
		return why
	})
	s.cfg.Recorder.Connection(outcome(err))
	s.cfg.Logger.Debug("Postgres client turned away", "outcome", outcome(err))
	if errors.Is(err, why) {
		c.sendFatal(why)
	}
}
