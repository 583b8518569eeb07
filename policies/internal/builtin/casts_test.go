package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policies/internal/builtin"
)

// casts are the functions that a cast between types of $1 can call: those of pg_cast, and
// those that read and write a value as text, by which any type is cast to any other.
const casts = `
	SELECT 'from ' || c.castsource::regtype || ' to ' || c.casttarget::regtype, p.oid::regprocedure::text,
	       p.provolatile = 'v', p.prosecdef, p.prokind <> 'f'
	  FROM pg_cast c LEFT JOIN pg_proc p ON p.oid = c.castfunc
	  JOIN pg_type s ON s.oid = c.castsource JOIN pg_type t ON t.oid = c.casttarget
	 WHERE s.typname = ANY ($1::text[]) AND t.typname = ANY ($1::text[]) AND p.oid IS NOT NULL
	UNION ALL
	SELECT 'as text, ' || t.typname, p.oid::regprocedure::text, p.provolatile = 'v', p.prosecdef, p.prokind <> 'f'
	  FROM pg_type t JOIN pg_proc p ON p.oid IN (t.typinput, t.typoutput, t.typmodin)
	 WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname = ANY ($1::text[])`

// Ensure that a cast between types that a statement may name calls nothing that is
// volatile or runs with another's rights. Such a function may take a cstring, which is
// how Postgres hands it the text.
func TestEveryCast(t *testing.T) {
	db := connect(t)
	rows, err := db.Query(t.Context(), casts, policies.Types())
	if err != nil {
		t.Fatal(err)
	}
	var cast, function string
	var volatile, definer, odd bool
	functions := map[string]bool{}
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&cast, &function, &volatile, &definer, &odd}, func() error {
		functions[function] = true
		n++
		if volatile || definer || odd {
			t.Errorf("%s calls %s: volatile %v, runs as its owner %v, no function %v", cast, function, volatile, definer, odd)
		}
		return nil
	})
	if err != nil || n < 200 {
		t.Error(n, err)
	}
	var all int
	if err := db.QueryRow(t.Context(), "SELECT count(*) FROM pg_cast").Scan(&all); err != nil {
		t.Fatal(err)
	}
	t.Logf("PostgreSQL has %d casts; between the admitted types, and as text, %d call %d functions", all, n, len(functions))
}

// Ensure that what an aggregate of the set is made of is as harmless as a function of the
// set: pg_proc calls every aggregate immutable, whatever it calls.
func TestEveryAggregate(t *testing.T) {
	db := connect(t)
	var aggregates, parts int
	var bad []string
	err := db.QueryRow(t.Context(), `
		SELECT count(DISTINCT a.aggfnoid), count(DISTINCT f.oid),
		       coalesce(array_agg(DISTINCT f.oid::regprocedure::text) FILTER (WHERE f.provolatile = 'v' OR f.prosecdef OR f.prokind <> 'f'), '{}')
		  FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid
		  JOIN pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
		 WHERE p.proname = ANY ($1::text[])`, policies.Sets()["@builtin-safe"]).Scan(&aggregates, &parts, &bad)
	if err != nil || len(bad) > 0 || aggregates < 100 {
		t.Error(aggregates, bad, err)
	}
	t.Logf("%d aggregates of the set are made of %d functions", aggregates, parts)
}

// Ensure that no cast which Postgres makes unasked leads from an admitted type to one that
// is not, but for those to numbers of objects, on which the operators only compare.
func TestImplicitCastsStayInside(t *testing.T) {
	db := connect(t)
	rows, err := db.Query(t.Context(), `SELECT DISTINCT t.typname::text FROM pg_cast c
		JOIN pg_type s ON s.oid = c.castsource JOIN pg_type t ON t.oid = c.casttarget
		WHERE c.castcontext = 'i' AND s.typname = ANY ($1::text[]) AND t.typname <> ALL ($1::text[])`, policies.Types())
	if err != nil {
		t.Fatal(err)
	}
	targets, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range targets {
		if name != "oid" && !strings.HasPrefix(name, "reg") {
			t.Errorf("%s is reached", name)
		}
		if taken := takers(t, db, name); len(taken) > 0 && name != "oid" {
			t.Errorf("operators or functions of the sets take a %s: %s", name, taken)
		}
	}
	if len(targets) == 0 {
		t.Error("no implicit cast leads anywhere: the query is wrong")
	}
}

// takers are the functions of the set and the operators that take a type.
func takers(t *testing.T, db *pgx.Conn, name string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), `
		SELECT p.proname::text FROM pg_proc p WHERE p.proname = ANY ($2::text[]) AND to_regtype($1)::oid = ANY (p.proargtypes)
		UNION ALL
		SELECT o.oprname::text FROM pg_operator o WHERE to_regtype($1)::oid IN (o.oprleft, o.oprright)`, name, policies.Sets()["@builtin-safe"])
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Ensure that an operator on a type that no statement can name is out of reach: with
// untyped operands in the place of those Postgres takes another or none.
func TestForeignOperands(t *testing.T) {
	db := connect(t)
	rows, err := db.Query(t.Context(), "SELECT o.oprname::text, coalesce(l.typname::text, ''), r.typname::text FROM pg_operator o LEFT JOIN pg_type l ON l.oid = o.oprleft JOIN pg_type r ON r.oid = o.oprright")
	if err != nil {
		t.Fatal(err)
	}
	operators, err := pgx.CollectRows(rows, pgx.RowToStructByPos[builtin.Operator])
	if err != nil {
		t.Fatal(err)
	}
	tried, resolved := 0, 0
	for _, o := range operators {
		if !foreign(o.Left) && !foreign(o.Right) {
			continue
		}
		tried++
		taken, ok := resolve(t, db, o)
		if ok {
			resolved++
		}
		for _, name := range taken {
			if name = strings.TrimSuffix(name, "[]"); foreign(name) {
				t.Errorf("%s takes an untyped operand for %s", o, name)
			}
		}
	}
	t.Logf("%d operators on types that can't be named; with untyped operands %d of the texts mean other operators, and the rest none", tried, resolved)
	if tried < 80 {
		t.Errorf("only %d operators", tried)
	}
}

// foreign tells the types that a statement can't name and no polymorphic one.
func foreign(name string) bool {
	return slices.Contains(strings.Fields("oid oidvector xid xid8 cid tid pg_lsn aclitem _aclitem path polygon"), name)
}

// resolve prepares an operator with placeholders for operands of foreign types, and
// gives the types that Postgres takes them for.
func resolve(t *testing.T, db *pgx.Conn, o builtin.Operator) ([]string, bool) {
	t.Helper()
	params := 0
	operand := func(name string) string {
		switch {
		case name == "":
			return ""
		case foreign(name):
			params++
			return "$" + string(rune('0'+params))
		}
		return "NULL::pg_catalog." + pgx.Identifier{name}.Sanitize()
	}
	if _, err := db.Exec(t.Context(), "PREPARE tried AS SELECT "+operand(o.Left)+" "+o.Name+" "+operand(o.Right)); err != nil {
		return nil, false
	}
	defer exec(t, db, "DEALLOCATE tried")
	var types []string
	if err := db.QueryRow(t.Context(), "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'tried'").Scan(&types); err != nil {
		t.Fatal(err)
	}
	return types, true
}
