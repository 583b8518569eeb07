package upstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// declared opens a transaction with so many cursors, from one number on.
func (l *linked) declared(from, n int, query string) error {
	l.t.Helper()
	x := proxy.Exchange{}
	if from == 0 {
		x.Begin = l.begin("BEGIN")
	}
	for i := range n {
		x.Steps = append(x.Steps, l.simple(fmt.Sprintf("DECLARE c%d CURSOR FOR %s", from+i, query)))
	}
	_, _, err := l.run(x)
	return err
}

// Ensure a transaction has so many cursors at a time, and so large ones, and no more.
func TestCursorsAreBounded(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	refused := func(err error) bool {
		var told *proxy.Error
		return errors.As(err, &told) && told.SQLState == "54000"
	}
	if err := l.declared(0, maxCursors, "SELECT id FROM notes"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("CLOSE c7")}}); err != nil {
		t.Fatal(err)
	}
	if err := l.declared(maxCursors, 1, "SELECT id FROM notes"); err != nil {
		t.Error("one was closed:", err)
	}
	if err := l.declared(maxCursors+1, 1, "SELECT id FROM notes"); !refused(err) {
		t.Error("one too many:", err)
	}
	l.link.Rollback()
	if err := l.declared(0, 1, "SELECT id FROM notes"); err != nil {
		t.Error("in another transaction:", err)
	}
	l.link.Rollback()
	if err := l.declared(0, maxCursors, joins(50, 0)); !refused(err) {
		t.Error("large ones:", err)
	}
}

// Ensure what a backend keeps of a query counts as well where it is a cursor's, or is copied out.
func TestCursorsMakeRecordTypes(t *testing.T) {
	for _, text := range []string{"DECLARE c CURSOR FOR %s", "COPY (%s) TO STDOUT"} {
		l := link(t, Config{MaxConns: 1})
		x := proxy.Exchange{Begin: l.begin("BEGIN")}
		for i := range 60 {
			query := fmt.Sprintf("SELECT s FROM (SELECT 1 AS a%d%s) AS s", i, strings.Repeat(", 1", 900))
			x.Steps = append(x.Steps, l.simple(fmt.Sprintf(text, query)))
			if strings.HasPrefix(text, "DECLARE") {
				x.Steps = append(x.Steps, l.simple("CLOSE c"))
			}
		}
		if _, _, err := l.run(x); err != nil {
			t.Fatal(err)
		}
		l.link.Rollback()
		if n := l.rec.class(replacedRecords); n != 1 {
			t.Errorf("%s: replaced %d times", text, n)
		}
	}
}

// Ensure a command that holds a query is filled in its server's turn: that parses as much as a decision does, each time.
func TestFillsInTurn(t *testing.T) {
	places := proxy.NewTurns(1, 100)
	l := link(t, Config{MaxConns: 1, Parsing: places})
	for _, text := range []string{"COPY (SELECT id FROM notes) TO STDOUT", "DECLARE c CURSOR FOR SELECT id FROM notes WHERE id > 1"} {
		x := proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(text)}}
		other := proxy.Account{Server: "other"}
		if err := places.Take(t.Context(), other, 0); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.run(x); proxy.AsError(err).Code != proxy.Overloaded {
			t.Errorf("%s, with no place: %v", text, err)
		}
		l.link.Rollback()
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
		places.Give(other)
		x.Steps = []proxy.Step{l.simple(text)}
		if _, _, err := l.run(x); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		l.link.Rollback()
		if err := places.Take(t.Context(), other, 0); err != nil {
			t.Errorf("%s keeps its place: %v", text, err)
		}
		places.Give(other)
	}
}

// Ensure a CLOSE that was bound and never ran lets nobody declare more cursors.
func TestUnexecutedCloseFreesNoCursor(t *testing.T) {
	for _, text := range []string{"CLOSE ALL", "CLOSE c0"} {
		l := link(t, Config{MaxConns: 1})
		if err := l.declared(0, maxCursors, "SELECT id FROM notes"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.run(proxy.Exchange{Steps: l.extended(text)[:3]}); err != nil {
			t.Fatal(text, err)
		}
		if err := l.declared(maxCursors, 1, "SELECT id FROM notes"); sqlStateOf(err) != "54000" {
			t.Error(text, "without Execute, then one more:", err)
		}
	}
}

// Ensure cursors count for the transaction that declared them, chained or not, and those of one exchange
// count when they are closed in it.
func TestCursorsCountForTheirTransaction(t *testing.T) {
	for _, end := range []string{"COMMIT AND CHAIN", "ROLLBACK AND CHAIN"} {
		l := link(t, Config{MaxConns: 1})
		x := proxy.Exchange{Begin: l.begin("BEGIN")}
		for range 2 {
			for i := range maxCursors {
				x.Steps = append(x.Steps, l.simple(fmt.Sprintf("DECLARE c%d CURSOR FOR SELECT id FROM notes", i)))
			}
			x.Steps = append(x.Steps, l.simple(end))
		}
		for i := range maxCursors + 1 {
			x.Steps = append(x.Steps, l.simple(fmt.Sprintf("DECLARE d%d CURSOR FOR SELECT id FROM notes", i)), l.simple(fmt.Sprintf("CLOSE d%d", i)))
		}
		if _, _, err := l.run(x); err != nil {
			t.Error(end, err)
		}
		if err := l.declared(1, maxCursors, "SELECT id FROM notes"); err != nil {
			t.Error(end, "then as many as may be:", err)
		}
		if err := l.declared(maxCursors+1, 1, "SELECT id FROM notes"); sqlStateOf(err) != "54000" {
			t.Error(end, "then one more:", err)
		}
	}
}

// Ensure the cursors that Postgres closes at a ROLLBACK TO count no more, and all others do.
func TestRollbackToFreesCursors(t *testing.T) {
	const half = maxCursors / 2
	l := link(t, Config{MaxConns: 1})
	do := func(texts ...string) {
		t.Helper()
		var x proxy.Exchange
		for _, text := range texts {
			x.Steps = append(x.Steps, l.simple(text))
		}
		if _, _, err := l.run(x); err != nil {
			t.Fatal(texts, err)
		}
	}
	declared := func(from, n int) {
		t.Helper()
		if err := l.declared(from, n, "SELECT id FROM notes"); err != nil {
			t.Fatal(err)
		}
	}
	full := func() {
		t.Helper()
		if err := l.declared(9999, 1, "SELECT id FROM notes"); sqlStateOf(err) != "54000" {
			t.Error("one too many:", err)
		}
	}
	declared(0, half)
	do("SAVEPOINT a")
	for i, texts := range [][]string{
		{"ROLLBACK TO a"},
		{"ROLLBACK TO a"}, // the savepoint is still there
		{"SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "ROLLBACK TO a"}, // of one name the last one counts
		{"SAVEPOINT b", "RELEASE b", "ROLLBACK TO a"},                  // what is released is its parent's
		{"SAVEPOINT b", "RELEASE a"},                                   // with all that came after it
	} {
		declared(half*(i+1), half)
		do(texts...)
	}
	full()
	l.link.Rollback()
	declared(0, half)
	do("SAVEPOINT c", "CLOSE ALL", "ROLLBACK TO c") // a CLOSE is not undone
	declared(1, maxCursors)
	do("COMMIT AND CHAIN", "SAVEPOINT c")
	declared(1, maxCursors)
	do("ROLLBACK TO c")
	declared(1, maxCursors)
	full()
}
