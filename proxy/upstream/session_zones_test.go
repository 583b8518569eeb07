package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a transaction that goes on making time zones comes to an end, that others don't, and
// that the connection is not used again.
func TestLinkZones(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	zone, plain := l.simple("SELECT '2024-01-01 12:00 A1'::date FROM notes WHERE id = 1"), l.simple("SELECT id FROM notes WHERE id = 1")
	value := l.extended("SELECT $1::date", "2024-01-01 12:00 A2")[2:]
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{zone}, Commit: true}, proxy.Open, "columns date:1082:0", "row 2024-01-01", "done SELECT 1")
	s := l.link.lease.session
	if s.zoned == 0 || s.worn() != "" {
		t.Fatalf("%v", s.zoned)
	}
	l.want(proxy.Exchange{Steps: value, Commit: true}, proxy.Open, "BindComplete", "columns date:1082:0", "row 2024-01-01", "done SELECT 1")
	s.zoned = zonesMost + 1
	l.want(proxy.Exchange{Steps: []proxy.Step{plain}, Commit: true}, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SAVEPOINT a")}, Commit: true}, proxy.Open, "done SAVEPOINT")
	for _, steps := range [][]proxy.Step{{zone}, value} {
		if _, state, err := l.run(proxy.Exchange{Steps: steps, Commit: true}); sqlStateOf(err) != "54000" || state != proxy.Failed {
			t.Errorf("%c, %v", state, err)
		}
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK TO a"), plain}, Commit: true}, proxy.Open, "done ROLLBACK", "columns id:23:0", "row 1", "done SELECT 1")
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
	l.want(proxy.Exchange{Steps: []proxy.Step{zone}, Commit: true}, proxy.Idle, "columns date:1082:0", "row 2024-01-01", "done SELECT 1")
	if !s.conn.IsClosed() {
		t.Error("the connection is still there")
	}
}

// Ensure the same is counted of the interface's statements, and only of those.
func TestQueryZones(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	query := func(text string, args ...string) *session {
		t.Helper()
		if _, err := l.pool.Query(t.Context(), "", l.bound(l.approve(text), args...), Encoding{}, nil); err != nil {
			t.Fatal(err)
		}
		given, err := l.pool.acquire(t.Context(), proxy.Account{Server: "mine"}, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.pool.release(given, proxy.Account{Server: "mine"})
		return given.session
	}
	s := query("SELECT id FROM notes WHERE body = $1 AND id = 1", "2024-01-01 A1")
	if s.zoned != 0 {
		t.Errorf("a text took %v", s.zoned)
	}
	if query("SELECT '2024-01-01 A1'::date"); s.zoned == 0 {
		t.Error("a constant took no time")
	}
	s.zoned = 0
	for range 2 { // described, and known
		if query("SELECT $1::date", "2024-01-01 A1"); s.zoned == 0 {
			t.Error("a value took no time")
		}
		s.zoned = 0
	}
	s.zoned = zonesTime + 1
	if query("SELECT id FROM notes") == s || !s.conn.IsClosed() {
		t.Error("the connection is used again")
	}
}
