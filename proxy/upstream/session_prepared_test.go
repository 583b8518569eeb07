package upstream

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure prepared statements are bounded on the server, the least recently used dropped,
// and a text that stays in use is prepared once.
func TestPreparedStatementsAreBounded(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, PreparedStatements: 3}, "")
	keep := sel("SELECT 'keep'")
	for i := range 20 {
		b.must(keep)
		for range 2 {
			b.must(sel("SELECT 'text " + strconv.Itoa(i) + "'"))
		}
	}
	const look = "SELECT count(*), max(statement) FILTER (WHERE statement LIKE '%keep%') IS NOT NULL, min(name) FILTER (WHERE statement LIKE '%keep%') FROM pg_prepared_statements"
	// The session's own two and the three that are kept: this very text is asked for once.
	if got := b.must(sel(look)); !strings.HasSuffix(got, `"rows":[[5,true,"tg_2"]]`) {
		t.Errorf("the server holds %s", got)
	}
	conn, err := b.pool.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if s := sessionOf(conn.Conn().PgConn()).statements; s.order.Len() != 3 || len(s.byText) != 3 || len(s.stale) != 0 {
		t.Errorf("kept %d and %d, to close %d", s.order.Len(), len(s.byText), len(s.stale))
	}
}

// Ensure a known text is parsed once, and one that fails to parse leaves nothing behind.
func TestPreparedOnce(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	const look = "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT 7'"
	for range 5 {
		b.must(sel("SELECT 7"))
		b.fail(sel("SELECT missing FROM nowhere"), policy.QueryFailed)
	}
	if got := b.must(sel(look)); got != `"columns":["count"],"rows":[[1]]` {
		t.Errorf("prepared %s", got)
	}
}

// Ensure who uses more texts than a connection keeps can see it, and who does not, too.
func TestParsedStatementsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want int
	}{ // a text is kept when it is parsed for the second time
		"kept":    {Config{MaxConns: 1, PreparedStatements: 3}, 6},
		"dropped": {Config{MaxConns: 1, PreparedStatements: 2}, 12},
		"unnamed": {Config{MaxConns: 1, NoPrepared: true}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, c.cfg, "")
			for range 4 {
				for _, text := range []string{"SELECT 1", "SELECT 2", "SELECT 3"} {
					b.must(sel(text))
				}
			}
			if got := b.rec.parsed; got != c.want {
				t.Errorf("%d statements were parsed, want %d", got, c.want)
			}
		})
	}
}

// Ensure nothing of a statement remains on the connection, whether it ended well or not.
func TestNothingRemains(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, cfg, "CREATE TABLE t (a int)")
			session := func() string {
				conn, err := b.pool.pool.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Release()
				var got string
				err = conn.QueryRow(t.Context(), "SELECT current_setting('statement_timeout') || current_setting('search_path') || current_setting('timezone') || pg_backend_pid()").Scan(&got)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			before := session()
			b.must(sel("SELECT 1"))
			b.must(write("insert", true, "INSERT INTO t VALUES (1) RETURNING a"))
			b.fail(sel("SELECT 1/0"), policy.QueryFailed)
			b.fail(withLimits(write("insert", true, "INSERT INTO t VALUES (1) RETURNING a"), 0, 0), proxy.ResultTooLarge)
			if name == "unnamed" {
				before, _, _ = strings.Cut(before, "UTC") // that one costs the connection
			}
			if after := session(); !strings.HasPrefix(after, before) {
				t.Errorf("before %s, after %s", before, after)
			}
		})
	}
}

// Ensure a schema that changes between two runs of a text is met: a result of another
// type is described anew, unseen by the caller.
func TestResultTypeChanges(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	want := func(st *statement, want string) {
		for range 2 { // so that it is kept
			if got := b.must(st); got != want {
				t.Errorf("got %s", got)
			}
		}
	}
	for _, st := range []*statement{sel("SELECT a FROM t"), write("update", true, "UPDATE t SET a = a RETURNING a")} {
		b.exec("ALTER TABLE t ALTER a TYPE int")
		want(st, `"columns":["a"],"rows":[[1]]`)
		b.exec("ALTER TABLE t ALTER a TYPE text")
		want(st, `"columns":["a"],"rows":[["1"]]`)
		b.exec("ALTER TABLE t ALTER a TYPE int USING a::int")
		want(st, `"columns":["a"],"rows":[[1]]`)
	}
	if b.rec.class(classStale) != 4 {
		t.Errorf("counted %v", b.rec.errors)
	}
}

