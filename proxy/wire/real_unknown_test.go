package wire

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

// dying passes bytes between clients and the server, until the server is heard no more.
func dying(t *testing.T, databaseURL string) (url string, dead *atomic.Bool) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	network, target := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	dead = new(atomic.Bool)
	pass := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if !dead.Load() {
				_, _ = to.Write(buf[:n])
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if dead.Load() {
				go func() { _, _ = io.Copy(io.Discard, client); _ = client.Close() }()
				continue
			}
			server, err := net.Dial(network, target)
			if err != nil {
				return
			}
			go pass(server, client)
			go pass(client, server)
		}
	}()
	return "postgres://" + cfg.User + ":" + cfg.Password + "@" + l.Addr().String() + "/" + cfg.Database + "?sslmode=disable", dead
}

// Ensure who cancels a change is not told that it was cancelled where it may have been committed.
func TestRealCancelUnknown(t *testing.T) {
	db := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	if _, err := admin.Exec(t.Context(), realSchema); err != nil {
		t.Fatal(err)
	}
	url, dead := dying(t, db)
	pool, err := upstream.Open(t.Context(), upstream.Config{URL: url, SearchPath: "pg_catalog, public", AcquireTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w := sitOn(t, realGate(t, pool), pool.Link(ownID), nil)
	w.answers()
	w.query("SELECT id FROM notes")
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO notes VALUES ($1, 2)", ownID); err != nil {
		t.Fatal(err)
	}
	w.send(&pgproto3.Query{String: "INSERT INTO notes (id) VALUES (2)"})
	time.Sleep(300 * time.Millisecond) // it waits for the other's
	dead.Store(true)
	w.client.cancelRunning()
	_ = tx.Rollback(t.Context())
	for {
		m, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if e, is := m.(*pgproto3.ErrorResponse); is && (!strings.Contains(e.Message, "not known") || e.Code != "08007") {
			var n int
			_ = admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 2").Scan(&n)
			t.Errorf("told %s %q; %d rows were committed", e.Code, e.Message, n)
		}
		if _, is := m.(*pgproto3.ReadyForQuery); is {
			return
		}
	}
}
