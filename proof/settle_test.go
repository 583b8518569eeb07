package proof

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// Ensure an answer counts as undetermined where a value makes the server's own database fail, and the walls in front
// of the server's rows alone spare that as they do in front of all rows. Where they answer something else, the others'
// rows had a part in the answer.
func TestSettle(t *testing.T) {
	for failing, shared := range map[string]string{
		`SELECT c.id FROM conversations c WHERE c.server_id = ? AND EXISTS (SELECT FROM messages m JOIN files f ON c.title::jsonb IS NULL
			WHERE m.server_id = ? AND f.server_id = ? AND m.content IS DISTINCT FROM m.content)`: "",
		`UPDATE conversations c SET id = (SELECT string_agg(m.id, ',') FROM messages m JOIN files f ON c.title::jsonb IS NULL
			WHERE m.server_id = ? AND f.server_id = ? AND m.content IS DISTINCT FROM m.content) WHERE c.server_id = ?`: "23502",
	} {
		settles(t, failing, shared)
	}
}

func settles(t *testing.T, failing, shared string) {
	t.Helper()
	w := build(t)
	k, err := w.newWorker(t.Context(), Config{Walls: Engine}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.idle = append(w.idle, k.leave(t.Context(), Config{})...) })
	st := statement.Lex(failing, nil, writtenFor, Servers[0])
	st.Mode, st.Loose = policy.Require, false
	for _, tampered := range []string{"", "SELECT count(*)::text AS id FROM public.conversations WHERE $1::text <> ''"} {
		want := Fault("")
		k.tamper = nil
		if tampered != "" {
			want = Mismatch
			k.tamper = func(string) string { return tampered }
		}
		o, err := k.try(t.Context(), st, chance(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if tampered != "" {
			shared = ""
		}
		if o.own.state != "22P02" || o.shared.state != shared {
			t.Errorf("the two sides answer %q and %q", o.shared.state, o.own.state)
		}
		if o.fault != want || o.unsettled != (want == "") {
			t.Errorf("%q: fault %q, undetermined %t", tampered, o.fault, o.unsettled)
		}
	}
}

// Ensure an answer counts as undetermined where Postgres alone folds TRUE into the expression of a group, and only the very answer that
// comes without.
func TestSettleFolded(t *testing.T) {
	k, err := build(t).newWorker(t.Context(), Config{Walls: Engine}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer k.leave(t.Context(), Config{})
	st := statement.Lex("SELECT count(*)::text FROM conversations c WHERE c.server_id = ? GROUP BY ROLLUP (c.title = 'a') HAVING (c.title = 'a') <> TRUE", nil, writtenFor, Servers[0])
	st.Mode, st.Loose = policy.Require, false
	for truth, want := range map[string]Fault{"(SELECT $3)": "", "(SELECT NOT $3)": Mismatch} {
		k.tamper = func(sql string) string { return strings.Replace(sql, "$3", truth, 1) }
		o, err := k.try(t.Context(), st, chance(1, 1))
		if err != nil || o.shared.state != "" || o.fault != want || o.unsettled != (want == "") {
			t.Errorf("%s: fault %q, undetermined %t, %v: %v beside %v", truth, o.fault, o.unsettled, err, o.shared, o.own)
		}
	}
}

// Ensure an error excuses a difference where it is one of values, on one side or on both.
func TestFailsByValues(t *testing.T) {
	for _, c := range []struct {
		shared, own string
		want        bool
	}{
		{"22012", "", true}, {"", "21000", true}, {"23502", "22P02", true}, {"22012", "23505", true},
		{"22P02", "22025", true}, {"22012", "21000", true}, // which of them comes first depends on the plan
		{"22012", "42501", false}, {"42501", "22012", false}, {"42501", "", false}, {"", "42501", false}, {"", "23505", false}, {"", "", false},
	} {
		if got := failsByValues(c.shared, c.own); got != c.want {
			t.Errorf("%q and %q: %t", c.shared, c.own, got)
		}
	}
}

// Ensure an INTERSECT may answer either of two values that are equal but for blanks at their end, and nothing else may.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		sql, a, b string
		want      bool
	}{
		{"SELECT a INTERSECT SELECT b", "2:c1 | 1:x", "6:c1     | 1:x", true}, {"SELECT a INTERSECT SELECT b", "2:c1", "2:c2", false},
		{"SELECT a INTERSECT SELECT b", "2:c1", "3: c1", false}, {"SELECT a UNION SELECT b", "2:c1", "6:c1    ", false}, {"SELECT a INTERSECT SELECT b", "∅", "0:", false},
	} {
		if got := alike(statement.Statement{}, c.sql, answer{rows: []string{c.a}}, answer{rows: []string{c.b}}); got != c.want {
			t.Errorf("%s: %q and %q: %t", c.sql, c.a, c.b, got)
		}
	}
	rows := []string{"2:c1"}
	for name, pair := range map[string][2]answer{
		"two errors": {{state: "22012"}, {state: "22P02"}}, "other counts": {{tag: "INSERT 0 5"}, {tag: "INSERT 0 1"}}, "other counts of rows": {{rows: rows, tag: "INSERT 0 5"}, {rows: rows, tag: "INSERT 0 1"}},
		"other rows afterwards": {{rows: rows, own: []string{"1:x"}}, {rows: rows}}, "other columns": {{rows: rows, columns: []string{"a"}}, {rows: rows, columns: []string{"b"}}},
		"another order": {{rows: []string{"1:a", "1:b"}}, {rows: []string{"1:b", "1:a"}}}, "no rows": {{own: []string{"1:x"}}, {}},
	} {
		if alike(statement.Statement{Sorted: true}, "INTERSECT", pair[0], pair[1]) {
			t.Errorf("%s are alike", name)
		}
	}
}

