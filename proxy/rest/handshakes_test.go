package rest_test

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// occupied makes one place for handshakes and takes it, for somebody elsewhere.
func occupied(t *testing.T, patience time.Duration) (places *proxy.Handshakes, end func()) {
	t.Helper()
	places = proxy.NewHandshakes(1, patience)
	client, conn := net.Pipe()
	t.Cleanup(func() { _ = client.Close(); _ = conn.Close() })
	handshake := places.Begin(t.Context(), conn, netip.MustParsePrefix("192.0.2.1/32"))
	go func() { _, _ = client.Write([]byte{0}) }()
	if _, err := handshake.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return places, handshake.End
}

// Ensure a TLS handshake that gets no place in time is ended and counted, and the next is served.
func TestHandshakesHavePlaces(t *testing.T) {
	places, end := occupied(t, 10*time.Millisecond)
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.TLS, c.Handshakes = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}, places //nolint:gosec // a test
	})
	handshake := func() error {
		return tls.Client(w.dial().Conn, &tls.Config{InsecureSkipVerify: true}).Handshake() //nolint:gosec,noctx // a test
	}
	if handshake() == nil {
		t.Error("a handshake without a place")
	}
	waitUntil(t, "it is counted", func() bool { return w.counts.happened("short of handshakes: all") == 1 })
	end()
	if err := handshake(); err != nil {
		t.Error(err)
	}
}

// Ensure a connection that has to go for another's sake does not go on to wait for a place.
func TestEvictedHandshakesDoNotWait(t *testing.T) {
	places, end := occupied(t, time.Minute)
	defer end()
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.TLS, c.Handshakes = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}, places //nolint:gosec // a test
		c.MaxUnauthenticatedPerIP = 1
	})
	waitUntil(t, "one ends its wait", func() bool {
		_, _ = w.dial().Write([]byte(clientHello))
		return strings.Contains(w.logs.String(), "context canceled")
	})
}
