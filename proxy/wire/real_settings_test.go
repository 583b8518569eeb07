package wire

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// read is a text whose constant means another day under each order of a date's parts, and
// whose answer is written as the style says: under ISO, YMD the 3rd of February 2001.
const read = "SELECT '01/02/03'::date, at FROM notes"

const (
	ofISO    = "columns(date:1082,at:1184) row(2001-02-03,2024-07-01 12:00:00+00) <SELECT 1> "
	ofGerman = "columns(date:1082,at:1184) row(01.02.2003,01.07.2024 12:00:00 UTC) <SELECT 1> "
	ofSQL    = "columns(date:1082,at:1184) row(01/02/2003,07/01/2024 12:00:00 UTC) <SELECT 1> "
	ofTokyo  = "columns(date:1082,at:1184) row(2001-02-03,2024-07-01 21:00:00+09) <SELECT 1> "
)

// saidTo is a message and its answer.
type saidTo struct{ text, want string }

// Ensure that a statement is read and answered under the settings that are the client's at
// that moment, whatever ended, and that a second client of the same connection has its own.
func TestRealSettingsFollow(t *testing.T) {
	german, sql, tokyo := "SET DateStyle = 'German'", "SET DateStyle = 'SQL, MDY'", "SET TimeZone = 'Asia/Tokyo'"
	toGerman, toSQL, toISO, toTokyo := "<SET> DateStyle=German, DMY ", "<SET> DateStyle=SQL, MDY ", "DateStyle=ISO, YMD ", "<SET> TimeZone=Asia/Tokyo "
	for name, script := range map[string][]saidTo{
		"commit and chain": {
			{sql, toSQL + "I"}, {"BEGIN", "<BEGIN> T"}, {"SELECT 1", ""}, {"COMMIT AND CHAIN", "<COMMIT> T"}, {read, ofSQL + "T"}, {"COMMIT", "<COMMIT> I"}, {read, ofSQL + "I"},
		},
		"rollback and chain": {
			{sql, toSQL + "I"}, {"BEGIN", "<BEGIN> T"}, {german, toGerman + "T"}, {read, ofGerman + "T"}, {"ROLLBACK AND CHAIN", "<ROLLBACK> DateStyle=SQL, MDY T"},
			{read, ofSQL + "T"}, {"COMMIT", "<COMMIT> I"}, {read, ofSQL + "I"},
		},
		"chain of a local setting": {
			{"BEGIN", "<BEGIN> T"}, {"SET LOCAL DateStyle = 'German'", toGerman + "T"}, {read, ofGerman + "T"}, {"COMMIT AND CHAIN", "<COMMIT> " + toISO + "T"}, {read, ofISO + "T"},
			{"COMMIT", "<COMMIT> I"},
		},
		"chain in one message": {
			{"BEGIN; " + german + "; " + read + "; COMMIT AND CHAIN; " + read + "; ROLLBACK AND CHAIN; " + read + "; COMMIT",
				"<BEGIN> <SET> " + ofGerman + "<COMMIT> " + ofGerman + "<ROLLBACK> " + ofGerman + "<COMMIT> DateStyle=German, DMY I"},
			{read, ofGerman + "I"},
		},
		"set and roll back": {
			{"BEGIN", "<BEGIN> T"}, {german, toGerman + "T"}, {read, ofGerman + "T"}, {"ROLLBACK", "<ROLLBACK> " + toISO + "I"}, {read, ofISO + "I"},
		},
		"set and commit": {
			{"BEGIN", "<BEGIN> T"}, {read, ofISO + "T"}, {german, toGerman + "T"}, {"COMMIT", "<COMMIT> I"}, {read, ofGerman + "I"},
		},
		"set behind a savepoint": {
			{"BEGIN", "<BEGIN> T"}, {sql, toSQL + "T"}, {read, ofSQL + "T"}, {"SAVEPOINT a", "<SAVEPOINT> T"}, {german, toGerman + "T"}, {read, ofGerman + "T"},
			{"ROLLBACK TO a", "<ROLLBACK> DateStyle=SQL, MDY T"}, {read, ofSQL + "T"}, {"COMMIT", "<COMMIT> I"}, {read, ofSQL + "I"},
		},
		"a savepoint behind one of its name that was made before an error": {
			{"BEGIN", "<BEGIN> T"}, {sql, toSQL + "T"}, {"SAVEPOINT a", "<SAVEPOINT> T"}, {german, toGerman + "T"}, {"SAVEPOINT a; SELECT 1/0", "<SAVEPOINT> ERROR 22012 E"},
			{"ROLLBACK TO a", "<ROLLBACK> T"}, {read, ofGerman + "T"}, {"RELEASE a", "<RELEASE> T"}, {tokyo, toTokyo + "T"}, {"SELECT 1", ""},
			{"ROLLBACK TO a", "<ROLLBACK> DateStyle=SQL, MDY TimeZone=UTC T"}, {read, ofSQL + "T"}, {"ROLLBACK", "<ROLLBACK> " + toISO + "I"}, {read, ofISO + "I"},
		},
		"a setting that Postgres refuses behind a savepoint": {
			{"BEGIN", "<BEGIN> T"}, {sql, toSQL + "T"}, {"SAVEPOINT a", "<SAVEPOINT> T"}, {"SET TimeZone = 'Mars/Olympus'", "ERROR 22023 E"}, {read, "ERROR 25P02 E"},
			{"ROLLBACK TO a", "<ROLLBACK> T"}, {read, ofSQL + "T"}, {tokyo, toTokyo + "T"}, {"ROLLBACK TO a", "<ROLLBACK> TimeZone=UTC T"}, {read, ofSQL + "T"}, {"ROLLBACK", "<ROLLBACK> " + toISO + "I"},
		},
		"an error behind a setting": {
			{"BEGIN", "<BEGIN> T"}, {"SAVEPOINT a", "<SAVEPOINT> T"}, {german, toGerman + "T"}, {"SELECT 1/0", "ERROR 22012 " + toISO + "E"}, {"ROLLBACK TO a", "<ROLLBACK> T"}, {read, ofISO + "T"},
			{tokyo, toTokyo + "T"}, {"SELECT 1 FROM secrets", "ERROR 42501@15 TimeZone=UTC E"}, {"ROLLBACK TO a", "<ROLLBACK> T"}, {read, ofISO + "T"}, {"COMMIT", "<COMMIT> I"},
		},
		"a setting that is released": {
			{"BEGIN", "<BEGIN> T"}, {"SAVEPOINT a", "<SAVEPOINT> T"}, {tokyo, toTokyo + "T"}, {"RELEASE a", "<RELEASE> T"}, {read, ofTokyo + "T"}, {"COMMIT", "<COMMIT> I"}, {read, ofTokyo + "I"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, other, _ := twoOnPostgres(t, 1)
			w.is(other.query(read), ofISO+"I")
			w.is(other.query("SET DateStyle = 'SQL, DMY'"), "<SET> DateStyle=SQL, DMY I")
			for i, s := range script {
				if got := w.query(s.text); s.want != "" && got != s.want {
					t.Errorf("%d %s\ngot  %s\nwant %s", i, s.text, got, s.want)
				}
			}
			w.is(other.query(read), "columns(date:1082,at:1184) row(01/02/2003,01/07/2024 12:00:00 UTC) <SELECT 1> I")
			other.query("RESET DateStyle")
			w.is(other.query(read), ofISO+"I")
		})
	}
}

