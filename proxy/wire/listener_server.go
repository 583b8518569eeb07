package wire

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Server is the front end for Postgres' protocol. It serves one listener, once.
type Server struct {
	cfg        Config
	tls        *tls.Config // nil: there is none
	madeUp     proxy.VerifierKey
	mac        func(key, text []byte) [32]byte // HMAC-SHA-256
	clients    *clients
	buffers    buffers
	savepoints *proxy.Tally // by number
	ledger     *ledger
	throttle   *proxy.Throttle // of messages that cost nothing

	failures *attempts // to authenticate
	strays   *attempts // cancel requests with another secret than the client's

	strangers  *proxy.LinesLog // the lines of clients that did not log in
	statements *proxy.LinesLog // those on statements, of the others
	causes     *proxy.LinesLog // those of them that tell a cause

	serving  sync.WaitGroup // the goroutines of clients
	refusals chan struct{}  // places for clients that are being turned away
	drain    atomic.Uint32  // a stage of the end

	base    context.Context // of every session; it ends when the drain time is over
	giveUp  context.CancelCauseFunc
	started atomic.Bool
}

// The stages of a server's end.
const (
	open      uint32 = iota
	draining         // clients that have nothing open are ended
	overdrawn        // all are
)

// New checks the configuration. Nothing runs yet.
func New(config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configuring the front end for Postgres' protocol: %w", err)
	}
	s := &Server{
		cfg: config, mac: hmacSHA256,
		clients: newClients(proxy.ConnectionLimits{
			Total: config.MaxClients, PerNetwork: config.MaxClientsPerIP, UnauthenticatedPerNetwork: config.MaxUnauthenticatedPerIP,
			KeepAuthenticated: true, ProjectShare: config.ProjectShare,
		}, config.Recorder),
		failures: newAttempts(20, time.Second), strays: newAttempts(100, time.Second/10),
		refusals: make(chan struct{}, maxRefusals),
		throttle: proxy.NewThrottle(runtime.GOMAXPROCS(0), config.ProjectShare),
	}
	s.strangers = proxy.NewStrangersLog(config.Logger, "clients")
	s.statements, s.causes = proxy.NewRefusalsLog(config.Logger, "statements"), proxy.NewRefusalsLog(config.Logger, "causes")
	s.ledger = newLedger(config)
	s.savepoints = proxy.NewTally(savepointsOfAll, config.ProjectShare)
	s.buffers.long = proxy.NewTally(config.MaxLongBytes, config.ProjectShare)
	if config.TLSMode != TLSDisable {
		s.tls = forClients(config.TLS)
	}
	_, _ = rand.Read(s.madeUp.Stored[:]) // it never fails
	_, _ = rand.Read(s.madeUp.Server[:])
	s.base, s.giveUp = context.WithCancelCause(context.Background())
	return s, nil
}

// Clients counts the clients that are connected, by what they do: "starting", "idle",
// "active", or "transaction" when it has one open and is waited for.
func (s *Server) Clients() map[string]int { return s.clients.count() }

// Serve serves the clients of ln until ctx is done, then drains: ln is closed, clients that
// have nothing open are told so and closed, the others when their statement or transaction
// has ended, or the drain time has. It returns when everything that it started has ended:
// nil after a drain, an error when ln failed. It closes ln, and can be called once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.started.Swap(true) {
		return errors.New("serving Postgres clients: a Server serves once")
	}
	watching, stopWatch := context.WithCancel(context.Background())
	defer s.serving.Wait()
	defer stopWatch()
	s.serving.Go(func() { s.watch(watching) })

	stopped := context.AfterFunc(ctx, func() { s.drain.Store(draining); _ = ln.Close() })
	err := proxy.Accept(ctx, ln, "Postgres", s.cfg.Logger, s.accept)
	stopped()
	_ = ln.Close() // closed already after a drain
	s.endAll()
	return err
}

// cancelGrace is how long clients have to be told once their statements are cancelled: a
// database may take two seconds to confirm that, and one more to let go of a connection.
const cancelGrace = 4 * time.Second

// endAll ends all clients.
func (s *Server) endAll() {
	s.drain.Store(draining)
	s.wait(s.cfg.DrainTimeout)
	s.drain.Store(overdrawn)
	s.giveUp(errShutdown)
	s.wait(cancelGrace)
	s.clients.cut()
}

// wait waits for the clients to end, and wakes those that need not go on.
func (s *Server) wait(most time.Duration) {
	for end := time.Now().Add(most); s.clients.wake(s.ends) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// ends tells whether a client that is waited for in this phase is to be ended.
func (s *Server) ends(in phase) bool {
	switch s.drain.Load() {
	case open:
		return false
	case draining:
		return in == idle || in == starting
	default:
		return in != ending
	}
}
