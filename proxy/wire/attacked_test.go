package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Literals of dates, times and intervals get their values when Postgres parses a statement, by
// the settings of then. So what a connection has prepared under a client's settings must not
// run for another, nor for the same one once it has changed them.
func TestPreparedUnderOtherSettings(t *testing.T) {
	const text = "SELECT ('2024-01-01 00:00'::timestamptz AT TIME ZONE 'UTC')::text AS at"
	w, _ := onPostgres(t)
	w.query("SET TimeZone = 'Asia/Tokyo'")
	w.is(w.query(text), "columns(at:25) row(2023-12-31 15:00:00) <SELECT 1> I")
	w.query("RESET TimeZone")
	w.is(w.query(text), "columns(at:25) row(2024-01-01 00:00:00) <SELECT 1> I")
	w.query("SET DateStyle = 'ISO, DMY'")
	w.is(w.query("SELECT '01/02/2024'::date::text AS d"), "columns(d:25) row(2024-02-01) <SELECT 1> I")
	w.query("SET DateStyle = 'ISO, MDY'")
	w.is(w.query("SELECT '01/02/2024'::date::text AS d"), "columns(d:25) row(2024-01-02) <SELECT 1> I")
}

// 'now' is a time when it is parsed: a Query message is parsed each time.
func TestNowIsNow(t *testing.T) {
	w, _ := onPostgres(t)
	before := w.query("SELECT 'now'::timestamptz::text")
	time.Sleep(5 * time.Millisecond)
	if after := w.query("SELECT 'now'::timestamptz::text"); after == before {
		t.Errorf("time stands still: %s", after)
	}
}

// The time that a script takes to be cut grows with its length, not with its square.
func TestScriptOfManyStatements(t *testing.T) {
	w := greeted(t)
	start := time.Now()
	w.send(&pgproto3.Query{String: strings.Repeat(";", 50_000) + "SELECT 1"})
	w.answers()
	if took := time.Since(start); took > time.Second {
		t.Errorf("50 KB took %s", took)
	}
}

// The names of portals are memory of a client's, too.
func TestPortalNamesAreBounded(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	w.pipe(&pgproto3.Parse{Name: "s", Query: "SHOW timezone"})
	name := strings.Repeat("p", 1<<20)
	for i := range 8 {
		if got := w.pipe(&pgproto3.Bind{DestinationPortal: fmt.Sprint(i, name), PreparedStatement: "s"}); strings.Contains(got, "ERROR") {
			return
		}
	}
	t.Error("8 MiB of names were taken")
}

// What is run again and again without a new Parse costs budget each time, whoever does it.
func TestCommandsCostBudget(t *testing.T) {
	w := greeted(t)
	w.pipe(&pgproto3.Parse{Name: "s", Query: "SAVEPOINT a"})
	w.query("BEGIN")
	w.query("SELECT id FROM messages")
	w.gate.mu.Lock()
	w.gate.budget = 10
	w.gate.mu.Unlock()
	for range 50 {
		if got := w.pipe(&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}); strings.Contains(got, "ERROR") {
			return
		}
	}
	t.Error("50 savepoints for a budget of 10")
}

// An error of the protocol's that Postgres finds in a Bind is the client's, not the end of a
// connection.
func TestFaultyBindIsToldAsSuch(t *testing.T) {
	w, _ := onPostgres(t)
	parse := &pgproto3.Parse{Query: "SELECT at FROM notes WHERE at > $1"}
	w.is(w.pipe(parse, &pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{{0, 0, 0, 0}}}), "parsed ERROR 08P01 I")
	w.is(w.pipe(&pgproto3.Parse{Query: "SELECT 1, 2"}, &pgproto3.Bind{ResultFormatCodes: []int16{1, 0, 1}}), "parsed ERROR 08P01 I")
}

// The last timeout that a transaction sets is the one that counts.
func TestTimeoutWithinTransaction(t *testing.T) {
	const long = "SELECT count(*) FROM generate_series(1, %d) AS g(x)"
	w, _ := onPostgres(t)
	w.query("BEGIN")
	w.query("SET LOCAL statement_timeout = '50ms'")
	w.query("SELECT 1")
	w.query("SET LOCAL statement_timeout = 0")
	w.is(w.query(fmt.Sprintf(long, 2_000_000)), "columns(count:20) row(2000000) <SELECT 1> T")
	w.query("SET LOCAL statement_timeout = '50ms'")
	start := time.Now()
	w.is(w.query(fmt.Sprintf(long, 100_000_000)), "columns(count:20) ERROR 57014 E")
	if took := time.Since(start); took > time.Second {
		t.Errorf("50ms were %s", took)
	}
}

// An unnamed portal stays what it is while the session runs statements of its own.
func TestUnnamedPortalStays(t *testing.T) {
	w, _ := onPostgres(t)
	w.query("BEGIN")
	w.pipe(&pgproto3.Parse{Query: "SELECT g FROM generate_series(1, 3) AS g"}, &pgproto3.Parse{Name: "s", Query: "SET LOCAL DateStyle = 'German'"},
		&pgproto3.Bind{}, &pgproto3.Execute{MaxRows: 1})
	w.is(w.pipe(&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{}),
		"bound <SET> row(2) row(3) <SELECT 2> DateStyle=German, DMY T")
}

// TestStrangersWriteFewLines: clients that do not log in write few lines however many come, and who
// does, one each.
func TestStrangersWriteFewLines(t *testing.T) {
	d := openDoor(t, nil)
	for range 60 {
		c := d.dial(t)
		c.say(startupOf(version3, "user", shop))
		_, _ = c.Read(make([]byte, 1))
		c.say(messageOf('p', "nonsense"))
		_, _ = io.ReadAll(c)
		_ = c.Close()
	}
	d.dial(t).ready(shop, shopKey).say(messageOf('X', ""))
	d.logged(t, "outcome=quit")
	d.logged(t, "lines=clients left_out=")
	if of := strings.Count(d.log.String(), "outcome=invalid_request"); of == 0 || of > 40 { // two seconds' at most
		t.Errorf("%d lines of 60 strangers: %s", of, d.log.String())
	}
}
