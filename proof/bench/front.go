package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"
)

// Run answers until ctx ends. What the process allocated is told on the next port, as the
// number of bytes and of objects.
func (f *frontCommand) Run(ctx context.Context) error {
	var answers interface{ serve(net.Listener) error }
	var err error
	switch f.Kind {
	case "bare", "walled":
		answers, err = newBare(ctx, f)
	case "idiomatic":
		answers, err = newIdiomatic(ctx, f)
	}
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.Addr)
	if err != nil {
		return err
	}
	told, err := tell(ctx, l.Addr().(*net.TCPAddr).Port+1)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- answers.serve(l) }()
	<-ctx.Done()
	_ = told.Close()
	_ = l.Close()
	if err := <-done; err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func tell(ctx context.Context, port int) (*http.Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", local(port))
	if err != nil {
		return nil, err
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_, _ = fmt.Fprintf(w, "go_memstats_alloc_bytes_total %d\ngo_memstats_mallocs_total %d\n", m.TotalAlloc, m.Mallocs)
	})}
	go func() { _ = srv.Serve(l) }()
	return srv, nil
}
