package upstream

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// resident is what the pool's backend holds of the machine's memory, in KB; 0 where nobody tells.
func (b *bench) resident() int {
	b.t.Helper()
	pid := b.one("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tenantgate'")
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		b.t.Skip("there is no /proc")
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kb, _ := strconv.Atoi(strings.TrimSpace(rest[:strings.Index(rest, "kB")]))
	return kb
}

// joins is a text whose plan carries the columns of n tables through n joins.
func joins(n, which int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "SELECT *, n.id + %d FROM notes AS n", which)
	for i := range n {
		fmt.Fprintf(&text, ", notes AS n%d", i)
	}
	return text.String() + " LIMIT 0"
}

// doubled is a text that has twice as large a plan with each level.
func doubled(levels, which int) string {
	text := fmt.Sprintf("SELECT 1 AS r%d, 2 AS s", which)
	for range levels {
		text = "SELECT t AS r, t AS s FROM (" + text + ") AS t"
	}
	return text + " LIMIT 0"
}

func (l *linked) query(text string) {
	l.t.Helper()
	if _, err := l.pool.Query(l.t.Context(), "", l.bound(l.approve(text)), Encoding{}, nil); err != nil {
		l.t.Fatalf("%.80s: %v", text, err)
	}
}

// Ensure a backend keeps no statement that was asked for once, whichever way it came.
func TestKeptWhenAskedTwice(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	kept := func(text string) string {
		return l.must(sel("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%" + text + "%' AND statement NOT LIKE '%pg_prepared%'"))
	}
	want := func(text string, n int) {
		t.Helper()
		if got := kept(text); got != fmt.Sprintf(`"columns":["count"],"rows":[[%d]]`, n) {
			t.Errorf("%s: %s, want %d", text, got, n)
		}
	}
	l.query("SELECT id AS rest FROM notes")
	want("rest", 0)
	l.query("SELECT id AS rest FROM notes")
	want("rest", 1)
	for i := range 3 {
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id AS simple FROM notes WHERE id = 1")}, Commit: true}, proxy.Idle, "columns simple:23:0", "row 1", "done SELECT 1")
		want("simple", min(i, 1))
	}
	parsed := l.rec.parsed
	l.want(proxy.Exchange{Steps: l.extended("SELECT id AS extended FROM notes WHERE id = $1", "1"), Commit: true}, proxy.Idle,
		"ParseComplete", "params [23]", "columns extended:23:0", "BindComplete", "columns extended:23:0", "row 1", "done SELECT 1")
	want("extended", 0)
	if l.rec.parsed != parsed+2 { // and the look
		t.Errorf("%d statements were parsed", l.rec.parsed-parsed)
	}
}

// Ensure what a backend keeps is bounded by its size, and that it ends where it had to make more.
func TestPlansAreBounded(t *testing.T) {
	l := link(t, Config{MaxConns: 1, PreparedStatements: 64})
	l.query("SELECT id FROM notes")
	before := l.resident()
	for i := range 80 {
		l.query(joins(20, i))
		l.query(joins(20, i))
	}
	grown := l.resident() - before
	given, err := l.pool.acquire(t.Context(), proxy.Account{Server: "mine"}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	s := given.session.statements
	t.Logf("%d plans of %d KB, the backend grew by %d KB", s.order.Len(), s.bytes>>10, grown)
	if s.bytes > s.most || s.order.Len() > 40 || grown > s.most>>10 {
		t.Error("that is too much")
	}
	l.pool.release(given, proxy.Account{Server: "mine"})
	for s.order.Len() > 0 {
		s.drop(s.order.Back().Value.(*plan).sql)
	}
	if s.bytes != 0 {
		t.Errorf("%d bytes of nothing", s.bytes)
	}
	l.query(joins(75, 0))
	if l.rec.class(replacedPlan) != 1 || !given.session.conn.IsClosed() {
		t.Error("the connection is still there")
	}
	l.eventually("another is ready before somebody asks for one", func() bool { return l.pool.Stat().Idle == 1 })
}

// Ensure a statement that costs its connection does not take one that others use, over REST and in an exchange.
func TestWornApart(t *testing.T) {
	l := link(t, Config{MaxConns: 8})
	used := func() *session {
		t.Helper()
		given, err := l.pool.acquire(t.Context(), proxy.Account{Server: "quiet"}, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.pool.release(given, proxy.Account{Server: "quiet"})
		return given.session
	}
	const times = 10
	lost := 0
	before := used()
	for i := range times {
		l.query(doubled(10, 2*i))
		if _, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple(doubled(10, 2*i+1))}, Commit: true}); err != nil || state != proxy.Idle {
			t.Fatalf("%c, %v", state, err)
		}
		if now := used(); now != before {
			before = now
			lost++
		}
	}
	if lost > times/2 { // one that pgxpool has for a moment may be taken
		t.Errorf("the others' statements found another connection %d times in %d", lost, times)
	}
	if n := l.rec.class(replacedPlan); n != 2*times {
		t.Errorf("replaced %d connections", n)
	}
}

// Ensure such a statement takes any connection where no other can be made.
func TestWornWithoutAnother(t *testing.T) {
	l := link(t, Config{MaxConns: 3})
	l.query("SELECT id FROM notes")
	l.exec("UPDATE pg_database SET datallowconn = false WHERE datname = current_database()")
	defer l.exec("UPDATE pg_database SET datallowconn = true WHERE datname = current_database()")
	l.query(doubled(10, 0))
}

