package upstream

import (
	"strings"
	"testing"
)

// Ensure a message of the analysis passes as far as the caller's text holds what it quotes.
func TestMessages(t *testing.T) {
	const caller = `SELECT a, 'abc', 'x"y', 'é', 1700 FROM t`
	for _, c := range []struct{ state, message, want string }{
		{"22012", `division by zero`, `division by zero`},
		{"22P02", `invalid input syntax for type integer: "abc"`, `invalid input syntax for type integer: "abc"`},
		{"22P02", `invalid input syntax for type integer: "é"`, `invalid input syntax for type integer: "é"`},
		{"22P02", `invalid input syntax for type integer: "x"y"`, `invalid input syntax for type integer: "x"y"`},
		{"22P02", `invalid input syntax for type integer: "secret"`, `invalid input syntax for type integer: "…"`},
		{"22P02", `invalid input syntax for type integer: ""`, `invalid input syntax for type integer: "…"`},
		{"22P02", `invalid input syntax for type integer: "a" my secret words "abc"`, `invalid input syntax for type integer: "…"`},
		{"22P02", `invalid input syntax for type integer: "a" for "secret"`, `invalid input syntax for type integer: "a" for "…"`},
		{"42703", `column "a" of relation "t" does not exist`, `column "a" of relation "t" does not exist`},
		{"42P01", `relation "public.t" does not exist`, `relation "t" does not exist`},
		{"22003", `value 1700 is out of range`, `value 1700 is out of range`},
		{"22003", `value 1701 is out of range`, `value … is out of range`},
		{"22P05", `character with byte sequence 0xe2 0x82 has no equivalent`, `character with byte sequence … … has no equivalent`},
		{"42P18", `could not determine data type of parameter $2`, `could not determine data type of args[0]`},
		{"42P18", `could not determine data type of parameter $1`, `could not determine data type of a parameter`},
		{"42P18", `could not determine data type of parameter $99999`, `could not determine data type of a parameter`},
		{"22001", `value too long for type character varying(10)`, `value too long for type character varying(…)`},
		{"22P02", `unbalanced "secret`, `Postgres refused the statement with SQLSTATE 22P02`},
		{"22P02", `ungültige Eingabesyntax für Typ integer: »secret«`, `Postgres refused the statement with SQLSTATE 22P02`},
		{"22P02", "two\nlines", `Postgres refused the statement with SQLSTATE 22P02`},
		{"P0001", `anything`, `Postgres refused the statement with SQLSTATE P0001`},
		{"XX000", `cache lookup failed`, `Postgres refused the statement with SQLSTATE XX000`},
	} {
		st := sel(caller, num("1"), num("2"))
		st.params[0].Index, st.params[1].Index = -1, 0
		pg := pgError(c.state, "ERROR")
		pg.Message = c.message
		if got := st.message(pg, analysing); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
}

// Ensure a message of the run shows Postgres' own words only, whatever the caller's text
// holds, and nothing where a function of the database may have worded it.
func TestRunTimeMessages(t *testing.T) {
	const caller = `SELECT a, 'abc', 'K', 'Y', 1700, 'nan', '$1' FROM t`
	for _, c := range []struct{ state, message, where, want string }{
		{"22012", `division by zero`, ``, `division by zero`},
		{"22007", `invalid value "K" for "Y"`, ``, `invalid value "…"`},
		{"22P02", `invalid input syntax for type integer: "abc"`, ``, `invalid input syntax for type integer: "…"`},
		{"22P02", `invalid input syntax for type integer: "abc"`, `unnamed portal parameter $2 = 'abc'`, `invalid input syntax for type integer: "…"`},
		{"22P02", `invalid input syntax for type json`, "JSON data, line 1: abc...", `invalid input syntax for type json`},
		{"22003", `value "1700" is out of range for type integer`, ``, `value "…" is out of range for type integer`},
		{"22003", `value 1700 is out of range`, ``, `value … is out of range`},
		{"22008", `time field value out of range: 1:01:nan`, ``, `time field value out of range: …`},
		{"22008", `date field value out of range: -17-02-30`, ``, `date field value out of range: …`},
		{"22003", `percentile value nan is not between 0 and 1`, ``, `percentile value … is not between … and …`},
		{"22003", `percentile value -Infinity is not between 0 and 1`, ``, `percentile value … is not between … and …`},
		{"22001", `value too long for type character varying(1700)`, ``, `value too long for type character varying(…)`},
		{"42601", `syntax error at or near "K" of jsonpath input`, ``, `syntax error at or near "…" of jsonpath input`},
		{"42P02", `there is no parameter $1`, ``, `there is no parameter …`},
		{"22023", `canary`, `PL/pgSQL function tell(text) line 1 at RAISE`, `Postgres refused the statement with SQLSTATE 22023`},
		{"42703", `column canary.a does not exist`, `SQL function "look" statement 1`, `Postgres refused the statement with SQLSTATE 42703`},
		{"22P02", `unbalanced "abc`, ``, `Postgres refused the statement with SQLSTATE 22P02`},
	} {
		pg := pgError(c.state, "ERROR")
		pg.Message, pg.Where = c.message, c.where
		if got := sel(caller, num("1"), num("2")).message(pg, running); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
}

// Ensure a message in another language is withheld even where nothing shows it but the
// severity.
func TestForeignMessage(t *testing.T) {
	pg := pgError("22P02", "ERROR")
	pg.Severity, pg.Message = "FEHLER", "Division durch null"
	if got := sel("SELECT 1").message(pg, analysing); !strings.Contains(got, "SQLSTATE") {
		t.Errorf("got %q", got)
	}
}

// Ensure what the rewrite put into the text does not count as the caller's.
func TestOnlyTheCallersTextCounts(t *testing.T) {
	st := sel(`SELECT 'mine' FROM (inserted) AS inserted`)
	inserted := strings.Index(st.text(), "(inserted)")
	st.position = func(p int) int {
		if p > inserted && p <= inserted+len("(inserted)") {
			return 0
		}
		return p
	}
	for text, want := range map[string]bool{"mine": true, "inserted": true, "(inserted": false, "FROM (": false, "absent": false} {
		if got := st.holds(text); got != want {
			t.Errorf("holds(%q) is %t", text, got)
		}
	}
}

// Ensure a long message is cut.
func TestLongMessage(t *testing.T) {
	value := strings.Repeat("é", 5000)
	pg := pgError("22P02", "ERROR")
	pg.Message = `invalid: "` + value + `"`
	if got := sel("SELECT '"+value+"'").message(pg, analysing); len([]rune(got)) != maxMessage+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
