package upstream

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure each family of Postgres' errors gets its code, and tells what the interface says.
func TestErrorCodes(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TABLE p (id int PRIMARY KEY, v text NOT NULL, n int CONSTRAINT n_small CHECK (n < 10), r int4range,
			CONSTRAINT no_overlap EXCLUDE USING gist (r WITH &&));
		CREATE TABLE c (id int CONSTRAINT c_parent REFERENCES p, d int CONSTRAINT c_late REFERENCES p DEFERRABLE INITIALLY DEFERRED);
		INSERT INTO p VALUES (1, 'x', 1, '[1,5)'); INSERT INTO c VALUES (1);
		CREATE FUNCTION raise(state text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = state, DETAIL = 'secret', HINT = 'secret'; END $$;
		CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
	for _, c := range []struct {
		st         *statement
		code       proxy.Code
		state      string
		constraint string
		says       string
	}{
		{write("insert", false, "INSERT INTO p VALUES (1, 'y')"), proxy.ConstraintViolation, "23505", "p_pkey", "p_pkey"},
		{write("insert", true, "INSERT INTO p VALUES (1, 'y') RETURNING id"), proxy.ConstraintViolation, "23505", "p_pkey", "same key"},
		{write("insert", false, "INSERT INTO c VALUES (7)"), proxy.ConstraintViolation, "23503", "c_parent", "c_parent"},
		{write("insert", false, "INSERT INTO c VALUES (NULL, 7)"), proxy.ConstraintViolation, "23503", "c_late", "c_late"},
		{write("insert", true, "INSERT INTO c VALUES (NULL, 7) RETURNING id"), proxy.ConstraintViolation, "23503", "c_late", "c_late"},
		{write("insert", true, "INSERT INTO late VALUES (1), (1) RETURNING a"), proxy.ConstraintViolation, "23505", "late_a_key", "same key"},
		{write("delete", false, "DELETE FROM p"), proxy.ConstraintViolation, "23503", "c_parent", "referred"},
		{write("insert", false, "INSERT INTO p VALUES (2, 'y', 2, '[2,3)')"), proxy.ConstraintViolation, "23P01", "no_overlap", "exclusion"},
		{write("insert", false, "INSERT INTO p VALUES (2, NULL)"), policy.QueryFailed, "23502", "", `"v" must not be null`},
		{write("insert", false, "INSERT INTO p VALUES (2, 'y', 11)"), policy.QueryFailed, "23514", "n_small", "n_small"},
		{sel("SELECT 1/0"), policy.QueryFailed, "22012", "", "division by zero"},
		{sel("SELECT 'abc'::int"), policy.QueryFailed, "22P02", "", `invalid input syntax for type integer: "abc"`},
		{sel("SELECT (SELECT id FROM p UNION ALL SELECT 2)"), policy.QueryFailed, "21000", "", "more than one row"},
		{sel("SELECT 1 + 'a'::text"), policy.QueryFailed, "42883", "", "operator does not exist: integer + text"},
		{write("insert", false, "INSERT INTO p (v) VALUES ('x') ON CONFLICT (v) DO NOTHING"), policy.QueryFailed, "42P10", "", "ON CONFLICT"},
		{sel("SELECT v, count(*) FROM p"), policy.QueryFailed, "42803", "", "GROUP BY"},
		{sel("SELECT $1", str("x")), "", "", "", ""},
		{sel("SELECT $1 IS NULL AND $2 IS NULL", str("x"), str("y")), policy.QueryFailed, "42P18", "", "args[0]"},
		{sel("SELECT id FROM p FOR UPDATE NOWAIT"), "", "", "", ""},
		{sel("SELECT raise('40001')"), proxy.SerializationFailure, "40001", "", "repeat"},
		{sel("SELECT raise('40P01')"), proxy.SerializationFailure, "40P01", "", "repeat"},
		{sel("SELECT raise('42501')"), policy.QueryFailed, "42501", "", "SQLSTATE 42501"},
		{sel("SELECT raise('55P03')"), policy.QueryFailed, "55P03", "", "locked"},
		{sel("SELECT raise('57014')"), policy.QueryFailed, "57014", "", "operator"},
		{sel("SELECT raise('53200')"), proxy.Overloaded, "", "", "resource"},
		{sel("SELECT raise('08006')"), proxy.UpstreamUnavailable, "", "", "connection"},
		{sel("SELECT raise('08P01')"), policy.QueryFailed, "08P01", "", "SQLSTATE 08P01"},
		{sel("SELECT raise('P0001')"), policy.QueryFailed, "P0001", "", "SQLSTATE P0001"},
		{sel("SELECT raise('XX000')"), policy.QueryFailed, "XX000", "", "SQLSTATE XX000"},
		{sel("SELECT raise('38000')"), policy.QueryFailed, "38000", "", "SQLSTATE 38000"},
		{sel("SELECT raise('58030')"), policy.QueryFailed, "58030", "", "SQLSTATE 58030"},
	} {
		if c.code == "" {
			b.must(c.st)
			continue
		}
		e := b.fail(c.st, c.code)
		if e.SQLState != c.state || e.Constraint != c.constraint || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: got %q with %q, constraint %q", c.st.text(), e.Message, e.SQLState, e.Constraint)
		}
		if hinted := slices.Contains([]string{"42P18", "42P10", "42803"}, c.state); hinted != (e.Hint != "") && c.code == policy.QueryFailed {
			t.Errorf("%s: hint %q", c.st.text(), e.Hint)
		}
		if strings.Contains(e.Message+e.Hint, "secret") {
			t.Errorf("%s: %q tells what a function raised", c.st.text(), e.Message)
		}
		if e.Retryable != (c.code == proxy.SerializationFailure || c.code == proxy.Overloaded || c.code == proxy.UpstreamUnavailable || c.state == "55P03" || c.state == "57014") {
			t.Errorf("%s: retryable is %t", c.st.text(), e.Retryable)
		}
	}
	if n := b.one("SELECT count(*) FROM p") + b.one("SELECT count(*) FROM c") + b.one("SELECT count(*) FROM late"); n != "110" {
		t.Errorf("rows in p, c and late: %s", n)
	}
}