// Ensure a session whose statements somebody dropped is replaced, whichever front end meets it first.
func TestDeallocated(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	for name, ask := range map[string]func(){
		"JSON": func() { l.must(sel("SELECT 1")) },
		"frames": func() {
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT 1 AS one")}, Commit: true}, proxy.Idle, "columns one:23:0", "row 1", "done SELECT 1")
		},
	} {
		for _, drop := range []string{"DEALLOCATE ALL", "DISCARD ALL"} {
			ask()
			conn, err := l.pool.pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), drop); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			conn.Release()
			ask()
		}
	}
}

// Ensure a plan that relies on a table's shape fails before it has any effect once a
// column was added, and asks for a fresh look; and passes while the shape holds.
func TestShapes(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, cfg, `CREATE TABLE t (a int); CREATE TABLE u (a int, "Odd ""\," int); INSERT INTO t VALUES (1)`)
			oid := func(name string) uint32 {
				n, err := strconv.ParseUint(b.one("SELECT '"+name+"'::regclass::oid"), 10, 32)
				if err != nil {
					t.Fatal(err)
				}
				return uint32(n)
			}
			shaped := func(st *statement) *statement {
				st.shapes = []policy.Shape{{OID: oid("t"), Columns: []string{"a"}}, {OID: oid("u"), Columns: []string{"a", `Odd "\,`}}}
				return st
			}
			all := []*statement{
				shaped(sel("SELECT a FROM t")), shaped(write("insert", false, "INSERT INTO t VALUES (2)")),
				shaped(write("insert", true, "INSERT INTO t VALUES (3) RETURNING a")),
			}
			for _, st := range all {
				b.must(st)
				b.must(st)
			}
			before := b.one("SELECT count(*) FROM t")
			check := func(what string) {
				t.Helper()
				for _, st := range all {
					body, err := b.query(st)
					e := refusal(t, err, proxy.SerializationFailure, st.text()+body)
					if !errors.Is(e, proxy.ErrSchemaChanged) || body != "" || !e.Retryable {
						t.Errorf("%s, %s: got %s and %v", what, st.text(), body, e)
					}
				}
				if n := b.one("SELECT count(*) FROM t"); n != before {
					t.Errorf("%s: %s rows, want %s", what, n, before)
				}
			}
			b.exec(`ALTER TABLE u RENAME "Odd ""\," TO b`)
			check("a column was renamed")
			b.exec(`ALTER TABLE u DROP a; ALTER TABLE u RENAME b TO "Odd ""\,"; ALTER TABLE u ADD a int`)
			check("the columns changed places")
			b.exec("ALTER TABLE u ADD c int")
			check("a column was added")
			b.exec("DROP TABLE u")
			check("a table is gone")
			if b.rec.class(classSchema) != 12 {
				t.Errorf("counted %v", b.rec.errors)
			}
		})
	}
}

// Ensure no ALTER TABLE slips in between a statement and the check of its shapes: here one
// waits for the statement's lock.
func TestShapesAreCheckedUnderTheLock(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	tx, err := b.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "ALTER TABLE t ADD b int"); err != nil {
		t.Fatal(err)
	}
	var oid uint32
	if err := tx.QueryRow(t.Context(), "SELECT 't'::regclass::oid").Scan(&oid); err != nil {
		t.Fatal(err)
	}
	st := sel("SELECT a FROM t")
	st.shapes = []policy.Shape{{OID: oid, Columns: []string{"a"}}}
	done := make(chan error)
	go func() { // it starts while the shape is still the old one, and waits for the ALTER
		_, err := b.pool.query(context.Background(), st, Encoding{}, nil)
		done <- err
	}()
	b.waitsForLock(tx)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	refusal(t, <-done, proxy.SerializationFailure, st.text())
}
