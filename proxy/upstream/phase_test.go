package upstream

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// alphabet is what a caller puts into a comment to have a message show any character.
const alphabet = " /* ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 Kx9 canary 77712345678 ($. */"

// Ensure an error that is raised after the text was analysed, where a row may have been
// read, shows nothing that it quotes and no number, though the caller's text holds both.
func TestRunTimeErrorsShowNoValue(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TABLE t (v text, n bigint); INSERT INTO t VALUES ('Kx9 canary', 77712345678);
		CREATE FUNCTION tell(x text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'canary' USING ERRCODE = '22023'; END $$;
		CREATE FUNCTION look(x text) RETURNS int LANGUAGE plpgsql AS $$ DECLARE r int; BEGIN EXECUTE 'SELECT ' || split_part(x, ' ', 2) || '.a' INTO r; RETURN r; END $$`)
	for _, expr := range []string{
		"to_date(v, 'xY')", "v::int", "n::int", "n::int2", "v::date", "date_trunc(v, now())", "('$.' || v)::jsonpath", "('$$' || v)::jsonpath", "to_tsquery('simple', v || ' ' || v)",
		"v::regclass", "v::regconfig", "decode(v, 'hex')", "chr((n % 100000000)::int)", "'x' ~ ('(' || v)", "v::json", "make_time(1, 1, 'NaN'::float8 + n)",
		`"varchar"('a long text', (n % 10)::int - 4, false)`, "tell(v)", "look(v)",
	} {
		for range 2 { // described, then known
			e := b.fail(sel("SELECT "+expr+" FROM t"+alphabet), policy.QueryFailed)
			text := strings.ReplaceAll(e.Message, "SQLSTATE "+e.SQLState, "")
			if strings.ContainsAny(text, "0123456789") || strings.Contains(text, "canary") || strings.Contains(text, "Kx9") || strings.Contains(text, `"x"`) || strings.Contains(text, "nan") {
				t.Errorf("%s: %q", expr, e.Message)
			}
		}
	}
}

// Ensure a parameter's value is not told either, and its place is.
func TestBoundValueIsNotShown(t *testing.T) {
	b := setup(t, Config{}, "")
	for range 2 {
		e := b.fail(sel("SELECT $1::text, $2::int"+alphabet, str("fits"), str("canary")), policy.InvalidArgument)
		if e.Message != `args[1]: invalid input syntax for type integer: "…"` {
			t.Errorf("got %q", e.Message)
		}
	}
}

// Ensure what fails while the text is analysed says what it is about.
func TestAnalysisTellsTheCallersText(t *testing.T) {
	b := setup(t, Config{}, "CREATE TABLE t (a int)")
	for sql, says := range map[string]string{
		"SELECT 'abc'::int":              `invalid input syntax for type integer: "abc"`,
		"SELECT nothing FROM t":          `column "nothing" does not exist`,
		"SELECT lower(1700)":             `function lower(integer) does not exist`,
		"SELECT a FROM t WHERE a = 'x1'": `invalid input syntax for type integer: "x1"`,
		"SELECT 99999999999::int":        `integer out of range`,
	} {
		if e := b.fail(sel(sql), policy.QueryFailed); e.Message != says {
			t.Errorf("%s: %q, want %q", sql, e.Message, says)
		}
	}
}
