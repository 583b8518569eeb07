package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Nothing but the begin and the end of a transaction is free.
func TestFree(t *testing.T) {
	for text, want := range map[string]bool{
		"BEGIN": true, "begin;": true, "start transaction": true, "COMMIT TRANSACTION AND NO CHAIN;": true,
		"BEGIN READ ONLY": false, "BeGIN": false, "BEGIN  WORK": false, "BEGIN\tWORK": false, "COMMIT,WORK": false, "COMMIT \n ;": false,
		"COMMIT": true, "end work": true, "ROLLBACK AND NO CHAIN ;": true, "abort": true, "COMMIT\n": true,
		"begin1 x": false, "beginning": false, "BEGIN; SELECT 1": false, "ROLLBACK TO a": false, "rollback to savepoint a": false,
		"end x": false, "commit prepared 'a'": false, "begin read a": false, "": false, " ": false, "SAVEPOINT a": false,
		"BEGIN" + strings.Repeat(" read", 20): false,
	} {
		if free(text) != want {
			t.Errorf("%q is free: %t", text, !want)
		}
	}
}

// A transaction has only so many savepoints; those that are released are none.
func TestSavepointsAreBounded(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	for range 2 {
		w.is(w.query("SAVEPOINT first"), "<SAVEPOINT> T")
		for i := range maxSavepoints/100 - 1 {
			if got := w.query(strings.Repeat(fmt.Sprintf("SAVEPOINT s%d;", i), 100)); strings.Contains(got, "ERROR") {
				t.Fatal(got)
			}
		}
		w.query(strings.Repeat("SAVEPOINT a;", 99))
		w.is(w.query("SAVEPOINT more"), "ERROR 54000 E")
		w.is(w.query("ROLLBACK TO first"), "<ROLLBACK> T")
		w.is(w.query("RELEASE first"), "<RELEASE> T")
	}
}

// A transaction makes only so many savepoints, released ones included; the next transaction makes its own.
func TestSavepointsOfATransactionAreBounded(t *testing.T) {
	w := greeted(t)
	for range 2 {
		w.query("BEGIN")
		for range maxSavepointsMade / 50 {
			if got := w.query(strings.Repeat("SAVEPOINT a; RELEASE a;", 50)); strings.Contains(got, "ERROR") {
				t.Fatal(got)
			}
		}
		w.is(w.query("SAVEPOINT a"), "ERROR 54000 E")
		w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
		w.query("BEGIN; SAVEPOINT a")
		for range (maxSavepointsMade - 1) / 50 {
			if got := w.query(strings.Repeat("ROLLBACK TO a;", 50)); strings.Contains(got, "ERROR") {
				t.Fatal(got)
			}
		}
		w.query(strings.Repeat("ROLLBACK TO a;", 49))
		w.is(w.query("ROLLBACK TO a"), "ERROR 54000 E")
		w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	}
}

// paid is what the client's statements have cost since it was asked last.
func (w *sitting) paid() int {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	n := w.gate.admitted + w.gate.paced
	w.gate.admitted, w.gate.paced = 0, 0
	return n
}

// Each statement of a pipeline costs one, in whatever order its messages come, and so does each run more.
func TestPipelinedStatementsCost(t *testing.T) {
	w := greeted(t)
	parse := func(name, text string) pgproto3.FrontendMessage { return &pgproto3.Parse{Name: name, Query: text} }
	run := func(name string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: name}, &pgproto3.Execute{}}
	}
	const a, b, version = "SELECT id FROM messages", "SELECT content FROM messages", "SELECT version()"
	for name, c := range map[string]struct {
		messages []pgproto3.FrontendMessage
		want     int
	}{
		"two, parsed first":        {slices.Concat([]pgproto3.FrontendMessage{parse("a", a), parse("b", b)}, run("a"), run("b")), 2},
		"two, one after the other": {slices.Concat([]pgproto3.FrontendMessage{parse("a", a)}, run("a"), []pgproto3.FrontendMessage{parse("b", b)}, run("b")), 2},
		"one, run three times":     {slices.Concat([]pgproto3.FrontendMessage{parse("a", a)}, run("a"), run("a"), run("a")), 3},
		"described":                {slices.Concat([]pgproto3.FrontendMessage{parse("a", a), &pgproto3.Describe{ObjectType: 'S', Name: "a"}}, run("a")), 1},
		"an answer":                {slices.Concat([]pgproto3.FrontendMessage{parse("a", version)}, run("a"), run("a")), 2},
	} {
		w.paid()
		said := w.pipe(c.messages...)
		if n := w.paid(); n != c.want {
			t.Errorf("%s cost %d, want %d: %s", name, n, c.want, said)
		}
		if name == "described" { // and by messages of its own, which need a place again
			w.paid()
			w.pipe(append([]pgproto3.FrontendMessage{&pgproto3.Describe{ObjectType: 'S', Name: "a"}}, run("a")...)...)
			if n := w.paid(); n != 1 {
				t.Errorf("described and run costs %d, want 1", n)
			}
		}
		for _, of := range []string{"a", "b"} {
			w.pipe(&pgproto3.Close{ObjectType: 'S', Name: of})
		}
	}
}

