package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// another is a client that is another server.
type another struct {
	of   *linked
	link *Link
}

func (l *linked) another() *another {
	a := &another{l, l.pool.Link(proxy.Account{Server: "other"})}
	l.t.Cleanup(a.link.Rollback)
	return a
}

// run gives what the client gets for a statement.
func (a *another) run(text string) string {
	a.of.t.Helper()
	b, reason := a.of.approve(text).Bind("other", nil)
	if reason != nil {
		a.of.t.Fatalf("%+v", reason)
	}
	var sent bytes.Buffer
	out := frame.Writer{To: &sent}
	state, err := a.link.Run(context.Background(), &proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Simple, Bound: b}}, Commit: true}, &out)
	_ = out.Flush()
	return fmt.Sprintf("%s, %c, %v", messages(a.of.t, sent.Bytes()), state, err)
}

// leaver is a client that goes away after so many writes.
type leaver struct{ writes int }

func (w *leaver) Write(b []byte) (int, error) {
	if w.writes--; w.writes < 0 {
		return 0, errors.New("the client is gone")
	}
	return len(b), nil
}

// Ensure a connection on which the rest of a long row is still to come is never another
// client's: the row is made of messages that end an exchange.
func TestLinkLeftWithinLongRow(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	notice := []byte("N\x00\x00\x00\x04")
	window := bytes.Join([][]byte{bytes.Repeat(notice, 3000), []byte("Z\x00\x00\x00\x05I"), bytes.Repeat(notice, 3551), []byte("N\x00\x00\x00\x06xx")}, nil)
	l.exec("ALTER TABLE notes ADD blob bytea")
	for shift := range 5 { // one of them has its messages where the reading goes on
		blob := append(bytes.Repeat([]byte("N"), shift), bytes.Repeat(window, 100)...)
		if _, err := l.admin.Exec(t.Context(), "INSERT INTO notes (server_id, id, blob) VALUES ('mine', $1, $2)", 100+shift, blob); err != nil {
			t.Fatal(err)
		}
	}
	l.decidesBy(linkPolicy, "bytea")
	other := l.another()
	const read = "SELECT id, body FROM notes ORDER BY id"
	want := other.run(read)
	for try := range 35 {
		mine := l.pool.Link(proxy.Account{Server: "mine"})
		steps := l.extended("SELECT blob FROM notes WHERE id = $1", fmt.Sprint(100+try%5))
		steps[2].Formats, steps[3].Formats = []int16{1}, []int16{1}
		made := l.pool.pool.Stat().NewConnsCount()
		_, err := mine.Run(context.Background(), &proxy.Exchange{Steps: steps, Commit: true}, &frame.Writer{To: &leaver{writes: 1 + try/5}})
		mine.Rollback()
		if err == nil {
			t.Fatal("nobody has left")
		}
		if got := other.run(read); got != want {
			t.Fatalf("left after %d writes, the other server gets %.400s", 1+try/5, got)
		}
		if n := l.pool.pool.Stat().NewConnsCount() - made; n != 1 {
			t.Errorf("left after %d writes, %d connections were made: the one with the row was used again", 1+try/5, n)
		}
	}
}

// Ensure what an attempt has begun is rolled back before the next one, and before anybody else
// has the connection: the statement's plan does not fit the table any more.
func TestLinkTriesBeginAgain(t *testing.T) {
	const read = "SELECT body FROM notes WHERE id = 2"
	l := link(t, Config{MaxConns: 1})
	is := []string{"columns body:25:0", "row b", "done SELECT 1"}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple(read)}, Commit: true}, proxy.Idle, is...)
	l.exec("ALTER TABLE notes ALTER body TYPE varchar(40)")
	made := l.pool.pool.Stat().NewConnsCount()
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(read)}, Commit: true}, proxy.Open, "columns body:1043:0", "row b", "done SELECT 1")
	if n := l.pool.pool.Stat().NewConnsCount() - made; n > 0 {
		t.Errorf("%d connections were made for it", n)
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
	if got := l.another().run("INSERT INTO notes (id) VALUES (77)"); got != "done INSERT 0 1, I, <nil>" || l.one("SELECT count(*) FROM notes WHERE id = 77") != "1" {
		t.Error("another server's change:", got)
	}
}

