package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A setting lasts when its transaction does, a local one ends with it, and the client is told
// of those that it follows.
func TestSettings(t *testing.T) {
	w := greeted(t)
	w.is(w.query("SET DateStyle TO german"), "<SET> DateStyle=German, DMY I")
	w.is(w.query("SET DateStyle TO 'iso'"), "<SET> DateStyle=ISO, DMY I")
	w.is(w.query("SET DateStyle TO 'iso, sql'"), "ERROR 22023 I")
	w.is(w.query("SET DateStyle TO SQL, US"), "<SET> DateStyle=SQL, MDY I")
	w.is(w.link.did(), "")
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	w.is(w.link.did(), "[{DateStyle SQL, MDY}] simple [] sync")
	w.is(w.query("RESET DateStyle"), "<RESET> DateStyle=ISO, YMD I")
	w.query(all)
	w.is(w.link.did(), "simple [] sync")

	w.query("BEGIN")
	w.query("SET IntervalStyle = iso_8601")
	w.query("SET LOCAL extra_float_digits = 3")
	w.query(all)
	w.is(w.link.did(), "{BEGIN} [{IntervalStyle iso_8601} {extra_float_digits 3}] simple [] sync")
	w.is(w.query("SET extra_float_digits = 0"), "<SET> T")
	w.query(all)
	w.is(w.link.did(), "[{DateStyle ISO, YMD} {TimeZone UTC} {IntervalStyle iso_8601} {extra_float_digits 0} {lock_timeout 5000}] simple [] sync")
	w.query(all)
	w.is(w.link.did(), "simple [] sync")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> IntervalStyle=postgres I")
	w.is(w.query("SHOW extra_float_digits"), "columns(extra_float_digits:25) row(1) <SHOW> I")
	w.query("BEGIN")
	w.query("SET extra_float_digits = 2")
	w.query("SET LOCAL extra_float_digits = 3")
	w.query("COMMIT")
	w.is(w.query("SHOW extra_float_digits"), "columns(extra_float_digits:25) row(2) <SHOW> I")
	w.is(w.query("SET LOCAL DateStyle = german"), "WARNING 25P01 <SET> I")
	w.is(w.query("SET application_name = 'x'; SELECT 1 FROM secrets"), "<SET> ERROR 42501@43 I")
	w.is(w.query("SHOW application_name"), "columns(application_name:25) row() <SHOW> I")
	w.is(w.query("RESET ALL"), "<RESET> I")
	w.is(w.query("SHOW extra_float_digits"), "columns(extra_float_digits:25) row(1) <SHOW> I")
}

func TestSettingValues(t *testing.T) {
	w := greeted(t)
	for _, c := range [][2]string{
		{"SET client_encoding = 'utf-8'", "<SET> I"},
		{"SET client_encoding = 'latin1'", "ERROR 0A000 I"},
		{"SET NAMES 'UTF8'", "<SET> I"},
		{"SET search_path = public, pg_catalog", "<SET> I"},
		{`SET search_path TO "$user", public`, "<SET> I"},
		{"SET search_path = other", "ERROR 0A000 I"},
		{"SET search_path = ''", "ERROR 0A000 I"},
		{"SET search_path = pg_catalog", "ERROR 0A000 I"},
		{"SET standard_conforming_strings = on", "<SET> I"},
		{"SET standard_conforming_strings = off", "ERROR 0A000 I"},
		{"SET row_security = off", "ERROR 0A000 I"},
		{"SET extra_float_digits = 4", "ERROR 22023 I"},
		{"SET client_min_messages = WARNING", "<SET> I"},
		{"SET client_min_messages = quiet", "ERROR 22023 I"},
		{"SET bytea_output = 'escape'", "ERROR 0A000 I"},
		{"SET lock_timeout = 0", "<SET> I"},
		{"SET work_mem = 1", "ERROR 0A000 I"},
		{"SET synchronous_commit = off", "ERROR 0A000 I"},
		{"SET role = other", "ERROR 0A000 I"},
		{"SET tenantgate.server_id = 'x'", "ERROR 0A000 I"},
		{"RESET tenantgate.server_id", "ERROR 0A000 I"},
		{"SHOW tenantgate.server_id", "ERROR 42704 I"},
		{"SET statement_timeout = '1min'", "<SET> I"},
		{"SHOW statement_timeout", "columns(statement_timeout:25) row(1min) <SHOW> I"},
		{"SET statement_timeout = 1500", "<SET> I"},
		{"SHOW statement_timeout", "columns(statement_timeout:25) row(1500ms) <SHOW> I"},
		{"SET statement_timeout = -1", "ERROR 22023 I"},
		{"SET lock_timeout = '1h'", "<SET> I"},
		{"SHOW lock_timeout", "columns(lock_timeout:25) row(1h) <SHOW> I"},
		{"SET statement_timeout = 'a while'", "ERROR 22023 I"},
		{"SHOW server_version_num", "columns(server_version_num:25) row(150004) <SHOW> I"},
		{"SHOW search_path", `columns(search_path:25) row("$user", public) <SHOW> I`},
		{"DISCARD ALL", "<DISCARD ALL> I"},
		{"SHOW statement_timeout", "columns(statement_timeout:25) row(0) <SHOW> I"},
	} {
		if got := w.query(c[0]); got != c[1] {
			t.Errorf("%s\ngot  %s\nwant %s", c[0], got, c[1])
		}
	}
	w.is(w.link.did(), "")
}

