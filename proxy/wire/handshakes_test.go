package wire

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/proxytest"
)

// TestHandshakesHavePlaces: a TLS handshake that gets no place in time is ended and counted, and the
// next is served.
func TestHandshakesHavePlaces(t *testing.T) {
	places, end := proxytest.OccupyHandshakes(t, 10*time.Millisecond)
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
	places, end := proxytest.OccupyHandshakes(t, time.Minute)
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
