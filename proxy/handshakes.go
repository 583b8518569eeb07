package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"
)

// Handshakes are the places for TLS handshakes that are computed at a time. To begin one costs a
// client nothing, it may replay what it recorded, and the service a signature: without a bound they
// would stand before everybody's requests for the processors. Whoever comes while all places are in
// use waits, and of those that wait a site has the next that has the fewest, and in it such a network.
// One alone may have all: it may be a balancer's, behind whose address everybody is.
type Handshakes struct {
	turns    *Turns
	patience time.Duration
}

// ErrNoHandshake is of a handshake that got no place in time.
var ErrNoHandshake = errors.New("too many TLS handshakes are under way")

// handshakePatience is long for the clients of one network that may wait: 256 take a third of a second.
const handshakePatience = 5 * time.Second

// NewHandshakes makes places. Where there are to be none it makes one for each processor but one, so
// that one is left for those that are past their handshake. patience is how long a handshake waits
// each time for a place; 0: for five seconds.
func NewHandshakes(places int, patience time.Duration) *Handshakes {
	if places <= 0 {
		places = max(runtime.GOMAXPROCS(0)-1, 1)
	}
	if patience <= 0 {
		patience = handshakePatience
	}
	turns := NewTurns(places, 100)
	turns.server = turns.project
	return &Handshakes{turns: turns, patience: patience}
}

// Handshake is a connection that TLS begins on. Until End it holds a place between what it has read
// and what it writes or reads next: that is where a handshake computes, and so none is held while its
// client is silent, wherever in the handshake that is.
type Handshake struct {
	net.Conn
	take  func() error
	give  func()
	held  bool
	ended bool
}

// Begin prepares a handshake of a client; from is its NetworkOf. Its Read fails with ErrNoHandshake where
// no place comes in time, and as the context once that ends.
func (h *Handshakes) Begin(ctx context.Context, conn net.Conn, from netip.Prefix) *Handshake {
	network := Account{Project: siteOf(from).String(), Server: from.String()}
	return &Handshake{
		Conn: conn,
		take: func() error { return h.turns.Take(ctx, network, h.patience) },
		give: func() { h.turns.Give(network) },
	}
}

// NetConn gives the connection beneath.
func (h *Handshake) NetConn() net.Conn { return h.Conn }

// End is the end of the handshake, however it went. The connection can be used on.
func (h *Handshake) End() {
	h.rest()
	h.ended = true
}

// Read reads, and takes a place for what is made of it.
func (h *Handshake) Read(p []byte) (int, error) {
	h.rest()
	n, err := h.Conn.Read(p)
	if err != nil || h.ended {
		return n, err
	}
	if err := h.take(); errors.Is(err, ErrNoTurn) {
		return 0, ErrNoHandshake
	} else if err != nil {
		return 0, fmt.Errorf("waiting for a place for the TLS handshake: %w", err)
	}
	h.held = true
	return n, nil
}

// Write writes what was computed.
func (h *Handshake) Write(p []byte) (int, error) {
	h.rest()
	return h.Conn.Write(p)
}

func (h *Handshake) rest() {
	if h.held {
		h.held = false
		h.give()
	}
}