// Postgres judges a time zone before it is taken, so that a bad one does no harm later.
func TestTimeZone(t *testing.T) {
	w := greeted(t)
	w.link.zones = "Mars/Olympus"
	w.is(w.query("SET TimeZone = 'Mars/Olympus'"), "ERROR 22023 I")
	w.is(w.query("SET TimeZone = 'it''s; here'"), "ERROR 22023 I")
	w.link.did()
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	w.is(w.link.did(), "simple [] sync")
	w.is(w.query("SET TIME ZONE 'Europe/Berlin'"), "<SET> TimeZone=Europe/Berlin I")
	w.is(w.link.did(), "[{DateStyle ISO, YMD} {TimeZone Europe/Berlin} {IntervalStyle postgres} {extra_float_digits 1} {lock_timeout 5000}] sync")
	w.query(all)
	w.is(w.link.did(), "[{TimeZone Europe/Berlin}] simple [] sync")
	w.query("BEGIN")
	w.query(all)
	w.is(w.query("SET TimeZone = 'Mars/Olympus'"), "ERROR 22023 E")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.query("SHOW TimeZone"), "columns(TimeZone:25) row(Europe/Berlin) <SHOW> I")
}

// Postgres names the value that it does not take, and so does whoever stands before it.
func TestInvalidValues(t *testing.T) {
	w := greeted(t)
	w.link.zones = "Nowhere"
	for text, want := range map[string]string{
		"SET TimeZone = 'Nowhere'":           `invalid value for parameter "TimeZone": "Nowhere"`,
		"SET TIME ZONE 'no where'":           `invalid value for parameter "TimeZone": "no where"`,
		"SET DateStyle = 'sundays'":          `invalid value for parameter "DateStyle": "sundays"`,
		"SET statement_timeout = 'a while'":  `invalid value for parameter "statement_timeout": "a while"`,
		"SET client_min_messages = 'silent'": `invalid value for parameter "client_min_messages": "silent"`,
	} {
		w.send(&pgproto3.Query{String: text})
		if refused := w.refusal(); refused.Code != "22023" || refused.Message != want || refused.Detail != "invalid_argument" {
			t.Errorf("%s: %+v", text, refused)
		}
	}
}

