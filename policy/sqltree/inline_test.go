package sqltree

import "testing"

// TestInlined shows that only the text which Inline makes passes its proof.
func TestInlined(t *testing.T) {
	const text = `COPY (SELECT $1::text, 'a' FROM t WHERE s = $1::text) TO STDOUT`
	server := []FinalParam{{Type: TypeName{"pg_catalog", "text"}}}
	final, fault := Inline(text, server, "o'x")
	if want := `COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text) TO STDOUT`; fault != nil || final != want {
		t.Fatalf("%q, %+v", final, fault)
	}
	if err := inlined(text, final, server, "o'x"); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{
		`COPY (SELECT 'o''x'::text, 'b' FROM t WHERE s = 'o''x'::text) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''y'::text) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = $1::text) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = ('o''x' || '')::text) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text OR true) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text) TO '/tmp/x'`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t) TO STDOUT`,
		`SELECT 1`,
	} {
		if inlined(text, other, server, "o'x") == nil {
			t.Errorf("%s passes", other)
		}
	}
	if _, fault := Inline(text, []FinalParam{{Number: 1}}, "a"); fault == nil || fault.Code != Internal {
		t.Errorf("a caller's parameter is put into the text: %+v", fault)
	}
	for _, id := range []string{"", `a\`, "a\x00b"} {
		if _, fault := Inline(text, server, id); fault == nil || fault.SQLState != "22P02" {
			t.Errorf("%q: %+v", id, fault)
		}
	}
}

// TestProved shows that a text which reads as another command, or holds another query, is a
// defect.
func TestProved(t *testing.T) {
	c := testCatalog()
	read := func(text string) *Directive {
		tr, fault := Native(text, Guard{})
		if fault != nil {
			t.Fatal(text, fault)
		}
		stmt, fault := Parse(text)
		if fault != nil {
			t.Fatal(text, fault)
		}
		d, fault := ReadCommand(stmt, tr, c, true)
		if fault != nil || d == nil {
			t.Fatal(text, fault)
		}
		return d
	}
	for _, s := range []struct{ made, text, query, wrong string }{
		{"BEGIN READ ONLY", "BEGIN READ ONLY", "", "BEGIN"},
		{"BEGIN READ ONLY", "BEGIN READ ONLY", "", "BEGIN READ WRITE"},
		{"SAVEPOINT a", `SAVEPOINT "a"`, "", `SAVEPOINT "A"`},
		{"RELEASE a", `RELEASE "a"`, "", `SAVEPOINT "a"`},
		{"FETCH 2 a", "FETCH 2 a", "", "FETCH 3 a"},
		{"FETCH 2 a", "FETCH 2 a", "", "MOVE 2 a"},
		{"CLOSE a", "CLOSE a", "", "CLOSE ALL"},
		{"COMMIT", "COMMIT", "", "COMMIT; ROLLBACK"},
		{"DECLARE a CURSOR FOR SELECT 1", "DECLARE a CURSOR FOR SELECT 1 + 2", "SELECT 1 + 2", "DECLARE a CURSOR FOR SELECT 1"},
		{"DECLARE a CURSOR FOR SELECT 1", "DECLARE a CURSOR FOR SELECT 1", "SELECT 1", "DECLARE a SCROLL CURSOR FOR SELECT 1"},
		{"DECLARE a CURSOR FOR SELECT 1", "DECLARE a CURSOR FOR SELECT 1", "SELECT 1", "SELECT 1"},
		{"COPY (SELECT 1) TO STDOUT", "COPY (SELECT 1) TO STDOUT", "SELECT 1", "COPY (SELECT 1) TO STDOUT CSV"},
		{"COPY (SELECT 1) TO STDOUT", "COPY (SELECT 1) TO STDOUT", "SELECT 1", "COPY (SELECT 1) TO '/tmp/x'"},
		{"COPY (SELECT 1) TO STDOUT", "COPY (SELECT 1) TO STDOUT", "SELECT 1", "COPY (SELECT 2) TO STDOUT"},
		{"COPY messages TO STDOUT CSV", "COPY (SELECT 1) TO STDOUT CSV", "SELECT 1", "COPY messages TO STDOUT CSV"},
		{"COPY (SELECT 1) TO STDOUT CSV FORCE QUOTE a", "COPY (SELECT 1) TO STDOUT CSV FORCE QUOTE a", "SELECT 1", "COPY (SELECT 1) TO STDOUT CSV FORCE QUOTE b"},
	} {
		d := read(s.made)
		if fault := d.Proved(s.text, s.query, c); fault != nil {
			t.Errorf("%s: %+v", s.text, fault)
		}
		if fault := d.Proved(s.wrong, s.query, c); fault == nil || fault.Code != Internal {
			t.Errorf("%s passes for %s: %+v", s.wrong, s.made, fault)
		}
	}
}

// TestHolds shows that a command's query is told from another one.
func TestHolds(t *testing.T) {
	for text, query := range map[string]string{
		"DECLARE a CURSOR FOR /* for */ SELECT 1": "/* for */ SELECT 1",
		"COPY (SELECT (1), ')') TO STDOUT":        "SELECT (1), ')'",
	} {
		tr, _ := Native(text, Guard{})
		stmt, _ := Parse(text)
		d, fault := ReadCommand(stmt, tr, testCatalog(), true)
		if fault != nil {
			t.Fatal(text, fault)
		}
		inner, fault := Parse(tr.Text[d.Start:d.End])
		if fault != nil || !d.Holds(inner) {
			t.Errorf("%s: %q, %+v", text, tr.Text[d.Start:d.End], fault)
		}
		other, _ := Parse(query + " LIMIT 1")
		if d.Holds(other) || (&Directive{}).Holds(inner) {
			t.Errorf("%s holds another query", text)
		}
	}
}
