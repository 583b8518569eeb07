package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of the operations listener. A probe or a scrape needs a fraction of each.
const (
	opsConns       = 100
	opsHeaderBytes = 16 << 10
	opsHeaderTime  = 5 * time.Second
	opsReadTime    = 10 * time.Second
	opsWriteTime   = 15 * time.Second
	opsIdleTime    = time.Minute
	opsStopTime    = 3 * time.Second
)

// OpsConfig is what the operations listener needs. Every field must be set.
type OpsConfig struct {
	// Listener is open already, so that a busy port is reported at once. Run closes it.
	Listener net.Listener
	// Metrics answers /metrics.
	Metrics http.Handler
	// Ready returns why requests can't be served, or nil. It must return when its context
	// ends, two seconds at the latest; its error is shown to whoever asks /readyz.
	Ready func(context.Context) error
	// Beside gives lines that /readyz has below "ready": what is amiss while requests are served.
	Beside func() []string
	// Log gets a line when the readiness changes and when a connection misbehaves.
	Log *slog.Logger
}

// Ops is the operations listener: /metrics, /healthz and /readyz for the operators of
// tenantgate. It must not be reachable from outside.
type Ops struct {
	config OpsConfig
	ready  *readiness
	open   atomic.Int64 // connections
	conns  sync.WaitGroup
}

// NewOps prepares the listener; Run serves it.
func NewOps(config OpsConfig) *Ops {
	return &Ops{config: config, ready: newReadiness(config.Ready, config.Log)}
}

// Drain makes /readyz answer 503 from now on, so that load balancers send no new
// requests. It can't be taken back.
func (o *Ops) Drain() { o.ready.drain() }

// Run serves until ctx ends or the listener fails, and returns when every connection
// has ended. After ctx it is nil. It can be called once.
func (o *Ops) Run(ctx context.Context) error {
	server := o.server(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(o.config.Listener) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		finish(ctx, server)
		err = <-served
	}
	_ = server.Close() // cuts off what is left; there is nobody to tell
	o.conns.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving the operations address: %w", err)
}

// finish lets running answers end, for a while after ctx has.
func finish(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opsStopTime)
	defer cancel()
	_ = server.Shutdown(ctx)
}

func (o *Ops) server(ctx context.Context) *http.Server {
	return &http.Server{
		Handler:           o.routes(ctx),
		ReadHeaderTimeout: opsHeaderTime,
		ReadTimeout:       opsReadTime,
		WriteTimeout:      opsWriteTime,
		IdleTimeout:       opsIdleTime,
		MaxHeaderBytes:    opsHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.config.Log.Handler(), slog.LevelWarn),
		ConnState:         o.track,
	}
}

// track counts connections and closes those above the bound. The server calls it for
// a new connection before it starts the connection's goroutine, so that the count
// can't be missed by the Wait in Run.
func (o *Ops) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		o.conns.Add(1)
		if o.open.Add(1) > opsConns {
			_ = conn.Close()
		}
	case http.StateClosed:
		o.open.Add(-1)
		o.conns.Done()
	}
}

func (o *Ops) routes(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.config.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "alive")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := o.ready.check(ctx); err != nil {
			answer(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
		answer(w, http.StatusOK, strings.Join(append([]string{"ready"}, o.config.Beside()...), "\n"))
	})
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a probe that left is not an error
}