// Ensure a connection ends for the types of rows that it has made, in a transaction too, and not
// for those of one statement that runs again and again.
func TestRecordTypes(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	row := func(i, columns int) string {
		return fmt.Sprintf("SELECT s FROM (SELECT 1 AS a%d%s) AS s", i, strings.Repeat(", 1", columns))
	}
	for range 70 { // more than the types below that end a connection
		l.query(row(0, 900))
	}
	if n := l.rec.class(replacedRecords); n != 0 {
		t.Errorf("replaced %d times for one type", n)
	}
	for i := range 60 {
		l.query(row(i, 900))
	}
	if n := l.rec.class(replacedRecords); n != 1 {
		t.Errorf("replaced %d times", n)
	}
	if grown := l.resident(); grown > 40<<10 {
		t.Errorf("the backend has %d KB", grown)
	}
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
	l.link.lease.session.growth.records, l.link.records.bytes = recordsEnd, recordsEnd
	if _, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple(row(1, 1))}, Commit: true}); sqlStateOf(err) != "54000" || state != proxy.Failed {
		t.Errorf("%c, %v", state, err)
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK")}, Commit: true}, proxy.Idle, "done ROLLBACK")
	if n := l.rec.class(replacedRecords); n != 2 {
		t.Errorf("replaced %d times", n)
	}
}

// Ensure a transaction through a pooler is not refused for what the ones before it made: they had other backends.
func TestRecordTypesBehindAPooler(t *testing.T) {
	l := link(t, Config{MaxConns: 1, NoPrepared: true})
	row := l.simple("SELECT n FROM (SELECT id, id AS b FROM notes WHERE id = 1) n")
	zone := l.simple("SELECT '2024-01-01 12:00 A1'::date FROM notes WHERE id = 1")
	for range 3 {
		l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{row}, Commit: true}, proxy.Open, "columns n:2249:0", "row (1,1)", "done SELECT 1")
		s := l.link.lease.session
		if s.growth.records == 0 || s.growth.records > recordsMany {
			t.Errorf("%d bytes of types of rows in one transaction", s.growth.records)
		}
		l.link.records.bytes, s.growth.records, s.zoned = recordsEnd, recordsEnd, zonesMost+1
		for _, step := range []proxy.Step{row, zone} {
			if _, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SAVEPOINT a"), step}, Commit: true}); sqlStateOf(err) != "54000" {
				t.Errorf("in the same transaction: %v", err)
			}
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK TO a")}, Commit: true}, proxy.Open, "done ROLLBACK")
		}
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
	}
}

// Ensure a backend of the embedded Postgres keeps nothing of a statement's memory, though it keeps a regular expression that
// the statement has made behind it.
func TestStatementsMemoryGoesBack(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	for _, sql := range []string{
		"SELECT cardinality(array_agg(repeat('x', 8000) || g)) FROM generate_series(1, 4000) g",
		"SELECT cardinality(array_agg(repeat('x', 7900) || g)), 'a' ~ ('(x{1,200}y){1,40}' || count(*)) FROM generate_series(1, 40000) g",
	} {
		own, err := l.pool.acquireOwn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		l.pool.release(own, ownTurn)
	}
	if kept := l.resident(); kept > 150<<10 {
		t.Errorf("the idle backend has %d KB", kept)
	}
}

// Ensure what a transaction may make of types of rows is the same, whether or not its connection has them already, and counts a text once.
func TestRecordTypesTellNothing(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	text := func(name string) string { return "SELECT s, '" + name + "' AS c FROM (SELECT 1 AS a, 2 AS b) AS s" }
	for range 3 { // another one's: now the connection has it under a name
		l.query(text("known"))
	}
	bytes := l.approve(text("known")).RecordBytes()
	for _, name := range []string{"known", "unknown"} {
		l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
		for range 3 {
			if _, _, err := l.run(proxy.Exchange{Steps: l.extended(text(name)), Commit: true}); err != nil {
				t.Fatal(err)
			}
			if got := l.link.records.bytes; got != bytes {
				t.Errorf("%s: %d bytes count, want %d", name, got, bytes)
			}
		}
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK")}, Commit: true}, proxy.Idle, "done ROLLBACK")
		if l.link.records.bytes != 0 || l.link.records.texts != nil {
			t.Errorf("%s: %+v is kept", name, l.link.records)
		}
	}
	if _, _, err := l.run(proxy.Exchange{Steps: l.extended(text("known"))[:1], Commit: true}); err != nil || l.link.records.texts != nil {
		t.Errorf("of one that needs no connection %+v is kept, %v", l.link.records, err)
	}
	for _, name := range []string{"known", "new"} { // the first of its transaction
		if _, _, err := l.run(proxy.Exchange{Steps: l.extended(text(name))[:1]}); err != nil || l.link.records.bytes != bytes {
			t.Errorf("%s: %+v, %v", name, l.link.records, err)
		}
		if l.link.Rollback(); l.link.records.texts != nil {
			t.Errorf("%s: %+v is kept", name, l.link.records)
		}
	}
}