// Hints are written as Postgres writes them, whoever made them.
func TestHintsAreSentences(t *testing.T) {
	w := greeted(t)
	for text, want := range map[string]string{
		"SELECT pg_sleep(1)":                           "Only functions that the policy lists may be called.",
		"SET synchronous_commit=0":                     "A client can set application_name, DateStyle, TimeZone, IntervalStyle, extra_float_digits, statement_timeout, lock_timeout, idle_in_transaction_session_timeout and client_min_messages.",
		"SHOW Password_encryption":                     "The password is the server's API key: an operator replaces it with tenantgate server rotate-key.",
		"SHOW nothing":                                 "Only the parameters that clients commonly ask for are answered.",
		"SELECT nothing":                               "",
		"PREPARE TRANSACTION 'a'":                      "End the transaction with COMMIT or ROLLBACK.",
		"SET TRANSACTION SNAPSHOT 'a'":                 "Read everything in one REPEATABLE READ transaction.",
		"SET CONSTRAINTS ALL DEFERRED":                 "Each constraint is checked when it was declared to be, which is at COMMIT for one that is INITIALLY DEFERRED.",
		"NOTIFY a":                                     "Its channels would be shared with others; keep in a table what is to be told, and ask for it.",
		"DROP TABLE messages":                          "Ask the operator of the database behind to do it there.",
		"SELECT 1 INTO a":                              "It is done in the database behind, by its operator; a WITH query can replace a temporary table.",
		"CREATE TABLE a (b int)":                       "It is done in the database behind, by its operator; a WITH query can replace a temporary table.",
		"CREATE TEMP TABLE a (b int)":                  "A WITH query can replace a temporary table.",
		"SELECT current_user || 'x'":                   "Write a table or column of that name in double quotes; a Postgres client can ask for it in a statement of its own, as SELECT current_user.",
		"SELECT '" + strings.Repeat("x", 10_240) + "'": "Send long values and long lists as parameters, a list as = ANY with an array, and many rows in several statements.",
	} {
		w.send(&pgproto3.Query{String: text})
		if refused := w.refusal(); refused.Code == "" || refused.Hint != want {
			t.Errorf("%s: %+v", text, refused)
		}
	}
}

// What the start-up message asks for is where RESET goes back to; what Postgres does not
// take ends the session.
func TestStartSettings(t *testing.T) {
	w := greeted(t, asked{"DateStyle", "ISO"}, asked{"TimeZone", "Asia/Tokyo"}, asked{"extra_float_digits", "2"}, asked{"STATEMENT_TIMEOUT", "3s"})
	w.query("SET TimeZone = UTC")
	w.is(w.query("RESET TimeZone"), "<RESET> TimeZone=Asia/Tokyo I")
	w.link.did()
	w.query(all)
	w.is(w.link.did(), "[{DateStyle ISO, YMD} {TimeZone Asia/Tokyo} {IntervalStyle postgres} {extra_float_digits 2} {lock_timeout 5000}] sync; "+
		"[{TimeZone Asia/Tokyo} {extra_float_digits 2}] simple [] sync")
	w.is(w.query("SHOW statement_timeout"), "columns(statement_timeout:25) row(3s) <SHOW> I")

	w = sit(t, asked{"work_mem", "1GB"})
	w.is(w.answers(), "FATAL 0A000 end")

	w = greeted(t, asked{"timezone", "Mars/Olympus"})
	w.link.zones = "Mars/Olympus"
	w.is(w.query(all), "FATAL 22023 end")
}

func TestTimeout(t *testing.T) {
	w := greeted(t)
	w.query("SET statement_timeout = '1.5s'")
	s := settings{}
	v, refusal := (&settings{}).changed(&values{}, "statement_timeout", "1.5s")
	if s.now = v; refusal != nil || s.timeout() != 1500*time.Millisecond {
		t.Errorf("%v %v", refusal, s.timeout())
	}
}

func TestDeallocate(t *testing.T) {
	w := greeted(t)
	w.pipe(&pgproto3.Parse{Name: "s", Query: all})
	w.is(w.query("DEALLOCATE s"), "<DEALLOCATE> I")
	w.is(w.query("DEALLOCATE s"), "ERROR 26000 I")
	w.pipe(&pgproto3.Parse{Name: "s", Query: all})
	w.is(w.query("DEALLOCATE ALL"), "<DEALLOCATE ALL> I")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s"}), "ERROR 26000 I")
	w.pipe(&pgproto3.Parse{Name: "s", Query: all})
	w.is(w.query("DISCARD ALL"), "<DISCARD ALL> I")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s"}), "ERROR 26000 I")
	w.query("BEGIN")
	w.is(w.query("DISCARD ALL"), "ERROR 25001 E")
}

