// Package proxytest has helpers on package proxy for the tests of both front ends.
package proxytest

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// OccupyHandshakes makes one place for TLS handshakes and takes it, for somebody elsewhere, until end is called.
func OccupyHandshakes(t *testing.T, patience time.Duration) (places *proxy.Handshakes, end func()) {
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
