package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/wire"
)

const (
	auto      = "auto"
	devPGAddr = "127.0.0.1:6432"
)

// pgAddr is where Postgres clients are listened for; "" for nowhere.
func (s *settings) pgAddr() string {
	if s.PGAddr == auto || s.PGAddr == "off" {
		return ""
	}
	return s.PGAddr
}

// pgTLSConfig gives what Postgres clients get for TLS: a certificate of their own, or that of
// the REST interface.
func (s *settings) pgTLSConfig(rest *tls.Config) (*tls.Config, error) {
	own, err := readTLS("pg-tls", s.PGTLSCert, s.PGTLSKey)
	switch {
	case err != nil:
		return nil, err
	case own == nil:
		own = rest
	}
	return own, s.checkPGTLS(own)
}

// checkPGTLS refuses TLS that is asked for, or must be, where there is no certificate.
func (s *settings) checkPGTLS(config *tls.Config) error {
	addr := s.pgAddr()
	if addr == "" || config != nil {
		return nil
	}
	switch {
	case s.PGTLS == "require", s.PGTLS == "allow":
		return fmt.Errorf("--pg-tls=%s needs a certificate: give --pg-tls-cert and --pg-tls-key, or --tls-cert and --tls-key", s.PGTLS)
	case s.pgTLSMode(nil) == wire.TLSRequire:
		return fmt.Errorf("--pg-addr %s is reached over the network, so Postgres clients must use TLS: give --pg-tls-cert and --pg-tls-key, or --pg-tls=disable where the network encrypts", addr)
	}
	return nil
}

// pgTLSMode is --pg-tls, with auto settled for an address.
func (s *settings) pgTLSMode(config *tls.Config) wire.TLSMode {
	switch {
	case s.PGTLS == "require":
		return wire.TLSRequire
	case s.PGTLS == "allow":
		return wire.TLSAllow
	case s.PGTLS == "disable":
		return wire.TLSDisable
	case !loopback(s.pgAddr()):
		return wire.TLSRequire
	case config == nil:
		return wire.TLSDisable
	}
	return wire.TLSAllow
}

// loopback tells whether an address is reached from this machine alone. A name is looked up
// by nobody here: localhost is one, any other may be anything.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// frontends are the policies of front ends that have one of their own.
func (sv *service) frontends() map[string]string {
	if sv.pgListener == nil {
		return nil
	}
	name := sv.settings.PGPolicy
	if name == auto {
		name = sv.files[0].Name
		if slices.ContainsFunc(sv.files, func(f *policy.File) bool { return f.Name == "inject" }) {
			name = "inject"
		}
	}
	return map[string]string{wire.Frontend: name}
}

// wantsScope tells whether the callers of a policy have to name the server themselves.
func (sv *service) wantsScope(policyName string) bool {
	return slices.ContainsFunc(sv.files, func(f *policy.File) bool { return f.Name == policyName && f.Scope.Mode != policy.Inject })
}

// pgAddr is where Postgres clients are listened for, for people.
func (sv *service) pgAddr() string {
	if sv.pgListener == nil {
		return "off"
	}
	return sv.pgListener.Addr().String()
}

// pgURL is what a Postgres client connects to as a server; "" where none is listened for. Who
// must use TLS is told so: some drivers do without it unless their string asks for it.
func (sv *service) pgURL(serverID, key string) string {
	if sv.pgListener == nil {
		return ""
	}
	at := pgURL(reachable(sv.pgListener.Addr()), serverID, key)
	if sv.settings.pgTLSMode(sv.pgTLS) == wire.TLSRequire {
		at += "?sslmode=require"
	}
	return at
}

// openWire makes the front end for Postgres' protocol, where one is asked for.
func (sv *service) openWire(_ context.Context, _ databases) (err error) {
	s := sv.settings
	if sv.pgListener == nil {
		return nil
	}
	if name := sv.frontends()[wire.Frontend]; sv.wantsScope(name) {
		sv.log.Warn("By their policy Postgres clients must write the server's id in every statement: psql and applications that don't are refused. Name a policy of mode inject with --pg-policy",
			"policy", name)
	}
	sv.wire, err = wire.New(wire.Config{
		Gate: sv.gate, Open: func(a proxy.Account) wire.Link { return sv.pool.Link(a) }, Recorder: sv.metrics, Logger: sv.log,
		TLS: sv.pgTLS, Handshakes: sv.handshakes, TLSMode: s.pgTLSMode(sv.pgTLS), ServerVersion: sv.pool.ServerVersion,
		MaxClients: s.PGMaxClients, ProjectShare: s.ProjectShare, MaxClientsPerIP: s.MaxConnsPerIP, MaxUnauthenticatedPerIP: orUnlimited(s.MaxUnauthPerIP), TransactionIdleTimeout: s.PGIdleTransaction,
		TransactionTimeout: s.PGTransaction, ContendedTimeout: s.PGContended, Contended: sv.pool.Contended, LockTimeout: s.LockTimeout, DrainTimeout: s.DrainTimeout,
	})
	if err != nil {
		return fmt.Errorf("making the interface for Postgres clients (--pg-addr): %w", err)
	}
	sv.metrics.WatchClients(sv.wire.Clients)
	return nil
}
