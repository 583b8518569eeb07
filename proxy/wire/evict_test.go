package wire

import (
	"context"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"sync"
	"testing"
)

// TestHalfLogins: a client logs in while one address has more than all places and never does,
// with and without a bound for that address; sessions live on.
func TestHalfLogins(t *testing.T) {
	for name, way := range map[string]struct {
		tls  bool
		sent []byte
	}{
		"nothing":              {false, nil},
		"half a message":       {false, startupOf(version3, "user", shop)[:9]},
		"no password":          {false, startupOf(version3, "user", shop)},
		"a wrong password":     {false, append(startupOf(version3, "user", shop), messageOf('p', "nonsense")...)},
		"a TLS request":        {true, packetOf(sslRequest, "")},
		"half a TLS handshake": {true, []byte("\x16\x03\x01\x02\x00\x01")},
	} {
		for _, perIP := range []int{-1, 2} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := openDoor(t, func(c *Config) {
					c.MaxClients, c.MaxUnauthenticatedPerIP = 4, perIP
					if way.tls {
						c.TLSMode, c.TLS = TLSAllow, &tls.Config{Certificates: []tls.Certificate{*certificateOf(t, ecKey(t, elliptic.P256()), x509.ECDSAWithSHA256)}}
					}
				})
				session := d.dial(t).ready(shop, shopKey)
				for range 12 {
					d.dial(t).say(way.sent)
				}
				_ = d.dial(t).ready(cafe, cafeKey)
				session.say(messageOf('X', ""))
				if _, err := io.ReadAll(session); err != nil {
					t.Errorf("the session ended with %v", err)
				}
			})
		}
	}
}

// TestEvictedLoginEndsItsLookUp: who was evicted waits for nothing any more, and can't enter.
func TestEvictedLoginEndsItsLookUp(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxClients = 1 })
	begun, held := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	d.gate.hold = func(ctx context.Context) {
		once.Do(func() {
			close(begun)
			<-ctx.Done()
			held <- context.Cause(ctx)
		})
	}
	first := d.dial(t)
	first.say(startupOf(version3, "user", shop))
	<-begun
	_ = d.dial(t).ready(cafe, cafeKey)
	if err := <-held; !errors.Is(err, errCancelled) {
		t.Errorf("its look-up ended by %v", err)
	}
}
