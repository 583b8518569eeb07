package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// failing is a listener that accepts as it is told: an error, or a connection where that is nil.
type failing struct {
	net.Listener
	accepts []error
}

func (f *failing) Accept() (net.Conn, error) {
	err := f.accepts[0]
	f.accepts = f.accepts[1:]
	if err != nil {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
	}
	return nil, nil //nolint:nilnil // the test's take counts only
}

// Ensure a front end goes on where file descriptors are short, waits before it does, and ends
// with an error where its listener is of no use any more.
func TestAccept(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	ln, taken, begun := &failing{accepts: []error{nil, syscall.EMFILE, syscall.ENFILE, nil, syscall.EBADF}}, 0, time.Now()
	err := Accept(t.Context(), ln, "Postgres", log, func(net.Conn) { taken++ })
	if !errors.Is(err, syscall.EBADF) || !strings.HasPrefix(err.Error(), "accepting Postgres connections: ") {
		t.Errorf("ended with %v", err)
	}
	if taken != 2 || time.Since(begun) < 15*time.Millisecond {
		t.Errorf("took %d connections in %v", taken, time.Since(begun))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Accept(ctx, &failing{accepts: []error{syscall.EBADF}}, "HTTP", log, nil); err != nil {
		t.Errorf("at the end: %v", err)
	}
}