// Ensure a name or a type that is no longer there asks for a fresh look at the schema,
// and the caller's own mistakes don't.
func TestSchemaMoved(t *testing.T) {
	b := setup(t, Config{}, "CREATE TABLE t (a int)")
	for _, c := range []struct {
		sql      string
		position func(int) int
		moved    bool
	}{
		{"SELECT 1 FROM gone", identity, true}, {"SELECT gone FROM t", identity, true}, {"SELECT 1 FROM gone.t", identity, true},
		{"SELECT NULL::gone", identity, false}, {"SELECT NULL::gone", func(int) int { return 0 }, true},
		{"SELECT to_tsvector('gone', 'x')", identity, false}, {"SELECT 'x' COLLATE gone", identity, false},
		{"SELECT to_tsvector(lower('gone')::regconfig, 'x')", func(int) int { return 0 }, false}, {"SELECT a + 'x'::text FROM t", identity, false},
		{"SELECT a + 'x'::text FROM t", func(int) int { return 0 }, true}, {"SELECT 'x'::int", func(int) int { return 0 }, false},
	} {
		st := sel(c.sql)
		st.position = c.position
		if e := b.fail(st, policy.QueryFailed); errors.Is(e, proxy.ErrSchemaChanged) != c.moved {
			t.Errorf("%s: %v", c.sql, e)
		}
	}
}

func identity(p int) int { return p }

// Ensure an error of the check of the tables' shapes counts as an altered table only where the check itself made it, and that an
// error of the reading of the schema is taken for a passing one only where it is about the connection, a resource or a lock.
func TestWhatAnErrorIsOf(t *testing.T) {
	for state, want := range map[string]struct{ reshaped, passes bool }{
		"22012": {true, false}, "53200": {false, true}, "08006": {false, true}, "57P01": {false, true}, "40P01": {false, true}, "55P03": {false, true},
		"55000": {}, "58P01": {}, "XX000": {}, "42501": {}, "57014": {false, true},
	} {
		f := failure{at: checking, err: &pgconn.PgError{Code: state, SeverityUnlocalized: "ERROR"}}
		if f.reshaped() != want.reshaped || ofTheMoment(state) != want.passes {
			t.Errorf("%s: reshaped %t, passes %t", state, f.reshaped(), ofTheMoment(state))
		}
	}
}

// Ensure an error points at the caller's own text, in characters.
func TestPosition(t *testing.T) {
	b := setup(t, Config{}, "")
	st := sel("SELECT /*é*/ 1 + 'x'::text")
	if e := b.fail(st, policy.QueryFailed); e.Position != strings.Index("SELECT /*e*/ 1 + 'x'::text", "+")+1 {
		t.Errorf("position %d", e.Position)
	}
	st.position = func(p int) int { return p - 7 }
	if e := b.fail(st, policy.QueryFailed); e.Position != 9 {
		t.Errorf("position %d, want it mapped to 9", e.Position)
	}
}

