package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestParametrize shows which constants become parameters: each $n with its value and, for a
// number, its type.
func TestParametrize(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE id = 5":                                                                                    "SELECT a FROM t WHERE id = $1 [5:23]",
		"select a from t where b='it''s'and c<>'\\' or d = 1.50":                                                          `select a from t where b=$1 and c<>$2 or d = $3 [it's:0 \:0 1.50:1700]`,
		"SELECT a FROM t WHERE id IN (1, 2) AND b IN ('x','y') LIMIT 10 OFFSET 5;":                                        "SELECT a FROM t WHERE id IN ($1, $2) AND b IN ($3,$4) LIMIT $5 OFFSET $6 [1:23 2:23 x:0 y:0 10:23 5:23]",
		"INSERT INTO t (a, b) VALUES (1, 'x'), (-2, NULL)":                                                                "INSERT INTO t (a, b) VALUES ($1, $2), (-$3, NULL) [1:23 x:0 2:23]",
		"UPDATE t SET a = a + 7, b = 'x' WHERE id = 3":                                                                    "UPDATE t SET a = a + $1, b = $2 WHERE id = $3 [7:23 x:0 3:23]",
		"SELECT round(a, 2), a::numeric(10,2), cast(b AS varchar(20)) FROM t":                                             "SELECT round(a, $1), a::numeric(10,2), cast(b AS varchar(20)) FROM t [2:23]",
		"SELECT a, b FROM t WHERE c = 1 ORDER BY 2, (SELECT d ORDER BY 1), 1 LIMIT 3":                                     "SELECT a, b FROM t WHERE c = $1 ORDER BY 2, (SELECT d ORDER BY 1), 1 LIMIT $2 [1:23 3:23]",
		"SELECT random() * 5 AS k FROM t WHERE a = 5 ORDER BY k":                                                          "",
		"SELECT pg_catalog.\"random\" () * 5 FROM t ORDER BY 1":                                                           "",
		"SELECT random() * 5 FROM t":                                                                                      "SELECT random() * $1 FROM t [5:23]",
		"SELECT random() * 5 FROM t ORDER BY random() * 5":                                                                "",
		"SELECT a, 5 FROM t ORDER BY 5 * a":                                                                               "",
		"SELECT a, 5 FROM t ORDER BY a, f(b, 5) DESC LIMIT 1":                                                             "",
		"SELECT a, 5 FROM t ORDER BY 2 DESC, 1 NULLS FIRST":                                                               "SELECT a, $1 FROM t ORDER BY 2 DESC, 1 NULLS FIRST [5:23]",
		"SELECT a FROM t WHERE b > date '2020-01-01' AND c = 4":                                                           "SELECT a FROM t WHERE b > date '2020-01-01' AND c = $1 [4:23]",
		"SELECT a[1], concat('x', 'y') FROM t WHERE c = 4":                                                                "SELECT a[1], concat('x', 'y') FROM t WHERE c = $1 [4:23]",
		"SELECT a FROM t WHERE b = 'x' || c AND d = 'x' COLLATE \"C\" AND e = 4":                                          "SELECT a FROM t WHERE b = 'x' || c AND d = 'x' COLLATE \"C\" AND e = $1 [4:23]",
		"SELECT a FROM t WHERE b = E'x' AND c = 2147483648 AND d = 1e5 AND e = 4":                                         "SELECT a FROM t WHERE b = E'x' AND c = 2147483648 AND d = 1e5 AND e = $1 [4:23]",
		"SELECT substring(a FROM 2 FOR 3) FROM t WHERE b BETWEEN 1 AND 2":                                                 "SELECT substring(a FROM 2 FOR 3) FROM t WHERE b BETWEEN $1 AND $2 [1:23 2:23]",
		"SELECT a like'x',b ilike'y'FROM t WHERE c=5 AND d LIKE\n'z'AND e<.5":                                             "SELECT a like $1,b ilike $2 FROM t WHERE c=$3 AND d LIKE\n$4 AND e<.5 [x:0 y:0 5:23 z:0]",
		"SELECT a FROM t ORDER BY t.limit, 1, t . FOR, 2 LIMIT 5":                                                         "SELECT a FROM t ORDER BY t.limit, 1, t . FOR, 2 LIMIT $1 [5:23]",
		"SELECT t.group, t.order, 5 FROM t":                                                                               "SELECT t.group, t.order, $1 FROM t [5:23]",
		"INSERT INTO t VALUES (1) ON CONFLICT ((a+2)) WHERE b = 'x' AND c = 3 DO UPDATE SET a = 4, b = 'y' WHERE t.c = 5": "INSERT INTO t VALUES ($1) ON CONFLICT ((a+2)) WHERE b = 'x' AND c = 3 DO UPDATE SET a = $2, b = $3 WHERE t.c = $4 [1:23 4:23 y:0 5:23]",
		"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING RETURNING a, 5":                                                  "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING RETURNING a, $2 [1:23 5:23]",
		"INSERT INTO t VALUES (1, 'x'), (2, 'y') RETURNING 3, ('a'), ('b')":                                               "INSERT INTO t VALUES ($1, $2), ($3, $4) RETURNING 3, ('a'), ('b') [1:23 x:0 2:23 y:0]",
		"INSERT INTO t SELECT 'x', ('a'), v.a FROM (VALUES ('x'), ('y')) v (a) WHERE c = 5":                               "INSERT INTO t SELECT 'x', ('a'), v.a FROM (VALUES ('x'), ('y')) v (a) WHERE c = $1 [5:23]",
		"SELECT a FROM f(1) AS t (a varbit(5), \"b\" s.varbit(3)) JOIN LATERAL (SELECT g(2)) x ON c = 5":                  "SELECT a FROM f($1) AS t (a varbit(5), \"b\" s.varbit(3)) JOIN LATERAL (SELECT g($2)) x ON c = $3 [1:23 2:23 5:23]",
		"SELECT varbit(5) '1' FROM t WHERE id = 5":                                                                        "",
		"SELECT a FROM t FULL JOIN u ON 1 = 1":                                                                            "",
		"SELECT a FROM t WHERE id = $1 AND b = 5":                                                                         "",
		"SELECT a FROM t WHERE b = 5 GROUP BY 1":                                                                          "",
		"SELECT DISTINCT a FROM t WHERE b = 5":                                                                            "",
		"SELECT 'a' FROM t UNION SELECT 'b' WHERE 1 = 1":                                                                  "",
		"SELECT 5; SELECT 6":            "",
		"WITH x AS (SELECT 5) SELECT 6": "",
		"COPY (SELECT 5) TO STDOUT":     "",
		"SELECT a FROM t":               "",
		"SELECT 'x":                     "",
	} {
		got := ""
		if p, ok := policy.Parametrize(text); ok {
			var values []string
			for i, a := range p.Args {
				values = append(values, a.Text+":"+map[uint32]string{0: "0", 23: "23", 1700: "1700"}[p.Types[i]])
			}
			got = p.Text + " [" + strings.Join(values, " ") + "]"
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestFleeting shows which texts name a time by the clock.
func TestFleeting(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]bool{
		"SELECT 'NOW'::timestamptz": true, "SELECT date 'today'": true, `SELECT E'n\x6fw'::timestamptz`: true, "SELECT '2020-01-01'::date": false, "SELECT now()": false,
		"SELECT timestamptz 'no'\n'w'": true, "SELECT timestamptz 'to' \r\n '' \n 'day'": true, `SELECT timestamptz U&'!006eow' UESCAPE '!'`: true, `SELECT timestamptz u&'\006eow'`: true,
		"SELECT timestamptz $$now$$": true, "SELECT timestamptz $a$2020-01-01$a$": false, "SELECT 'it''s', '', ''''": false,
	} {
		if d := p.Decide(text, policy.Postgres); d.Approved == nil || d.Approved.Fleeting() != want {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// TestDurationsKeepConstants shows which statements give their constants to intervals, whose
// units may be the column's to say.
func TestDurationsKeepConstants(t *testing.T) {
	schema := readSchema(t)
	for i := range schema.Tables {
		for j := range schema.Tables[i].Columns {
			if c := &schema.Tables[i].Columns[j]; schema.Tables[i].Name == "messages" && c.Name == "content" {
				c.TypeName = "interval"
			}
		}
	}
	p := compile(t, "inject", schema)
	for text, want := range map[string]bool{
		"INSERT INTO messages (id, content) VALUES ($1, $2)": true, "INSERT INTO messages (id, role) VALUES ($1, $2)": false,
		"UPDATE messages SET content = $1 WHERE id = $2": true, "UPDATE messages SET role = $1 WHERE content = $2": false,
		"INSERT INTO messages (id) VALUES ($1) ON CONFLICT (server_id, id) DO UPDATE SET content = $2": true,
		"SELECT id FROM messages WHERE content > $1":                                                   false,
	} {
		if d := p.Decide(text, policy.Postgres); d.Approved == nil || d.Approved.KeepsConstants() != want {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// TestParametrizedPosition shows that a place in what was made leads back to the text.
func TestParametrizedPosition(t *testing.T) {
	text := "SELECT é FROM t WHERE a = 'long text'AND b = 12345 AND d like'x'AND c = nope"
	p, ok := policy.Parametrize(text)
	if !ok {
		t.Fatal("nothing was taken out")
	}
	for _, mark := range []string{"é", "t WHERE", "a =", "b =", "d like", "c =", "nope"} {
		at := len([]rune(p.Text[:strings.Index(p.Text, mark)])) + 1
		want := len([]rune(text[:strings.Index(text, mark)])) + 1
		if got := p.CallerPosition(at); got != want {
			t.Errorf("%s at %d: got %d, want %d", mark, at, got, want)
		}
	}
	if got, want := p.Position(1), len([]rune(text[:strings.Index(text, "12345")]))+1; got != want {
		t.Errorf("the second constant is at %d, want %d", got, want)
	}
}

func BenchmarkParametrize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := policy.Parametrize("UPDATE accounts SET balance = balance + 1234 WHERE id = 98765 AND name = 'somebody'"); !ok {
			b.Fatal("nothing was taken out")
		}
	}
}