// Ensure a connection whose transaction is not known to have ended is nobody's any more.
func TestLinkReleasedOpen(t *testing.T) {
	for _, state := range []proxy.State{proxy.Open, proxy.Failed, 0} {
		l := link(t, Config{MaxConns: 1})
		l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("INSERT INTO notes (id) VALUES (7)")}, Commit: true}, proxy.Open, "done INSERT 0 1")
		l.link.lease.session.wire.state = state
		made := l.pool.pool.Stat().NewConnsCount()
		l.link.end() // as a defect would
		if got := l.another().run("INSERT INTO notes (id) VALUES (77)"); got != "done INSERT 0 1, I, <nil>" || l.one("SELECT count(*) FROM notes WHERE id IN (7, 77)") != "1" {
			t.Errorf("%q: another server's change: %s", state, got)
		}
		if n := l.pool.pool.Stat().NewConnsCount() - made; n != 1 {
			t.Errorf("%q: %d connections were made", state, n)
		}
	}
}

// Ensure who was told of a statement's result gets no other from a connection that has it
// prepared anew.
func TestLinkToldOtherwise(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	const read = "SELECT body FROM notes WHERE id = $1"
	old := l.extended(read, "2")
	l.want(proxy.Exchange{Steps: old[:2], Commit: true}, proxy.Idle, "ParseComplete", "params [23]", "columns body:25:0")
	l.exec("ALTER TABLE notes ALTER body TYPE varchar(40)")
	l.pool.replace()
	l.want(proxy.Exchange{Steps: l.extended(read, "2"), Commit: true}, proxy.Idle, "ParseComplete", "params [23]", "columns body:1043:0", "BindComplete", "columns body:1043:0", "row b", "done SELECT 1")
	if got, state, err := l.run(proxy.Exchange{Steps: old[2:], Commit: true}); got != "" || state != proxy.Idle || sqlStateOf(err) != featureNotThere {
		t.Errorf("%q, %c, %v", got, state, err)
	}
}

// Ensure a change whose result is refused is not committed with it, in whatever exchange the
// COMMIT is.
func TestLinkCommitOfRefused(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 1", 1))
	const count = "SELECT count(*) FROM notes WHERE id IN (50, 51)"
	insert := l.simple("INSERT INTO notes (id) VALUES (50), (51) RETURNING id")
	for name, x := range map[string]proxy.Exchange{
		"by itself":       {Steps: []proxy.Step{insert}, Commit: true},
		"with its COMMIT": {Begin: l.begin("BEGIN"), Steps: []proxy.Step{insert, l.simple("COMMIT")}, Commit: true},
	} {
		_, _, err := l.run(x)
		if refusal := proxy.AsError(err); refusal.Code != proxy.ResultTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		_, _, _ = l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true})
		l.link.Rollback()
		if n := l.one(count); n != "0" {
			t.Errorf("%s: %s rows are there", name, n)
		}
	}
}

// Ensure what was prepared behind a statement that is refused is closed again.
func TestLinkKnowsWhatIsPrepared(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 1", 1))
	for turn := range 3 {
		steps := []proxy.Step{l.simple("SELECT id FROM notes")}
		for i := range 20 {
			steps = append(steps, proxy.Step{Verb: proxy.Prepare, Prepared: &proxy.Prepared{Approved: l.approve(fmt.Sprintf("SELECT id AS c%d_%d FROM notes", turn, i))}})
		}
		if _, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true}); proxy.AsError(err).Code != proxy.ResultTooLarge {
			t.Fatal(err)
		}
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
	given, err := l.pool.acquireOwn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.pool.release(given, ownTurn)
	var n int
	if err := given.conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_catalog.pg_prepared_statements WHERE name NOT LIKE 'stmtcache%'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if known := given.session.statements.order.Len() + 2; n > known { // with the session's own
		t.Errorf("%d statements are prepared, %d are known", n, known)
	}
}