// Ensure the log learns the code and not the values.
func TestCauseHoldsNoValue(t *testing.T) {
	b := setup(t, Config{}, "")
	for _, st := range []*statement{
		sel("SELECT $1::int", str("secret")), sel("SELECT ($1::text)::int", str("secret")),
		sel("SELECT ($1::text)::date", str("secret")), sel("SELECT $1::bytea", str("secret!")),
	} {
		_, err := b.query(st)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", st.text(), err)
		}
	}
}

// Ensure neither DETAIL nor CONTEXT nor HINT nor a value of a row that the caller did not
// send reaches it.
func TestErrorsTellNoForeignValue(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TABLE t (id int PRIMARY KEY, v text, n bigint, j jsonb, ts text);
		INSERT INTO t VALUES (1, 'canary', 77712345678, '{"canary": 1}', '2026-77-12');
		CREATE FUNCTION deep(x text) RETURNS int LANGUAGE sql AS 'SELECT x::int';
		CREATE TABLE k (v text PRIMARY KEY, CHECK (length(v) < 9)); INSERT INTO k VALUES ('canary')`)
	for _, sql := range []string{
		"SELECT v::int FROM t", "SELECT n::int FROM t", "SELECT n::int2 FROM t", "SELECT v::date FROM t", "SELECT ts::date FROM t", "SELECT v::uuid FROM t", "SELECT v::json FROM t",
		"SELECT v::bytea FROM (SELECT '\\x' || v AS v FROM t) s", "SELECT v::int[] FROM t", "SELECT ('{' || v)::text[] FROM t", "SELECT v::inet FROM t", "SELECT v::interval FROM t",
		"SELECT deep(v) FROM t", "SELECT 'x' ~ ('(' || v) FROM t", "SELECT to_tsquery('simple', v || ' ' || v) FROM t", "SELECT to_date(v, 'YYYY') FROM t", "SELECT date_trunc(v, now()) FROM t",
		"SELECT now() AT TIME ZONE v FROM t", "SELECT chr((n % 100000000)::int) FROM t", "SELECT (j->>'canary')::bool, v::bool FROM t", "SELECT v::xml, ('<' || v)::xml FROM t", "SELECT v::jsonpath, ('$$' || v)::jsonpath FROM t",
		"SELECT decode(v, 'hex') FROM t", "SELECT decode(v, 'base64') FROM t", "SELECT v::\"bit\" FROM t", "SELECT to_number(v, '99') , v::numeric FROM t", "SELECT encode(convert_to(v, v), 'hex') FROM t",
		"SELECT (v || E'\" for \"' || v)::int FROM t", "SELECT v::regclass FROM t", "SELECT setseed(n) FROM t", "SELECT get_byte('\\x00', n::int8) FROM t", "SELECT v::int4range FROM t", "SELECT format(v || '%y') FROM t",
		"INSERT INTO k SELECT v FROM t", "INSERT INTO k SELECT v || v FROM t", "SELECT 1 FROM t WHERE (v::int) > 0", "SELECT make_date(n::int8::int4, 1, 1) FROM t", "SELECT repeat(v, 1000000000) FROM t",
	} {
		for name, canary := range map[string]string{"text": "canary", "number": "777123", "piece": "77-12", "modulo": "12345678"} {
			_, err := b.query(write("select", true, sql))
			var e *proxy.Error
			if !errors.As(err, &e) {
				t.Errorf("%s: no error", sql)
				break
			}
			if strings.Contains(e.Error()+e.Hint+e.Constraint, canary) && !strings.Contains(sql, canary) {
				t.Errorf("%s: %q tells the %s", sql, e.Error(), name)
			}
		}
	}
}

// Ensure a write whose backend died of a full disk at its commit is not said to be repeatable.
func TestResourceAtTheCommit(t *testing.T) {
	for severity, repeatable := range map[string]bool{"ERROR": true, "PANIC": false} {
		f := &failure{err: pgError("53100", severity), synced: true, reached: completed}
		e := f.explain(t.Context(), write("insert", false, "INSERT INTO t VALUES (1)"))
		if e.Code != proxy.Overloaded || e.Retryable != repeatable || strings.Contains(e.Message, "not known") == repeatable {
			t.Errorf("%s: %+v", severity, e)
		}
	}
}
