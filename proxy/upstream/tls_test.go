package upstream

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
)

// tlsFront takes Postgres connections with TLS and passes them to a database without.
func tlsFront(t *testing.T, databaseURL string) string {
	t.Helper()
	cfg, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { passTLS(c, front, cfg) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	u := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: l.Addr().String(), Path: cfg.Database, RawQuery: "sslmode=require"}
	return u.String()
}

func passTLS(c net.Conn, front *tls.Config, cfg *pgconn.Config) {
	defer func() { _ = c.Close() }()
	var request [8]byte // SSLRequest
	if _, err := io.ReadFull(c, request[:]); err != nil {
		return
	}
	if _, err := c.Write([]byte("S")); err != nil {
		return
	}
	client := tls.Server(c, front)
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
	_, _ = io.Copy(client, server)
	_ = c.Close()
	wg.Wait()
}

// Ensure a closed connection's place is free at once, whatever closed it and whatever is
// between: here there is one place, and each statement needs a new connection.
func TestPlacesComeBack(t *testing.T) {
	for name, cfg := range map[string]Config{
		"named": {}, "unnamed": {NoPrepared: true}, "aged": {MaxConnLifetime: 20 * time.Millisecond}, "tls": {URL: tlsFront(t, pgtest.Database(t))},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.MaxConns = 1
			b := setup(t, cfg, "")
			start := time.Now()
			for range 20 {
				b.must(sel("SELECT pg_sleep(0.03)"))
				if name != "aged" {
					b.pool.replace()
				}
			}
			if took := time.Since(start); took > 15*time.Second { // a place that does not come back costs up to five, twenty times
				t.Errorf("took %s", took)
			}
			b.must(sel("SELECT 1"))
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := b.pool.query(ctx, sel("SELECT pg_sleep(20)"), Encoding{}, nil) // a cancel request needs no place
			if e := refusal(t, err, "statement_timeout", "a cancelled statement"); e.Code == policy.Internal {
				t.Error(e)
			}
			b.must(sel("SELECT 1"))
			b.pool.Close()
			if n := b.pool.places.inUse() + len(b.pool.places.open); n != 0 {
				t.Errorf("%d sockets are left", n)
			}
		})
	}
}
