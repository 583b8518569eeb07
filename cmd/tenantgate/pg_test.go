package main

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
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

// TestPGPolicy chooses for Postgres clients, and tells which policies psql can't meet.
func TestPGPolicy(t *testing.T) {
	own := &policy.File{Name: "own", Scope: policy.ScopeSection{Mode: policy.Require}}
	once := &policy.File{Name: "once", Scope: policy.ScopeSection{Mode: policy.Once}}
	inject := &policy.File{Name: "inject", Scope: policy.ScopeSection{Mode: policy.Inject}}
	for _, c := range []struct {
		files       []*policy.File
		given, want string
		wants       bool
	}{
		{[]*policy.File{own, inject}, auto, "inject", false},
		{[]*policy.File{own, once}, auto, "own", true},
		{[]*policy.File{own, once}, "once", "once", true},
		{[]*policy.File{own, inject}, "own", "own", true},
	} {
		sv := &service{settings: &settings{PGPolicy: c.given}, files: c.files, pgListener: &net.TCPListener{}}
		if name := sv.frontends()[wire.Frontend]; name != c.want || sv.wantsScope(name) != c.wants {
			t.Errorf("%s: %s, %v", c.given, name, sv.wantsScope(name))
		}
	}
}

// TestPGURLAsksForTLS where nobody connects without it.
func TestPGURLAsksForTLS(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	plain := "postgres://acme:key@" + ln.Addr().String() + "/acme"
	for mode, want := range map[string]string{"require": plain + "?sslmode=require", "allow": plain, "disable": plain, "auto": plain} {
		sv := &service{settings: &settings{PGAddr: ln.Addr().String(), PGTLS: mode}, pgTLS: &tls.Config{}, pgListener: ln}
		if got := sv.pgURL("acme", "key"); got != want {
			t.Errorf("%s: %s", mode, got)
		}
	}
	if got := (&service{settings: &settings{}}).pgURL("acme", "key"); got != "" {
		t.Errorf("without a listener: %s", got)
	}
	if hint := psqlHint(plain + "?sslmode=require"); !strings.Contains(hint, "psql '"+plain+"?sslmode=require' -c") {
		t.Errorf("a ? is a shell's own: %s", hint)
	}
}
