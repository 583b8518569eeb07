package upstream

import (
	"strings"
	"testing"
)

// Ensure a message passes as far as the caller's text holds what it quotes.
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
		{"22001", `value too long for type character varying(10)`, `value too long for type character varying(10)`},
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
		if got := st.message(pg); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
}

// Ensure a message in another language is withheld even where nothing shows it but the
// severity.
func TestForeignMessage(t *testing.T) {
	pg := pgError("22P02", "ERROR")
	pg.Severity, pg.Message = "FEHLER", "Division durch null"
	if got := sel("SELECT 1").message(pg); !strings.Contains(got, "SQLSTATE") {
		t.Errorf("got %q", got)
	}
}

// Ensure what the rewrite put into the text does not count as the caller's.
func TestOnlyTheCallersTextCounts(t *testing.T) {
	st := sel(`SELECT 'mine' FROM (inserted) AS inserted`)
	inserted := strings.Index(st.sql, "(inserted)")
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
	if got := sel("SELECT '" + value + "'").message(pg); len([]rune(got)) != maxMessage+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
