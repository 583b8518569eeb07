package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
)

const point = "SELECT id, content FROM messages WHERE id = $1"

func TestGreeting(t *testing.T) {
	w := sit(t)
	w.is(w.answers(), "server_version=15.4 session_authorization="+ownID+" server_encoding=UTF8 is_superuser=off integer_datetimes=on "+
		"in_hot_standby=off application_name= client_encoding=UTF8 DateStyle=ISO, YMD TimeZone=UTC IntervalStyle=postgres "+
		"standard_conforming_strings=on default_transaction_read_only=off key(7) I")
	w.is(w.link.did(), "")
}

func TestSimple(t *testing.T) {
	w := greeted(t)
	w.is(w.query("SELECT id FROM messages"), "columns() row() <SELECT 1> I")
	w.is(w.link.did(), "simple [] sync")
	w.is(w.query(""), "empty I")
	w.is(w.query(" ; ; -- nothing"), "empty I")
	w.is(w.query("SELECT id FROM messages;SELECT id FROM files; "), "columns() row() <SELECT 1> columns() row() <SELECT 1> I")
	w.is(w.query("/* a */; SELECT id FROM messages; -- b\n;"), "columns() row() <SELECT 1> I")
	w.is(w.query("/* a */; -- b\n;"), "empty I")
	w.is(w.query(strings.Repeat("SELECT 1;", maxParts+1)), "ERROR 54000 I")
	for _, end := range []string{"", ";", " ; ", "; -- that is all", ";; /* and nothing */;"} {
		if got := w.query(strings.Repeat("COMMIT;", maxParts-1) + "COMMIT" + end); strings.Contains(got, "ERROR") || strings.Count(got, "<COMMIT>") != maxParts {
			t.Errorf("%q: %d statements ran", end, strings.Count(got, "<COMMIT>"))
		}
	}
	w.is(w.query(strings.Repeat("COMMIT;", maxParts)+";COMMIT"), "ERROR 54000 I")
	w.is(w.query("SELECT 1 FORM x"), "ERROR 42601@15 I")
	w.link.did()
	w.is(w.query("SELECT id FROM messages; SELECT 1 FORM x"), "ERROR 42601@40 I")
	w.is(w.link.did(), "")
	w.is(w.query("SELECT id FROM messages; SELECT 1 FROM secrets"), "columns() row() <SELECT 1> ERROR 42501@40 I")
	w.is(w.link.did(), "simple []; rolled back")
	if n := w.tally.of("rejected table_not_allowed wire"); n != 1 {
		t.Errorf("%d rejected", n)
	}
}

func TestExtended(t *testing.T) {
	w := greeted(t)
	w.is(w.pipe(step(point, "m1")...), "parsed bound row() <SELECT 1> I")
	w.is(w.link.did(), `parse bind ["m1"] execute sync`)
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}), "parsed params[] columns() I")
	w.is(w.link.did(), "parse describe sync")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("m2")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}), "bound columns() row() <SELECT 1> I")
	w.is(w.link.did(), `bind ["m2"] describeportal execute sync`)
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: point}), "ERROR 42P05 I")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s"}), "ERROR 08P01 I")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "t"}), "ERROR 26000 I")
	w.is(w.pipe(&pgproto3.Execute{Portal: "p"}), "ERROR 34000 I")
	w.is(w.pipe(&pgproto3.Execute{}), "ERROR 34000 I")
	w.is(w.pipe(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Close{ObjectType: 'S', Name: "s"}), "closed closed I")
	w.is(w.pipe(&pgproto3.Describe{ObjectType: 'S', Name: "s"}), "ERROR 26000 I")
	w.is(w.pipe(step("")...), "parsed bound empty I")
	w.is(w.pipe(), "I")
}

// What comes behind an error is left out up to the Sync, and what ran before it is undone.
func TestSkipsToSync(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = pgError("22012", "division by zero")
	w.send(slices.Concat(step("SELECT id FROM messages"), step(point, "x"), step("SELECT id FROM files"), []pgproto3.FrontendMessage{&pgproto3.Sync{}},
		step("SELECT id FROM files"), []pgproto3.FrontendMessage{&pgproto3.Sync{}})...)
	w.is(w.until(2), "parsed bound row() <SELECT 1> ERROR 22012 I parsed bound row() <SELECT 1> I")
	w.is(w.pipe(slices.Concat(step("SELECT id FROM messages"), step("SELECT 1 FROM secrets"), step("SELECT id FROM files"))...),
		"parsed bound row() <SELECT 1> ERROR 42501@15 I")
}

// A statement whose preparing failed, or came behind what failed, is not there.
func TestFailedParseLeavesNothing(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = pgError("42804", "no")
	w.is(w.pipe(&pgproto3.Parse{Name: "a", Query: "SELECT id FROM messages"}, &pgproto3.Parse{Name: "b", Query: point}, &pgproto3.Parse{Name: "c", Query: "SELECT id FROM files"}), "parsed ERROR 42804 I")
	delete(w.link.fails, "content")
	w.is(w.pipe(&pgproto3.Parse{Name: "b", Query: point}, &pgproto3.Parse{Name: "c", Query: point}), "parsed parsed I")
	w.is(w.pipe(&pgproto3.Parse{Name: "a", Query: point}), "ERROR 42P05 I")
}

// What is no fault of the client's is in the log, with what the client is not told. A statement
// that took too long is the client's, though how it was ended is the cause.
func TestCausesAreLogged(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the database is away", Cause: errors.New("no route to host")}
	w.link.fails["files"] = pgError("22012", "division by zero")
	w.link.fails["end_users"] = &proxy.Error{Code: proxy.StatementTimeout, Message: "it took too long", SQLState: "57014", Cause: errors.New("canceling statement")}
	w.is(w.query("SELECT id FROM files"), "ERROR 22012 I")
	w.is(w.query("SELECT id FROM end_users"), "ERROR 57014 I")
	if log := w.log.String(); strings.Contains(log, "level=WARN") || strings.Contains(log, "canceling") {
		t.Errorf("a fault of the client's is in the log: %s", log)
	}
	w.is(w.query("SELECT content FROM messages"), "ERROR 08006 I")
	for _, part := range []string{"level=WARN", "server=" + ownID, "code=upstream_unavailable", "policy=inject", "fingerprint=", "no route to host"} {
		if log := w.log.String(); !strings.Contains(log, part) {
			t.Errorf("%s is not in the log: %s", part, log)
		}
	}
}

func TestFlush(t *testing.T) {
	w := greeted(t)
	w.send(append(step(point, "x"), &pgproto3.Flush{})...)
	for range 4 {
		if _, err := w.front.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	w.is(w.link.did(), `parse bind ["x"] execute`)
	w.is(w.pipe(), "I")
	w.is(w.link.did(), "sync")
}