// What says something about the session is answered here, in both protocols.
func TestAnswers(t *testing.T) {
	w := greeted(t)
	for _, c := range [][2]string{
		{"SELECT version()", "columns(version:25) row(PostgreSQL 15.4 (tenantgate)) <SELECT 1> I"},
		{"select pg_catalog.version() AS \"V\"", "columns(V:25) row(PostgreSQL 15.4 (tenantgate)) <SELECT 1> I"},
		{"SELECT current_schema(), current_schema", "columns(current_schema:19,current_schema:19) row(public,public) <SELECT 1> I"},
		{"SELECT current_database(), current_user, session_user, user, current_catalog;",
			"columns(current_database:19,current_user:19,session_user:19,user:19,current_catalog:19) row(" +
				ownID + "," + ownID + "," + ownID + "," + ownID + "," + ownID + ") <SELECT 1> I"},
		{"SELECT pg_backend_pid() AS pid", "columns(pid:23) row(7) <SELECT 1> I"},
		{"SELECT pg_is_in_recovery()", "columns(pg_is_in_recovery:16) row(f) <SELECT 1> I"},
		{"SELECT * FROM current_schema()", "columns(current_schema:19) row(public) <SELECT 1> I"},
		{"select * from pg_catalog.version() AS v;", "columns(v:25) row(PostgreSQL 15.4 (tenantgate)) <SELECT 1> I"},
		{"SELECT current_setting('server_version_num'), current_setting('no.such', true)", "columns(current_setting:25,current_setting:25) row(150004,) <SELECT 1> I"},
		{"SELECT current_setting('transaction_isolation')", "columns(current_setting:25) row(read committed) <SELECT 1> I"},
		{"SHOW TRANSACTION ISOLATION LEVEL", "columns(transaction_isolation:25) row(read committed) <SHOW> I"},
	} {
		if got := w.query(c[0]); got != c[1] {
			t.Errorf("%s\ngot  %s\nwant %s", c[0], got, c[1])
		}
	}
	w.is(w.link.did(), "")
	for _, text := range []string{"SELECT version", "SELECT current_user()", "SELECT current_setting('no.such')", "SELECT version() FROM messages", "SELECT version() || 'x'",
		"SELECT pg_catalog.current_user", "SELECT version(), id FROM messages", `SELECT "version"()`, "SELECT version() version", "SELECT version() 'x'", "SELECT", "SELECT version() AS", "SELECT version(),",
		"SELECT *", "SELECT * FROM", "SELECT * FROM messages", "SELECT * FROM version", "SELECT * FROM version(), version()", "SELECT * FROM version(); SELECT 1", "SELECT *, version()",
		"SELECT version(), * FROM version()", "SELECT * FROM version() v(x)", "SELECT * FROM version() WHERE true", "SELECT version() *", "SELECT * version()"} {
		if answered(text) != nil {
			t.Errorf("%s is answered", text)
		}
	}
	w.send(&pgproto3.Parse{Query: "SELECT pg_is_in_recovery()"}, &pgproto3.Bind{ResultFormatCodes: []int16{1}}, &pgproto3.Execute{}, &pgproto3.Sync{})
	w.is(w.answers(), "parsed bound row(\x00) <SELECT 1> I")
	w.send(&pgproto3.Parse{Query: "SELECT pg_backend_pid(), version()"}, &pgproto3.Describe{ObjectType: 'S'},
		&pgproto3.Bind{ResultFormatCodes: []int16{1}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
	w.is(w.answers(), "parsed params[] columns(pg_backend_pid:23,version:25) bound columns(pg_backend_pid:23,version:25) row(\x00\x00\x00\x07,PostgreSQL 15.4 (tenantgate)) <SELECT 1> I")
}
