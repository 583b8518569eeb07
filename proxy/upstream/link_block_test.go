package upstream

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a transaction that a BEGIN opened lasts over exchanges and failures until a step
// ends it, and that each is signed anew.
func TestLinkBlock(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	begin, count := l.begin("BEGIN ISOLATION LEVEL SERIALIZABLE"), l.simple("SELECT id FROM notes ORDER BY id")
	steps := func(texts ...string) (all []proxy.Step) {
		for _, text := range texts {
			all = append(all, l.simple(text))
		}
		return all
	}
	l.want(proxy.Exchange{Begin: begin, Steps: steps("INSERT INTO notes (id) VALUES (7)", "SAVEPOINT a"), Commit: true}, proxy.Open, "done INSERT 0 1", "done SAVEPOINT")
	if got, state, err := l.run(proxy.Exchange{Steps: steps("INSERT INTO notes (id) VALUES (7)"), Commit: true}); sqlStateOf(err) != "23505" || state != proxy.Failed || got != "" {
		t.Errorf("%s, %c, %v", got, state, err)
	}
	if _, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{count}, Commit: true}); sqlStateOf(err) != "25P02" || state != proxy.Failed {
		t.Errorf("%c, %v", state, err)
	}
	l.want(proxy.Exchange{Steps: steps("ROLLBACK TO a", "SELECT id FROM notes ORDER BY id"), Commit: true}, proxy.Open, "done ROLLBACK", "columns id:23:0", "row 1", "row 2", "row 7", "done SELECT 3")
	l.want(proxy.Exchange{Steps: append(steps("COMMIT"), count), Commit: true}, proxy.Idle, "done COMMIT", "columns id:23:0", "row 1", "row 2", "row 7", "done SELECT 3")
	l.want(proxy.Exchange{Begin: begin, Steps: steps("DELETE FROM notes", "ROLLBACK AND CHAIN", "SELECT id FROM notes ORDER BY id"), Commit: true}, proxy.Open,
		"done DELETE 3", "done ROLLBACK", "columns id:23:0", "row 1", "row 2", "row 7", "done SELECT 3")
	if _, state, err := l.run(proxy.Exchange{Steps: steps("SELECT 1/0 FROM notes"), Commit: true}); sqlStateOf(err) != "22012" || state != proxy.Failed {
		t.Errorf("%c, %v", state, err)
	}
	l.want(proxy.Exchange{Steps: steps("COMMIT"), Commit: true}, proxy.Idle, "done ROLLBACK")
	if n := l.pool.leased.Load(); n != 0 {
		t.Errorf("%d connections are held", n)
	}
}

// Ensure a statement whose table was altered is prepared anew, where the client was told
// nothing else yet; and that one which was described otherwise is an error, as in Postgres.
func TestLinkStale(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	named := l.extended("SELECT body FROM notes WHERE id = $1", "2")
	l.want(proxy.Exchange{Steps: named[:2], Commit: true}, proxy.Idle, "ParseComplete", "params [23]", "columns body:25:0")
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT body FROM notes WHERE id = 2")}, Commit: true}, proxy.Idle, "columns body:25:0", "row b", "done SELECT 1")
	l.exec("ALTER TABLE notes ALTER body TYPE varchar(40)")
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT body FROM notes WHERE id = 2")}, Commit: true}, proxy.Idle, "columns body:1043:0", "row b", "done SELECT 1")
	if _, state, err := l.run(proxy.Exchange{Steps: named[2:], Commit: true}); sqlStateOf(err) != "0A000" || state != proxy.Idle {
		t.Errorf("%c, %v", state, err)
	}
}

// Ensure the end of a connection is an error of the statement, whose transaction is over, and
// that the link goes on.
func TestLinkLost(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	kill := func() {
		l.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()")
		time.Sleep(50 * time.Millisecond)
	}
	one := proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}
	l.want(one, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
	kill()
	l.want(one, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("INSERT INTO notes (id) VALUES (8)")}, Commit: true}, proxy.Open, "done INSERT 0 1")
	kill()
	_, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true})
	var told *proxy.Error
	if !errors.As(err, &told) || told.Code != proxy.UpstreamUnavailable || told.Retryable || !strings.Contains(told.Message, "not known") || state == proxy.Open {
		t.Errorf("%c, %+v", state, err)
	}
	l.link.Rollback()
	l.want(one, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
	if n := l.pool.leased.Load(); n != 0 {
		t.Errorf("%d connections are held", n)
	}
}

// Ensure the link works where nothing may be named.
func TestLinkPooled(t *testing.T) {
	l := link(t, Config{MaxConns: 1, NoPrepared: true})
	for range 2 {
		steps := append(l.extended("SELECT body FROM notes WHERE id = $1", "2"), l.extended("SELECT id FROM notes WHERE body = $1", "a")...)
		l.want(proxy.Exchange{Steps: steps, Commit: true}, proxy.Idle,
			"ParseComplete", "params [23]", "columns body:25:0", "BindComplete", "columns body:25:0", "row b", "done SELECT 1",
			"ParseComplete", "params [25]", "columns id:23:0", "BindComplete", "columns id:23:0", "row 1", "done SELECT 1")
	}
	twice := l.extended("SELECT body FROM notes WHERE id = $1", "1")
	l.want(proxy.Exchange{Steps: append(twice[:2:2], l.extended("SELECT body FROM notes WHERE id = $1", "1")...), Commit: true}, proxy.Idle,
		"ParseComplete", "params [23]", "columns body:25:0", "ParseComplete", "params [23]", "columns body:25:0", "BindComplete", "columns body:25:0", "row a", "done SELECT 1")
}

// Ensure a COPY is told done with the rows that were inserted: a trigger can leave some out.
func TestLinkCopied(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.exec(`CREATE FUNCTION no_fives() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN CASE WHEN NEW.id % 5 = 0 THEN NULL ELSE NEW END; END';
CREATE TRIGGER no_fives BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION no_fives()`)
	x := proxy.Exchange{Commit: true, Inserted: 9} // of a run that failed
	for _, id := range []string{"70", "71", "72", "75"} {
		row := l.simple("INSERT INTO notes (id) VALUES (" + id + ")")
		row.Verb = proxy.Quiet
		x.Steps = append(x.Steps, row)
	}
	x.Steps = append(x.Steps, l.simple("INSERT INTO notes (id) VALUES (73)"), proxy.Step{Verb: proxy.Copied, Before: 40})
	if got, state, err := l.run(x); got != "done INSERT 0 1\ndone COPY 42" || state != proxy.Idle || err != nil {
		t.Errorf("%s %c %v", got, state, err)
	}
}
