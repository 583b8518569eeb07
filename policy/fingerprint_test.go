package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure texts that differ in what is no part of the statement have one fingerprint.
func TestFingerprintOfEqualStatements(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a string":              {"SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'it''s'"},
		"a number":              {"SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 1_000.5e3"},
		"a signed number":       {"SELECT a FROM t WHERE b = -1 AND c IN (-2)", "SELECT a FROM t WHERE b = 1 AND c IN (+2)"},
		"a dollar quote":        {"SELECT $$x$$", "SELECT $tag$ y; $$ ' $tag$"},
		"an escape string":      {"SELECT 'x'", `SELECT E'\'; DROP'`},
		"a bit string":          {"SELECT B'1'", "SELECT x'1F'"},
		"a national string":     {"SELECT 'x'", "SELECT N'y'"},
		"a Unicode string":      {"SELECT 'x'", `SELECT U&'\0061'`},
		"a continued string":    {"SELECT 'x'", "SELECT 'x'\n 'y'"},
		"a parameter":           {"SELECT a FROM t WHERE b = $1", "SELECT a FROM t WHERE b = $22"},
		"a value as parameter":  {"SELECT a FROM t WHERE b = 5", "SELECT a FROM t WHERE b = $1"},
		"a placeholder":         {"SELECT a FROM t WHERE b = ?", "SELECT a FROM t WHERE b = $1"},
		"a list":                {"SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN ('x', $2, -3, ?)"},
		"comments":              {"SELECT a FROM t", "/* it's */ SELECT a -- ;\n FROM/**/t"},
		"white space":           {"SELECT a,b FROM t", "SELECT\ta , b\r\n FROM t "},
		"the case of names":     {"SELECT a FROM t", "select A from T"},
		"semicolons at the end": {"SELECT a FROM t", "SELECT a FROM t ; ;"},
	} {
		one, other := policy.Fingerprint(pair[0]), policy.Fingerprint(pair[1])
		if one != other || len(one) != 16 || strings.Trim(one, "0123456789abcdef") != "" {
			t.Errorf("%s: %q has %q, %q has %q", name, pair[0], one, pair[1], other)
		}
	}
}

// Ensure other statements have others.
func TestFingerprintOfOtherStatements(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a table":                    {"SELECT a FROM t", "SELECT a FROM u"},
		"a quoted name's case":       {`SELECT "a" FROM t`, `SELECT "A" FROM t`},
		"a name's case beyond ASCII": {"SELECT ä FROM t", "SELECT Ä FROM t"},
		"an operator":                {"SELECT a < 1 FROM t", "SELECT a > 1 FROM t"},
		"a sum's sign":               {"SELECT a - 1 FROM t", "SELECT a + 1 FROM t"},
		"a constant more":            {"SELECT a, 1 FROM t", "SELECT 1, a FROM t"},
		"a string and a name":        {"SELECT 'a' FROM t", `SELECT "a" FROM t`},
	} {
		if one, other := policy.Fingerprint(pair[0]), policy.Fingerprint(pair[1]); one == other || one == "" || other == "" {
			t.Errorf("%s: %q has %q, %q has %q", name, pair[0], one, pair[1], other)
		}
	}
}

// Ensure what can't be scanned has none.
func TestFingerprintOfNoStatement(t *testing.T) {
	for _, text := range []string{"", " -- nothing", "SELECT 'x", "SELECT 1; SELECT 2", "SELECT \x00", "SELECT '" + strings.Repeat("x", 10_240) + "'"} {
		if got := policy.Fingerprint(text); got != "" {
			t.Errorf("%.20q has %q", text, got)
		}
	}
}

// Ensure a fingerprint takes time and memory in proportion to the text's length: lists are collapsed as they come.
func TestFingerprintOfLongLists(t *testing.T) {
	list := "SELECT a FROM t WHERE b IN (" + strings.Repeat("1,", 5000) + "1)"
	if policy.Fingerprint(list) != policy.Fingerprint("SELECT a FROM t WHERE b IN (2)") {
		t.Error("a long list has another fingerprint")
	}
	if got := testing.AllocsPerRun(10, func() { policy.Fingerprint(list) }); got > 10 {
		t.Errorf("%.0f allocations", got)
	}
}