// What is answered here costs as much as what is not: a message may hold a thousand of it.
func TestAnswersCost(t *testing.T) {
	w := greeted(t)
	for text, want := range map[string]int{"SELECT version()": 1, strings.Repeat("SELECT version();", 50): 50, "SELECT version(); SELECT id FROM messages": 2} {
		w.paid()
		said := w.query(text)
		if n := w.paid(); n != want {
			t.Errorf("%.40s cost %d, want %d: %s", text, n, want, said)
		}
	}
}

// A command that is prepared costs as often as it is run, and its Parse counts for the first.
func TestPreparedCommandsCost(t *testing.T) {
	w := greeted(t)
	paid := w.paid
	run := []pgproto3.FrontendMessage{&pgproto3.Bind{}, &pgproto3.Execute{}}
	for text, want := range map[string]int{"SET TimeZone = 'UTC'": 3, "SHOW timezone": 3, "BEGIN": 0, "ROLLBACK": 0} {
		w.pipe(append([]pgproto3.FrontendMessage{&pgproto3.Parse{Query: text}}, run...)...)
		w.pipe(run...)
		w.pipe(run...)
		if n := paid(); n != want {
			t.Errorf("%s cost %d, want %d", text, n, want)
		}
	}
}

// Each 20th thing that Postgres does once more about a portal or a statement costs; what is paid for already pays for none of them.
func TestRepetitionsCost(t *testing.T) {
	execute, portal := &pgproto3.Execute{Portal: "p"}, &pgproto3.Describe{ObjectType: 'P', Name: "p"}
	bind := &pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p", Parameters: [][]byte{[]byte("x")}}
	for name, c := range map[string]struct {
		before, once pgproto3.FrontendMessage
		costs        int
	}{
		"execute":               {execute, execute, 5},
		"describe a portal":     {&pgproto3.Flush{}, portal, 5},
		"describe a statement":  {execute, &pgproto3.Describe{ObjectType: 'S', Name: "s"}, 0},
		"describe a FETCH":      {execute, &pgproto3.Describe{ObjectType: 'S', Name: "f"}, 5},
		"close":                 {execute, &pgproto3.Close{ObjectType: 'P', Name: "p"}, 0},
		"execute what is local": {execute, &pgproto3.Execute{Portal: "l"}, 0},
	} {
		w := greeted(t)
		w.query("BEGIN")
		w.pipe(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Parse{Name: "f", Query: "FETCH 1 FROM c"}, &pgproto3.Parse{Name: "l", Query: "SHOW timezone"})
		w.pipe(bind, &pgproto3.Bind{PreparedStatement: "l", DestinationPortal: "l"}, &pgproto3.Execute{Portal: "l"}, c.before)
		w.gate.budget = 2 + c.costs
		many := slices.Repeat([]pgproto3.FrontendMessage{c.once}, 100)
		other := *bind
		other.DestinationPortal = ""
		got := w.pipe(append(many, &other)...)
		if left := w.gate.budget; left != 1 || strings.Contains(got, "ERROR") {
			t.Errorf("%s: %d of %d are left: %.300s", name, left, 2+c.costs, got)
		}
		w.gate.budget = 0
		if got := w.pipe(many...); strings.HasSuffix(got, "ERROR 53400 E") != (c.costs > 0) {
			t.Errorf("%s: without a budget %.300s", name, got)
		}
	}
}

// Ensure the gate is told whether the database has a transaction of the client's open: within one no text is refused for the server's share of the work.
func TestGateKnowsOfTransactions(t *testing.T) {
	w := greeted(t)
	n := 0
	within := func(want bool) {
		t.Helper()
		n++
		w.query(fmt.Sprintf("SELECT %d FROM messages", n))
		if w.gate.within != want {
			t.Errorf("text %d: %v", n, w.gate.within)
		}
	}
	within(false)
	w.query("BEGIN")
	within(false) // it is sent with the first statement
	within(true)
	w.pipe(&pgproto3.Parse{Query: "SELECT 0 FROM messages"})
	if !w.gate.within {
		t.Error("Parse: not within")
	}
	w.query("COMMIT")
	within(false)
	w.pipe(&pgproto3.Parse{Query: point}, &pgproto3.Bind{Parameters: [][]byte{[]byte("x")}}, &pgproto3.Execute{}, &pgproto3.Flush{}, &pgproto3.Parse{Query: "SELECT -1 FROM messages"})
	if !w.gate.within {
		t.Error("behind a Flush: not within")
	}
	within(false)
}
