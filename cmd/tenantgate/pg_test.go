package main

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy/wire"
)

// TestPGTLS has every choice of an address, --pg-tls and a certificate end in a mode, or in
// words that fit it.
func TestPGTLS(t *testing.T) {
	certificate := &tls.Config{}
	for _, c := range []struct {
		addr, mode string
		config     *tls.Config
		want       wire.TLSMode
		err        string
	}{
		{"127.0.0.1:6432", "auto", nil, wire.TLSDisable, ""},
		{"localhost:6432", "auto", certificate, wire.TLSAllow, ""},
		{"0.0.0.0:6432", "auto", certificate, wire.TLSRequire, ""},
		{"0.0.0.0:6432", "disable", nil, wire.TLSDisable, ""},
		{"[::1]:6432", "require", certificate, wire.TLSRequire, ""},
		{":6432", "auto", nil, wire.TLSRequire, "over the network"},
		{"db.example.com:6432", "auto", nil, wire.TLSRequire, "over the network"},
		{"127.0.0.1:6432", "require", nil, wire.TLSRequire, "--pg-tls=require needs a certificate"},
		{"0.0.0.0:6432", "allow", nil, wire.TLSAllow, "--pg-tls=allow needs a certificate"},
		{"127.0.0.1", "auto", nil, wire.TLSRequire, "HOST:PORT"},
		{"off", "require", nil, wire.TLSRequire, ""},
	} {
		s := &settings{PGAddr: c.addr, PGTLS: c.mode}
		config, err := s.pgTLSConfig(c.config)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s %s: %v", c.addr, c.mode, err)
		}
		if got := s.pgTLSMode(config); got != c.want {
			t.Errorf("%s %s: mode %d", c.addr, c.mode, got)
		}
	}
}
