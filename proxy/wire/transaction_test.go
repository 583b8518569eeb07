package wire

import (
	"fmt"
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
		for i := range mostSavepoints/100 - 1 {
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
		for range mostSavepointsMade / 50 {
			if got := w.query(strings.Repeat("SAVEPOINT a; RELEASE a;", 50)); strings.Contains(got, "ERROR") {
				t.Fatal(got)
			}
		}
		w.is(w.query("SAVEPOINT a"), "ERROR 54000 E")
		w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	}
}

// A command that is prepared costs as often as it is run, and its Parse counts for the first.
func TestPreparedCommandsCost(t *testing.T) {
	w := greeted(t)
	paid := func() int {
		w.gate.mu.Lock()
		defer w.gate.mu.Unlock()
		n := w.gate.admitted + w.gate.paced
		w.gate.admitted, w.gate.paced = 0, 0
		return n
	}
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
