package upstream

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a change is not committed where a result behind it is refused, which its client takes
// for the end of the transaction.
func TestLinkCommitBeforeRefused(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 1", 1))
	insert, read := l.simple("INSERT INTO notes (id) VALUES (50)"), l.simple("SELECT id FROM notes")
	for name, all := range map[string][]proxy.Exchange{
		"by itself":       {{Steps: []proxy.Step{insert, read}, Commit: true}},
		"with its COMMIT": {{Begin: l.begin("BEGIN"), Steps: []proxy.Step{insert, read, l.simple("COMMIT")}, Commit: true}},
		"in two":          {{Begin: l.begin("BEGIN"), Steps: []proxy.Step{insert}, Commit: true}, {Steps: []proxy.Step{read, l.simple("COMMIT")}, Commit: true}},
	} {
		var state proxy.State
		var err error
		for _, x := range all {
			_, state, err = l.run(x)
		}
		if refusal := proxy.AsError(err); refusal.Code != proxy.ResultTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		l.link.Rollback()
		if n := l.one("SELECT count(*) FROM notes WHERE id = 50"); n != "0" {
			t.Errorf("%s: %s rows are there, state %c", name, n, state)
		}
		l.exec("DELETE FROM notes WHERE id = 50")
	}
}

// Ensure a transaction whose end comes in one exchange with a result that is refused has failed for its client, as it would have
// for Postgres, and is over for the database.
func TestRefusedBeforeTheEnd(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 1", 1))
	const insert, read = "INSERT INTO notes (id) VALUES (60)", "SELECT id FROM notes"
	for _, texts := range [][]string{
		{read, "COMMIT"}, {read, "ROLLBACK"}, {read, "COMMIT AND CHAIN"}, {read, "ROLLBACK AND CHAIN"}, {"COPY (" + read + ") TO STDOUT", "ROLLBACK"},
		{insert, read, "ROLLBACK"}, {"SAVEPOINT s", read, "ROLLBACK TO s", "COMMIT"}, {"SAVEPOINT s", read, "ROLLBACK TO s"},
		{"DECLARE c CURSOR FOR " + read, "FETCH 2 c", "COMMIT"}, {insert, "DECLARE c CURSOR FOR " + read, "FETCH c", "FETCH c", "COMMIT"},
		{"SAVEPOINT s", "", insert, read, "SAVEPOINT s"}, {"SAVEPOINT s", insert, read, "RELEASE s"}, {"SAVEPOINT s", insert, "SAVEPOINT t", read, "ROLLBACK TO t"},
		{insert, "DECLARE c CURSOR FOR " + read, "", "FETCH 2 c", "COMMIT"}, {"COPY notes TO STDOUT", "COMMIT"}, {insert, "", "COPY notes TO STDOUT", "COMMIT"},
	} {
		x := proxy.Exchange{Begin: l.begin("BEGIN"), Commit: true}
		for _, text := range texts {
			if text != "" {
				x.Steps = append(x.Steps, l.simple(text))
				continue
			}
			if got, state, err := l.run(x); state != proxy.Open || err != nil {
				t.Fatalf("%q: %s %c %v", texts, got, state, err)
			}
			x = proxy.Exchange{Commit: true}
		}
		if got, state, err := l.run(x); proxy.AsError(err).Code != proxy.ResultTooLarge || state != proxy.Failed {
			t.Errorf("%q: %s %c %v", texts, got, state, err)
		}
		if got, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple(insert)}, Commit: true}); sqlStateOf(err) != "25P02" || state != proxy.Failed {
			t.Errorf("%q, and then: %s %c %v", texts, got, state, err)
		}
		if slices.Contains(texts, "SAVEPOINT s") { // the first, of whatever comes behind the refusal
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK TO s")}, Commit: true}, proxy.Open, "done ROLLBACK")
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
		} else {
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK")}, Commit: true}, proxy.Idle, "done ROLLBACK")
		}
		if n := l.one("SELECT count(*) FROM notes WHERE id = 60"); n != "0" {
			t.Fatalf("%q: %s rows are there", texts, n)
		}
	}
}

// Ensure a portal that was bound before a refused result stays as it was: behind an error nothing is read of it, and it is not closed.
func TestRefusedBeforeAPortal(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 3", 1))
	l.exec("INSERT INTO notes VALUES ('mine', 3, 'c'), ('mine', 4, 'd')")
	portal := func(name, text string) []proxy.Step { // Parse, Bind and Execute
		steps := l.extended(text)
		steps[2].Portal, steps[4].Portal = name, name
		return []proxy.Step{steps[0], steps[2], steps[4]}
	}
	save, undo, read, other := portal("s", "SAVEPOINT s"), portal("u", "ROLLBACK TO s"), portal("r", "SELECT id FROM notes"), portal("o", "SELECT 1 FROM notes")
	for _, name := range []string{"", "p"} {
		p := portal(name, "SELECT id FROM notes WHERE id < 4 ORDER BY id")
		p[2].Most = 1
		begun := slices.Concat(p, save)
		for i, c := range []struct{ before, refused []proxy.Step }{
			{begun, slices.Concat(read, p[2:])},
			{begun, slices.Concat(read, []proxy.Step{{Verb: proxy.ClosePortal, Portal: name}})},
			{begun, slices.Concat(read, other[:2], p[2:])},
			{p[:2], slices.Concat(p[2:], save, read, p[2:])},
			{nil, slices.Concat(begun, read, p[2:])},
			{begun, slices.Concat(read, portal("", "SELECT 1 FROM notes"))},
		} {
			if got, state, err := l.run(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: c.before, Commit: true}); state != proxy.Open || err != nil {
				t.Fatalf("%d: %s %c %v", i, got, state, err)
			}
			if got, state, err := l.run(proxy.Exchange{Steps: c.refused, Commit: true}); proxy.AsError(err).Code != proxy.ResultTooLarge || state != proxy.Failed {
				t.Fatalf("%d: %s %c %v", i, got, state, err)
			}
			l.want(proxy.Exchange{Steps: undo, Commit: true}, proxy.Open, "ParseComplete", "BindComplete", "done ROLLBACK")
			l.want(proxy.Exchange{Steps: p[2:], Commit: true}, proxy.Open, "row 2", "PortalSuspended")
			l.link.Rollback()
		}
	}
}

// Ensure the same where a result is refused because a table was altered.
func TestAlteredBeforeTheEnd(t *testing.T) {
	for _, end := range []string{"COMMIT", "ROLLBACK", "SAVEPOINT s"} {
		l := link(t, Config{MaxConns: 2})
		steps := l.extended("SELECT id FROM notes")
		l.describe(steps)
		l.exec("ALTER TABLE notes ALTER id TYPE bigint")
		l.takeOne() // which the client had
		x := proxy.Exchange{Begin: l.begin("BEGIN"), Steps: append(steps[2:], l.simple(end)), Commit: true}
		if got, state, err := l.run(x); sqlStateOf(err) != "0A000" || state != proxy.Failed {
			t.Errorf("%s: %s %c %v", end, got, state, err)
		}
	}
}