// Ensure the same of statements that are prepared once and executed in one transaction after
// the other.
func TestRealSettingsOfPrepared(t *testing.T) {
	w, other, _ := twoOnPostgres(t, 1)
	again := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}}
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: "SELECT '01/02/03'::date FROM notes"}), "parsed I")
	w.query("BEGIN")
	w.is(w.pipe(again...), "bound row(2001-02-03) <SELECT 1> T")
	w.query("SET DateStyle = 'SQL, MDY'")
	w.is(w.pipe(slices.Concat(again, step("COMMIT AND CHAIN"), again)...), "bound row(01/02/2003) <SELECT 1> parsed bound <COMMIT> bound row(01/02/2003) <SELECT 1> T")
	w.is(w.pipe(slices.Concat(step("ROLLBACK AND CHAIN"), again)...), "parsed bound <ROLLBACK> bound row(01/02/2003) <SELECT 1> T")
	w.query("COMMIT")
	w.is(w.pipe(&pgproto3.Parse{Name: "t", Query: "SELECT '02/02/03'::date FROM notes"}), "parsed I")
	w.send(&pgproto3.Parse{Query: "SELECT '02/02/03'::date FROM notes"}, &pgproto3.Flush{}) // it is known, and asks for no connection
	if m, err := w.front.Receive(); err != nil || inWords(m) != "parsed" {
		t.Fatal(m, err)
	}
	w.is(w.pipe(&pgproto3.Bind{}, &pgproto3.Execute{}), "bound row(02/02/2003) <SELECT 1> I")
	w.is(other.query("SELECT '01/02/03'::date FROM notes"), "columns(date:1082) row(2001-02-03) <SELECT 1> I")
}
