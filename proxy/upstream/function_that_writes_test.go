package upstream

import (
	"bytes"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

const callsSchema = `CREATE TABLE calls (n int);
CREATE FUNCTION count_call() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO public.calls VALUES (1) RETURNING n';
CREATE FUNCTION plus(text, text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO public.calls VALUES (1) RETURNING $1';
CREATE OPERATOR public.+ (LEFTARG = text, RIGHTARG = text, FUNCTION = public.plus);
INSERT INTO notes VALUES ('mine', 7, 'b')`

// callsPolicy, with oneRow or anyRows behind it, allows the two functions that write.
const callsPolicy = `{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: test}, statement: {kinds: [select]}, scope: {column: server_id, mode: inject},
tables: {notes: {scoped: true}}, functions: {allow: [public.count_call, public.plus]}, limits: {statementTimeout: 2s, maxRows: `

const oneRow, anyRows = "1, maxResultBytes: none}}", "none, maxResultBytes: none}}"

// Ensure a SELECT whose function writes leaves nothing behind where its result is refused: it is not committed before that is known.
func TestFunctionThatWrites(t *testing.T) {
	const counts = "SELECT count_call(), id FROM notes"
	of := func(l *linked, steps ...proxy.Step) error {
		_, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true})
		return err
	}
	flushed := func(l *linked, steps ...proxy.Step) {
		if got, _, err := l.run(proxy.Exchange{Steps: steps}); err != nil {
			t.Fatal(got, err)
		}
	}
	for name, run := range map[string]func(l *linked) error{
		"simple":   func(l *linked) error { return of(l, l.simple(counts)) },
		"extended": func(l *linked) error { return of(l, l.extended(counts)...) },
		"operator": func(l *linked) error { return of(l, l.simple("SELECT body + body, id FROM notes")) },
		"copied":   func(l *linked) error { return of(l, l.simple("COPY (SELECT count_call(), id FROM notes) TO STDOUT")) },
		"cursor": func(l *linked) error {
			_, _, err := l.run(proxy.Exchange{Begin: l.begin("BEGIN"), Commit: true, Steps: []proxy.Step{l.simple("DECLARE c CURSOR FOR " + counts), l.simple("FETCH ALL c"), l.simple("COMMIT")}})
			return err
		},
		"before the refused one": func(l *linked) error { return of(l, l.simple("SELECT count_call()"), l.simple("SELECT id FROM notes")) },
		"in an exchange before it": func(l *linked) error {
			flushed(l, l.extended("SELECT count_call()")...)
			return of(l, l.extended("SELECT id FROM notes")...)
		},
		"in a message before it": func(l *linked) error {
			flushed(l, l.simple("SELECT count_call()"))
			return of(l, l.simple("SELECT id FROM notes"))
		},
		"rest": func(l *linked) error {
			_, err := l.pool.Query(t.Context(), "", l.bound(l.approve(counts)), Encoding{}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := link(t, Config{MaxConns: 2})
			l.exec(callsSchema)
			l.decidesBy(callsPolicy + oneRow)
			if err := run(l); err == nil || proxy.AsError(err).Code != proxy.ResultTooLarge {
				t.Errorf("%v", err)
			}
			l.noCalls()
		})
	}
}

// noCalls fails where a function that writes has left something behind.
func (l *linked) noCalls() {
	l.t.Helper()
	if n := l.one("SELECT count(*) FROM calls"); n != "0" {
		l.t.Errorf("%s calls are committed", n)
	}
}

// Ensure the same where the table was altered since its result was described.
func TestFunctionThatWritesOnAlteredTable(t *testing.T) {
	const counts = "SELECT count_call(), id FROM notes WHERE body = 'a'"
	begun := func(t *testing.T) *linked {
		l := link(t, Config{MaxConns: 2})
		l.exec(callsSchema)
		l.decidesBy(callsPolicy + anyRows)
		return l
	}
	t.Run("prepared", func(t *testing.T) {
		l := begun(t)
		steps := l.extended(counts)
		l.describe(steps)
		l.exec("ALTER TABLE notes ALTER id TYPE bigint")
		l.takeOne() // which the client had
		if got, _, err := l.run(proxy.Exchange{Steps: steps[2:], Commit: true}); sqlStateOf(err) != "0A000" {
			t.Errorf("%s %v", got, err)
		}
		l.noCalls()
	})
	t.Run("rest", func(t *testing.T) {
		l := begun(t)
		b := l.bound(l.approve(counts))
		if _, err := l.pool.Query(t.Context(), "", b, Encoding{}, nil); err != nil {
			t.Fatal(err)
		}
		l.exec("ALTER TABLE notes ALTER id TYPE bigint; TRUNCATE calls")
		l.pool.replace() // another connection, which does not know it
		if _, err := l.pool.Query(t.Context(), "", b, Encoding{}, nil); err == nil {
			t.Error("it ran on the altered table")
		}
		l.noCalls()
	})
}

// Ensure a SELECT whose function may have written is not told as undone where nothing is heard of its end.
func TestFunctionThatWritesIsLost(t *testing.T) {
	for name, run := range map[string]func(l *linked, b policy.Bound) error{
		"simple": func(l *linked, b policy.Bound) error {
			_, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Simple, Bound: b}}, Commit: true})
			return err
		},
		"rest": func(l *linked, b policy.Bound) error {
			_, err := l.pool.Query(t.Context(), "", b, Encoding{}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, r, admin := relayed(t)
			if _, err := admin.Exec(t.Context(), callsSchema); err != nil {
				t.Fatal(err)
			}
			l.decidesBy(callsPolicy + anyRows)
			b := l.bound(l.approve("SELECT count_call()"))
			if err := run(l, b); err != nil {
				t.Fatal(err)
			}
			r.Watch.Store(new(func(p pgtest.Part) bool { return !p.Answer || !bytes.Contains(p.Bytes, []byte("Z\x00\x00\x00\x05I")) })) // ReadyForQuery
			if err := run(l, b); sqlStateOf(err) != "08007" {
				t.Errorf("%v", err)
			}
		})
	}
}
