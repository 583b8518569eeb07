package tree

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// setOf spells SET (a, …) = (source) with that many columns.
func setOf(columns int, source string) string {
	return "SET (" + strings.TrimSuffix(strings.Repeat("a,", columns), ",") + ") = (" + source + ")"
}

func nested(depth int) string {
	source := "SELECT 1"
	for range depth {
		source = "WITH x AS (UPDATE t " + setOf(8, source) + ") SELECT 1"
	}
	return source
}

// Ensure a source that the parser would copy too often is refused before the parser has
// it, and that ordinary ones are not.
func TestCopies(t *testing.T) {
	ones := func(n int) string { return "SELECT " + strings.TrimSuffix(strings.Repeat("1,", n), ",") }
	for text, refused := range map[string]bool{
		"UPDATE t " + setOf(2000, ones(2000)):                                         true,
		"UPDATE t " + setOf(500, ones(500)):                                           true,
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE " + setOf(300, ones(300)): true,
		"UPDATE t SET b = 1, " + strings.TrimPrefix(setOf(300, ones(300)), "SET "):    true,
		"UPDATE t " + setOf(300, "SELECT 1") + " + t.where + (" + ones(2000) + ")":    true,
		"UPDATE t " + setOf(300, "SELECT 1") + " OR (" + ones(2000) + ")":             true,
		"UPDATE t " + setOf(2000, "'"+strings.Repeat("a", 5000)+"'"):                  true,
		nested(6): true,
		"UPDATE t " + setOf(20, ones(20)) + " WHERE (a, b) = (1, 2)":                       false,
		"UPDATE t " + setOf(40, "SELECT 1") + ", b = (" + ones(1500) + ")":                 false,
		"UPDATE t " + setOf(40, "SELECT 1") + " WHERE a IN (" + ones(1500) + ")":           false,
		"SELECT 1 WHERE " + strings.Repeat("(a, b, c) = (1, 2, 3) OR ", 300) + "true":      false,
		"SELECT (a, b, c) = (1, 2, 3), " + strings.Repeat("(a, b) = (1, 2), ", 300) + "1":  false,
		"SELECT f(a, (b, c) = (d, e)) WHERE (a, b) = ((SELECT 1), (SELECT 2)) AND (c)=(1)": false,
	} {
		start := time.Now()
		_, f := Parse(text)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%.60s took %s", text, took)
		}
		if copied := f != nil && strings.HasPrefix(f.Message, "SET (…)"); copied != refused {
			t.Errorf("%.60s: %+v", text, f)
		}
	}
}

// Ensure that what the limit lets pass is soon parsed.
func TestCopiesAtTheLimit(t *testing.T) {
	for columns := 2; columns < 1000; columns *= 3 {
		source := "SELECT " + strings.TrimSuffix(strings.Repeat("1,", lex.MaxCopies/columns/2-4), ",")
		start := time.Now()
		_, f := Parse("UPDATE t " + setOf(columns, source))
		if f != nil {
			t.Errorf("%d columns: %+v", columns, f)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d columns took %s", columns, took)
		}
	}
}
