package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a transaction does not go on on another connection where its own was given up, though the
// statement succeeded that a cancel request was for.
func TestLinkDeafCancellation(t *testing.T) {
	for name, block := range map[string]bool{"block": true, "implicit": false} {
		t.Run(name, func(t *testing.T) {
			l, r, admin := relayed(t)
			first := proxy.Exchange{Steps: []proxy.Step{l.simple("INSERT INTO notes (id) VALUES (60)")}, Commit: block}
			if block {
				first.Begin = l.begin("BEGIN")
			}
			l.want(first, proxy.Open, "done INSERT 0 1")
			tx, err := admin.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "UPDATE notes SET body = 'y' WHERE id = 2"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			second := proxy.Exchange{Steps: []proxy.Step{l.simple("UPDATE notes SET body = 'x' WHERE id = 2")}, Commit: block}
			go func() {
				_, err := l.link.Run(ctx, &second, &l.out)
				done <- err
			}()
			time.Sleep(300 * time.Millisecond) // it waits for the lock
			r.Ignore.Store(true)               // cancel requests go nowhere
			cancel()
			time.Sleep(300 * time.Millisecond)
			_ = tx.Rollback(t.Context())
			failed := <-done
			r.Ignore.Store(false)
			if failed == nil {
				t.Error("what is done in a transaction that is lost is told as done")
			}
			if block {
				_, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("INSERT INTO notes (id) VALUES (61)")}, Commit: true})
				if sqlStateOf(err) != "25P02" || state != proxy.Failed {
					t.Errorf("%v, state %c", err, state)
				}
			}
			l.link.Rollback()
			var n int
			if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id IN (60, 61)").Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows are there, %v", n, err)
			}
		})
	}
}

// Ensure a transaction has ended whose end was asked for on a connection that is lost, whether that
// is seen as something is written or as nothing is heard: a ROLLBACK is done where it is all that
// was left to do and no COMMIT came before it, and what became of a COMMIT is not known.
func TestLinkEndOfLost(t *testing.T) {
	const insert = "INSERT INTO notes (id) VALUES (71)"
	for way, lose := range map[string]func(*linked, *pgtest.Relay){
		"unsent": func(l *linked, _ *pgtest.Relay) { _ = l.link.lease.session.conn.Conn().Close() },
		"unheard": func(_ *linked, r *pgtest.Relay) {
			r.Watch.Store(new(func(p pgtest.Part) bool { return !p.Answer }))
		},
		"silent": func(_ *linked, r *pgtest.Relay) { r.Silent.Store(true) },
	} {
		t.Run(way, func(t *testing.T) {
			l, r, _ := relayed(t)
			for i, c := range []struct {
				texts string
				told  string
				state proxy.State
				code  string // of the error
				slow  bool   // too slow to wait for silence in
			}{
				{"ROLLBACK", "done ROLLBACK", proxy.Idle, "", false},
				{"COMMIT", "", proxy.Idle, "08007", false},
				{insert + ";ROLLBACK", "", proxy.Failed, "08006", true},
				{insert + ";COMMIT", "", proxy.Idle, "08007", true},
				{"COMMIT;ROLLBACK", "", proxy.Idle, "08007", true},
				{"ROLLBACK AND CHAIN", "", proxy.Failed, "08006", true},
				{"ROLLBACK;" + insert, "", proxy.Failed, "08006", true},
				{"ROLLBACK TO a", "", proxy.Failed, "08006", true},
			} {
				if way == "silent" && c.slow {
					continue
				}
				l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(fmt.Sprintf("INSERT INTO notes (id) VALUES (%d)", 80+i)), l.simple("SAVEPOINT a")}, Commit: true},
					proxy.Open, "done INSERT 0 1", "done SAVEPOINT")
				x := proxy.Exchange{Commit: true, Timeout: 50 * time.Millisecond}
				for text := range strings.SplitSeq(c.texts, ";") {
					x.Steps = append(x.Steps, l.simple(text))
				}
				lose(l, r)
				got, state, err := l.run(x)
				r.Watch.Store(nil)
				r.Mend()
				code := sqlStateOf(err)
				if way == "unsent" && code == "08006" && c.code == "08007" { // so nothing can have become of it
					code = c.code
				}
				if way == "silent" && code == "57014" {
					code = c.code
				}
				if got != c.told || state != c.state || code != c.code {
					t.Errorf("%s: %q, %c, %v", c.texts, got, state, err)
				}
				l.link.Rollback()
				if c.told != "" {
					left := l.simple(fmt.Sprintf("SELECT id FROM notes WHERE id = %d", 80+i))
					l.want(proxy.Exchange{Steps: []proxy.Step{left}, Commit: true}, proxy.Idle, "columns id:23:0", "done SELECT 0")
				}
			}
		})
	}
}

// Ensure of steps that were sent together the first is told as failed where they could not be sent:
// none of them has an answer.
func TestLinkUnsentSteps(t *testing.T) {
	l, _, _ := relayed(t)
	l.want(proxy.Exchange{Steps: l.extended("SELECT id FROM notes")[:1], Commit: true}, proxy.Idle, "ParseComplete")
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SAVEPOINT a")}, Commit: true}, proxy.Open, "done SAVEPOINT")
	_ = l.link.lease.session.conn.Conn().Close()
	x := proxy.Exchange{Steps: append(l.extended("SELECT id FROM notes")[:1], l.simple("ROLLBACK")), Commit: true}
	state, err := l.link.Run(t.Context(), &x, &l.out)
	if sqlStateOf(err) != "08006" || state != proxy.Failed || x.Done != 0 || len(l.out.Buf) != 0 {
		t.Errorf("%d were done, %q, %c, %v", x.Done, l.out.Buf, state, err)
	}
}

// relayed is a client of a database that is reached through a relay, and a connection of its owner's
// that is not.
func relayed(t *testing.T) (*linked, *pgtest.Relay, *pgx.Conn) {
	t.Helper()
	db := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	if _, err := admin.Exec(t.Context(), linkSchema); err != nil {
		t.Fatal(err)
	}
	r, url := pgtest.NewRelay(t, db)
	return link(t, Config{URL: url, MaxConns: 2}), r, admin
}

// A transaction does not go on where the search path is another one than that of its connection.
func TestPathOfTransaction(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	begin := l.begin("BEGIN")
	if _, state, err := l.run(proxy.Exchange{Begin: begin, Steps: []proxy.Step{l.simple("INSERT INTO notes (id, body) VALUES (9, 'x')")}}); err != nil || state != proxy.Open {
		t.Fatal(state, err)
	}
	other := "pg_catalog, public, pg_temp"
	l.pool.path.text.Store(&other)
	if said, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes")}}); err == nil || state != proxy.Idle || said != "" {
		t.Errorf("%s, %v, %v", said, state, err)
	}
	if got := l.one("SELECT count(*) FROM notes WHERE id = 9"); got != "0" {
		t.Errorf("%s rows were committed", got)
	}
	if got := l.must(sel("SELECT current_setting('search_path')")); !strings.Contains(got, other) {
		t.Error(got)
	}
}
