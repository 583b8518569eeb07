package wire

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
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

// TestHandshakesHavePlaces: a TLS handshake that gets no place in time is ended and counted, and the
// next is served.
func TestHandshakesHavePlaces(t *testing.T) {
	places, end := occupied(t, 10*time.Millisecond)
	d := openDoor(t, func(c *Config) { withTLS(someCertificate(t))(c); c.Handshakes = places })
	handshake := func() error {
		return tls.Client(d.dial(t), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{alpn}}).Handshake() //nolint:gosec,noctx // a test
	}
	if handshake() == nil {
		t.Error("a handshake without a place")
	}
	d.logged(t, "too many TLS handshakes are under way")
	if n := d.counts.of("overloaded"); n != 1 {
		t.Errorf("%d are counted", n)
	}
	end()
	if err := handshake(); err != nil {
		t.Error(err)
	}
}

// TestEvictedHandshakesDoNotWait: a client that has to go for another's sake does not go on to wait
// for a place.
func TestEvictedHandshakesDoNotWait(t *testing.T) {
	places, end := occupied(t, time.Minute)
	defer end()
	d := openDoor(t, func(c *Config) {
		withTLS(someCertificate(t))(c)
		c.Handshakes, c.MaxUnauthenticatedPerIP = places, 1
	})
	for until := time.Now().Add(5 * time.Second); !strings.Contains(d.log.String(), "waiting for a place for the TLS handshake: context canceled"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(d.log.String())
		}
		d.dial(t).say([]byte("\x16\x03\x01\x02\x00\x01"))
	}
}
