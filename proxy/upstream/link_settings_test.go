package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// set gives a client's settings.
func set(name, value string) []policy.Setting {
	s, _ := policy.NewSetting(name, value)
	return []policy.Setting{s}
}

// Ensure what a transaction is opened with is in force in each that is chained to it and
// behind a savepoint that was gone back to, and that what is prepared there is known by it.
func TestLinkSettings(t *testing.T) {
	const read = "SELECT '01/02/03'::date FROM notes WHERE id = 1"
	german, sql := set("DateStyle", "German"), set("DateStyle", "SQL, MDY")
	l := link(t, Config{MaxConns: 1})
	begin := l.begin("BEGIN")
	steps := func(texts ...string) (all []proxy.Step) {
		for _, text := range texts {
			all = append(all, l.simple(text))
		}
		return all
	}
	is := func(day string) []string { return []string{"columns date:1082:0", "row " + day, "done SELECT 1"} }
	for name, end := range map[string]string{"commit": "COMMIT AND CHAIN", "rollback": "ROLLBACK AND CHAIN"} {
		t.Run(name, func(t *testing.T) {
			done := "done " + map[string]string{"commit": "COMMIT", "rollback": "ROLLBACK"}[name]
			// In the exchange of the end, in the next one, and under settings that are changed there.
			l.want(proxy.Exchange{Begin: begin, Settings: german, Steps: steps("SELECT id FROM notes WHERE id = 2", end, read), Commit: true}, proxy.Open,
				append([]string{"columns id:23:0", "row 2", "done SELECT 1", done}, is("01.02.2003")...)...)
			l.want(proxy.Exchange{Steps: steps(end), Commit: true}, proxy.Open, done)
			l.want(proxy.Exchange{Steps: steps(read), Commit: true}, proxy.Open, is("01.02.2003")...)
			l.want(proxy.Exchange{Settings: sql, Resettle: true, Steps: steps(end, read), Commit: true}, proxy.Open, append([]string{done}, is("01/02/2003")...)...)
			l.want(proxy.Exchange{Steps: append(steps("SAVEPOINT a"), steps("ROLLBACK TO a", read)...), Commit: true}, proxy.Open, append([]string{"done SAVEPOINT", "done ROLLBACK"}, is("01/02/2003")...)...)
			l.want(proxy.Exchange{Settings: german, Resettle: true, Steps: steps(read, "ROLLBACK TO a", read), Commit: true}, proxy.Open,
				append(append(is("01.02.2003"), "done ROLLBACK"), is("01.02.2003")...)...)
			// A change that comes with a transaction that has failed is made once it can be.
			if _, _, err := l.run(proxy.Exchange{Steps: steps("SELECT 1/0 FROM notes"), Commit: true}); sqlStateOf(err) != "22012" {
				t.Error(err)
			}
			l.want(proxy.Exchange{Settings: sql, Resettle: true, Steps: steps("ROLLBACK TO a", read), Commit: true}, proxy.Open, append([]string{"done ROLLBACK"}, is("01/02/2003")...)...)
			l.want(proxy.Exchange{Steps: steps("ROLLBACK"), Commit: true}, proxy.Idle, "done ROLLBACK")
			l.want(proxy.Exchange{Steps: steps(read), Commit: true}, proxy.Idle, is("2001-02-03")...)
			l.want(proxy.Exchange{Settings: german, Steps: steps(read), Commit: true}, proxy.Idle, is("01.02.2003")...)
			l.want(proxy.Exchange{Settings: sql, Steps: steps(read), Commit: true}, proxy.Idle, is("01/02/2003")...)
		})
	}
}

// Ensure each transaction is held to the time of its statements, a chained one too.
func TestLinkChainedTime(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1"), l.simple("COMMIT AND CHAIN")}, Commit: true}, proxy.Open,
		"columns id:23:0", "row 1", "done SELECT 1", "done COMMIT")
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
	if got := l.inForce("statement_timeout"); got != "2s" {
		t.Errorf("statement_timeout is %s", got)
	}
}

// inForce reads a setting of the connection that the link has.
func (l *linked) inForce(name string) string {
	l.t.Helper()
	var value string
	if err := l.link.lease.conn.QueryRow(l.t.Context(), "SELECT pg_catalog.current_setting($1)", name).Scan(&value); err != nil {
		l.t.Fatal(err)
	}
	return value
}
