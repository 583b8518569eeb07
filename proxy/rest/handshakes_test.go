package rest_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/proxytest"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Ensure a TLS handshake that gets no place in time is ended and counted, and the next is served.
func TestHandshakesHavePlaces(t *testing.T) {
	places, end := proxytest.OccupyHandshakes(t, 10*time.Millisecond)
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
	places, end := proxytest.OccupyHandshakes(t, time.Minute)
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
