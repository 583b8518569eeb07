package upstream

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// cutter passes bytes between clients and the server. Where the server's hold what it waits
// for, it ends that connection in their place.
type cutter struct {
	net.Listener
	at atomic.Pointer[string]
	wg sync.WaitGroup
}

func newCutter(t *testing.T, databaseURL string) (*cutter, string) {
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
	c := &cutter{Listener: l}
	c.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, target)
			if err != nil {
				_ = client.Close()
				continue
			}
			c.wg.Go(func() { c.pass(server, client, false) })
			c.wg.Go(func() { c.pass(client, server, true) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); c.wg.Wait() })
	return c, "postgres://" + cfg.User + ":" + cfg.Password + "@" + l.Addr().String() + "/" + cfg.Database + "?sslmode=disable"
}

func (c *cutter) pass(to, from net.Conn, answers bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if at := c.at.Load(); answers && at != nil && bytes.Contains(buf[:n], []byte(*at)) && c.at.CompareAndSwap(at, nil) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Of a change that may have been committed nobody is told that it was not.
func TestLinkLostAnswer(t *testing.T) {
	const insert = "INSERT INTO notes (id, body) VALUES (9, 'x')"
	for name, c := range map[string]struct {
		at    string
		steps func(l *linked) []proxy.Exchange
	}{
		"implicit": {"INSERT 0 1", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{{Steps: []proxy.Step{l.simple(insert)}, Commit: true}}
		}},
		"one exchange": {"COMMIT", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{{Begin: l.approve("BEGIN"), Steps: []proxy.Step{l.simple(insert), l.simple("COMMIT")}, Commit: true}}
		}},
		"two": {"COMMIT", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{
				{Begin: l.approve("BEGIN"), Steps: []proxy.Step{l.simple(insert)}}, {Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true},
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			db := pgtest.Database(t)
			admin, err := pgx.Connect(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = admin.Close(context.Background()) }()
			if _, err := admin.Exec(t.Context(), linkSchema); err != nil {
				t.Fatal(err)
			}
			cut, url := newCutter(t, db)
			l := link(t, Config{URL: url})
			l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT body FROM notes")}, Commit: true})
			all := c.steps(l)
			for i, x := range all {
				if i == len(all)-1 {
					cut.at.Store(&c.at)
				}
				_, state, err := l.run(x)
				if i < len(all)-1 {
					continue
				}
				var n int
				if admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 9").Scan(&n) != nil || n != 1 {
					t.Fatalf("%d rows", n)
				}
				if e := proxy.AsError(err); !strings.Contains(e.Message, "not known") || e.SQLState != "08007" || e.Retryable {
					t.Errorf("it is committed, and told as: %s, to be tried again %v, state %c", e.Message, e.Retryable, state)
				}
			}
		})
	}
}
