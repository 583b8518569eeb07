package constants

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// TestFill shows that only the text which Fill makes passes its proof.
func TestFill(t *testing.T) {
	const text = `COPY (SELECT $1::text, 'a' FROM t WHERE s = $1::text AND u IN ($2)) TO STDOUT`
	fillings := []Filling{{Constant: true, Value: "o'x"}, {Constant: true, Value: `b\`, Type: tree.TypeName{Schema: "pg_catalog", Name: "int4"}}}
	final, fault := Fill(text, fillings)
	if want := `COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ((COALESCE((SELECT  E'b\\'::"pg_catalog"."int4"))))) TO STDOUT`; fault != nil || final.Text != want {
		t.Fatalf("%q, %+v", final.Text, fault)
	}
	stmt, _ := tree.Parse(text)
	const tail = ` AND u IN ((COALESCE((SELECT  E'b\\'::"pg_catalog"."int4"))))) TO STDOUT`
	for _, other := range []string{
		`COPY (SELECT 'o''x'::text, 'b' FROM t WHERE s = 'o''x'::text` + tail,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''y'::text` + tail,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = $1::text` + tail,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = ('o''x' || '')::text` + tail,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text OR true` + tail,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ((COALESCE((SELECT  E'b\\'::"pg_catalog"."int4"))))) TO '/tmp/x'`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ('b\'::"pg_catalog"."int4")) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ((SELECT  E'b\\'::"pg_catalog"."int4"))) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ((COALESCE((SELECT  E'b\\'::"pg_catalog"."int8"))))) TO STDOUT`,
		`COPY (SELECT 'o''x'::text, 'a' FROM t WHERE s = 'o''x'::text AND u IN ((COALESCE((SELECT  E'b\\'::"pg_catalog"."int4" FROM u))))) TO STDOUT`,
		`SELECT 1`,
	} {
		if changed, _ := tree.Parse(other); filled(stmt, changed, fillings, nil) == nil {
			t.Errorf("%s passes", other)
		}
	}
	long := []Filling{fillings[0], {Constant: true, Value: strings.Repeat("x", tree.ParseGuard().MaxBytes)}}
	if _, fault := Fill(text, long); fault == nil || fault.Code != refusal.ConstructNotAllowed {
		t.Errorf("what is too long to be parsed is no defect: %+v", fault)
	}
	if _, fault := Fill(text, fillings[:1]); fault == nil || fault.Code != refusal.Internal {
		t.Errorf("a parameter without a value is left: %+v", fault)
	}
}

// TestFillKeeps shows that a parameter that stays is hidden all the same.
func TestFillKeeps(t *testing.T) {
	final, fault := Fill(`DECLARE c CURSOR FOR SELECT 1 FROM t WHERE s = $1 AND u = $2`, []Filling{{}, {Type: tree.TypeName{Schema: "a", Name: "b"}}})
	if want := `DECLARE c CURSOR FOR SELECT 1 FROM t WHERE s = $1 AND u = (COALESCE((SELECT $2::"a"."b")))`; fault != nil || final.Text != want {
		t.Fatalf("%q, %+v", final.Text, fault)
	}
	results, _ := Fill(`DECLARE c CURSOR FOR SELECT $1, x + $1, (SELECT $1) FROM t GROUP BY x + $2 HAVING x > $1 UNION SELECT $1 ORDER BY $1`, []Filling{{Type: tree.TypeName{Schema: "a", Name: "b"}}, {Type: tree.TypeName{Schema: "a", Name: "b"}}})
	const hidden = `(COALESCE((SELECT $1::"a"."b")))`
	if want := `DECLARE c CURSOR FOR SELECT $1, x + $1, (SELECT ` + hidden + `) FROM t GROUP BY x + $2 HAVING x > ` + hidden + ` UNION SELECT $1 ORDER BY $1`; results.Text != want {
		t.Errorf("%q", results.Text)
	}
	results, _ = Fill(`DECLARE c CURSOR FOR SELECT x + $1, x + $2 FROM t GROUP BY x + $1, x + $2 HAVING x + $1 > 0`, []Filling{{Type: tree.TypeName{Schema: "a", Name: "b"}}, {Type: tree.TypeName{Schema: "a", Name: "b"}}})
	if want := `DECLARE c CURSOR FOR SELECT x + ` + hidden + `, x + $2 FROM t GROUP BY x + ` + hidden + `, x + $2 HAVING x + ` + hidden + ` > 0`; results.Text != want {
		t.Errorf("%q", results.Text)
	}
	results, _ = Fill(`DECLARE c CURSOR FOR SELECT x + $1, 'a' AS k, y + $2 AS k FROM t GROUP BY 1, k HAVING x + $1 > y + $2`, []Filling{{Type: tree.TypeName{Schema: "a", Name: "b"}}, {Type: tree.TypeName{Schema: "a", Name: "b"}}})
	second := strings.ReplaceAll(hidden, "$1", "$2")
	if want := `DECLARE c CURSOR FOR SELECT x + ` + hidden + `, 'a' AS k, y + ` + second + ` AS k FROM t GROUP BY 1, k HAVING x + ` + hidden + ` > y + ` + second; results.Text != want {
		t.Errorf("%q", results.Text)
	}
	if _, ok := final.Offset(len(final.Text) - 3); ok {
		t.Error("what was put in has an offset")
	}
	if got, ok := final.Offset(len(final.Text)); !ok || got != len(`DECLARE c CURSOR FOR SELECT 1 FROM t WHERE s = $1 AND u = $2`) {
		t.Errorf("the end is at %d, %v", got, ok)
	}
}

// Ensure a value is not hidden in what a level groups by in sets, where each place would be another value to the planner.
func TestFillSets(t *testing.T) {
	hidden := []Filling{{Constant: true, Value: "a", Type: tree.TypeName{Schema: "a", Name: "b"}}, {Type: tree.TypeName{Schema: "a", Name: "b"}}}
	for query, refused := range map[string]bool{
		"SELECT 1 FROM (SELECT x || $2 FROM t GROUP BY ROLLUP (x || $2)) s":           true,
		"SELECT 1 FROM (SELECT x || $2 FROM t GROUP BY x, CUBE (x || $2)) s":          true,
		"SELECT 1 FROM (SELECT x || $2 AS k FROM t GROUP BY ROLLUP (k)) s":            true,
		"SELECT 1 FROM (SELECT $2, x || $2 FROM t GROUP BY CUBE (2)) s":               true,
		"SELECT 1 FROM (SELECT coalesce(x, $2) FROM t GROUP BY CUBE (coalesce)) s":    true,
		"SELECT 1 FROM (SELECT $2, x AS k, y FROM t GROUP BY ROLLUP (k, y), z) s":     false,
		"SELECT x || $2 FROM t GROUP BY ROLLUP (1) HAVING x || $2 IS NULL":            true,
		"SELECT 1 WHERE 1 = (SELECT 1 FROM t GROUP BY GROUPING SETS ((x || $2), ()))": true,
		"SELECT x || $2 FROM t GROUP BY ROLLUP (x || $2) HAVING x || $2 IS NULL":      true,
		"SELECT x || $1 FROM t GROUP BY ROLLUP (x || $1)":                             true,
		"SELECT x || $2 FROM t GROUP BY ROLLUP (x || $2) HAVING count(*) > 1":         false,
		"SELECT 1 FROM (SELECT x || $2 FROM t GROUP BY x || $2) s":                    false,
		"SELECT 1 FROM (SELECT x FROM t WHERE y = $2 GROUP BY ROLLUP (x)) s":          false,
	} {
		_, fault := Fill("DECLARE c CURSOR FOR "+query, hidden)
		if (fault != nil) != refused || refused && fault.SQLState != "0A000" {
			t.Errorf("%s: %+v", query, fault)
		}
	}
}
