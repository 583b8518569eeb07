package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/proxy"
)

// Server is the HTTP front end. It serves one listener, once.
type Server struct {
	cfg      Config
	router   *router.Router
	document document
	http     *fasthttp.Server
	tls      *tls.Config // nil: plain HTTP

	requests lines
	failures lines // of requests, so that the others don't hide them

	conns    *conns
	watch    *watch
	readers  sync.Pool      // of *reader, for bodies
	serving  sync.WaitGroup // the goroutines of connections
	refusals chan struct{}  // places for connections that are being turned away
	draining atomic.Bool

	base    context.Context // of every request; it ends when the drain time is over
	giveUp  context.CancelCauseFunc
	pauses  context.Context // of free requests; it ends when the drain begins
	resume  context.CancelFunc
	started atomic.Bool
}

// New checks the configuration and prepares the documents. Nothing runs yet.
func New(config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configuring the HTTP front end: %w", err)
	}
	document, err := newDocument(config.BasePath)
	if err != nil {
		return nil, fmt.Errorf("preparing the OpenAPI document: %w", err)
	}
	s := &Server{
		cfg: config, document: document, tls: withProtocols(config.TLS),
		conns: newConns(proxy.ConnectionLimits{
			Total: config.MaxConns, PerNetwork: config.MaxConnsPerIP, UnauthenticatedPerNetwork: config.MaxUnauthenticatedPerIP,
			ProjectShare: config.ProjectShare,
		}, config.Recorder, roomOfAnswers(config), roomOfBodies(config)),
		refusals: make(chan struct{}, maxRefusals), readers: sync.Pool{New: func() any { return new(reader) }},
	}
	s.requests, s.failures = linesOf(config.Logger, "requests"), linesOf(config.Logger, "failures")
	s.watch = newWatch(s.conns)
	s.router = s.newRouter()
	s.http = s.newHTTP()
	s.base, s.giveUp = context.WithCancelCause(context.Background())
	s.pauses, s.resume = context.WithCancel(s.base)
	return s, nil
}

// newHTTP configures fasthttp. Connections are accepted, limited and drained here, so
// its own limits are set where they can not be met.
func (s *Server) newHTTP() *fasthttp.Server {
	return &fasthttp.Server{
		Handler:        s.handle,
		ErrorHandler:   s.malformed,
		ExpectHandler:  s.expect,
		HeaderReceived: s.headReceived,
		ConnState:      noteIdle,
		Logger:         quietLogger{s.cfg.Logger},

		ReadTimeout:        s.cfg.HeadTimeout, // a body gets its own: see headReceived
		WriteTimeout:       s.cfg.WriteTimeout,
		IdleTimeout:        s.cfg.IdleTimeout,
		ReadBufferSize:     s.cfg.MaxHeaderBytes,
		MaxRequestBodySize: s.cfg.MaxBodyBytes,
		Concurrency:        math.MaxInt32, // places bound it; an evicted connection's request may still wait for its end

		StreamRequestBody:            true, // so that credentials are checked before a body is held
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true,
	}
}

// withProtocols is the TLS configuration for HTTP/1.1 alone.
func withProtocols(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	return config
}

// noteIdle notes that an answer was written whole, but for some bytes that fasthttp may
// keep back to send them with the answer to the next request.
func noteIdle(c net.Conn, state fasthttp.ConnState) {
	if state == fasthttp.StateIdle {
		socket := streamOf(c).socket
		socket.letGo()
		socket.move(answering, waiting)
	}
}

// Serve answers on ln until ctx is done, then drains: ln is closed, new requests are
// answered 503, running ones may finish within the drain time and are cancelled after
// it. It returns when everything that it started has ended: nil after a drain, an
// error when ln failed. It closes ln, and can be called once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.started.Swap(true) {
		return errors.New("serving HTTP: a Server serves once")
	}
	watching := make(chan struct{})
	watchCtx, stopWatch := context.WithCancel(context.Background())
	go func() { defer close(watching); s.watch.run(watchCtx) }()

	stopped := context.AfterFunc(ctx, func() { s.stopTaking(ln) })
	err := proxy.Accept(ctx, ln, "HTTP", s.cfg.Logger, s.take)
	stopped()
	s.stopTaking(ln)
	s.drain()
	stopWatch()
	<-watching
	return err
}

// stopTaking ends the taking of connections and new requests, and all pauses. It may be called twice.
func (s *Server) stopTaking(ln net.Listener) {
	s.draining.Store(true)
	s.resume()
	_ = ln.Close()
}

// drainGrace is how long idle connections stay open for requests that are under way;
// those are answered that the service shuts down.
const drainGrace = 100 * time.Millisecond

// cancelGrace is how long requests have to be answered once they are cancelled: a database
// may take two seconds to confirm that, and one more to let go of a connection.
const cancelGrace = 4 * time.Second

// strangerGrace is how long somebody without credentials has to take an answer: who took
// none would hold up each end of the service.
const strangerGrace = time.Second

// drain ends all connections.
func (s *Server) drain() {
	begun := time.Now()
	deadline := begun.Add(s.cfg.DrainTimeout)
	needed := func(c *conn) bool { return c.busy() && !(c.toStranger() && time.Since(begun) > strangerGrace) }
	time.Sleep(min(drainGrace, s.cfg.DrainTimeout))
	for s.conns.cut(needed) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	s.giveUp(refuseShutdown(nil))
	// What was cancelled is answered, if its client takes the answer; nothing was begun for what has not come whole.
	answered := func(c *conn) bool { c.endBody(); return needed(c) }
	for end := time.Now().Add(cancelGrace); s.conns.cut(answered) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	s.conns.cut(func(*conn) bool { return false })
	s.serving.Wait()
}