// Ensure a refusal that a busy machine is the cause of is told from others of its SQLSTATE.
func TestUnfinished(t *testing.T) {
	for message, want := range map[string]bool{
		"statements of this server go on in the database although their time is up, and 1 of them are the most for all servers; try again later": true,
		"the database has too little of a resource": false,
	} {
		if got := (answer{state: "53300", message: message}).unfinished(); got != want {
			t.Errorf("%s: %t", message, got)
		}
	}
	if (answer{state: "57014", message: "statements go on in the database"}).unfinished() {
		t.Error("another SQLSTATE")
	}
}

// Ensure a statement with two errors may tell either, where the one that is told first in its own database is a literal's.
func TestLimited(t *testing.T) {
	late := answer{state: "42P10"}
	for own, want := range map[*answer]bool{
		{state: "22P02"}: true, {state: "0A000", message: "input of anonymous composite types is not implemented"}: true,
		{state: "0A000", message: "cannot accumulate empty arrays"}: false, {state: ""}: false, {state: "42703"}: false,
	} {
		if got := limited(late, *own); got != want {
			t.Errorf("%+v: %t", *own, got)
		}
	}
	path := answer{state: "42601", message: "syntax error at end of jsonpath input"}
	for shared, want := range map[string]bool{"22P02": true, "42P10": true, "": false, "22012": false, "23505": false} {
		if got := limited(answer{state: shared}, path); got != want {
			t.Errorf("%q beside a literal that is no jsonpath: %t", shared, got)
		}
	}
	if limited(answer{state: "22P02"}, answer{state: "42601", message: `syntax error at or near "FORM"`}) {
		t.Error("a text that is no SQL is taken for a literal that is no jsonpath")
	}
	for message, want := range map[string]bool{`new row violates row-level security policy for table "orders"`: true, "permission denied for table orders": false} {
		if got := limited(answer{state: "42501", message: message}, answer{state: "23502"}); got != want {
			t.Errorf("%s where NOT NULL is violated: %t", message, got)
		}
	}
	for column, want := range map[string]bool{"tenant": true, "n": false} {
		if got := limited(answer{}, answer{state: "42804", message: `column "` + column + `" is of type bigint but expression is of type text`}); got != want {
			t.Errorf("a value of another type for %s: %t", column, got)
		}
	}
	for _, state := range []string{"", "22012", "23505"} { // a shared database that answers, or fails by a value
		if limited(answer{state: state}, answer{state: "22P02"}) {
			t.Errorf("%q beside a literal that is read earlier", state)
		}
	}
}

// Ensure what a statement does is rolled back, whatever table it names.
func TestRollsBack(t *testing.T) {
	k, err := build(t).newWorker(t.Context(), Config{Walls: Database}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer k.leave(t.Context(), Config{})
	for _, text := range []string{"DELETE FROM countries", "DELETE FROM messages", "UPDATE pg_catalog.pg_description SET description = ''"} {
		o, err := k.try(t.Context(), statement.Lex(text, nil, writtenFor, Servers[0]), chance(1, 1))
		if err != nil || o.own.state != "" {
			t.Errorf("%s: SQLSTATE %q, %v", text, o.own.state, err)
		}
	}
	left, err := k.own.run(t.Context(), request{sql: "SELECT count(*) > 0 FROM countries UNION ALL SELECT count(*) > 0 FROM messages UNION ALL SELECT bool_or(description <> '') FROM pg_catalog.pg_description"})
	if got := fmt.Sprint(left.rows); err != nil || strings.Count(got, "t") != 3 {
		t.Errorf("left: %s, %v", got, err)
	}
}
