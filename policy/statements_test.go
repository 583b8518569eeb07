package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

func TestStatements(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		" ; ;; ":                           nil,
		"-- nothing":                       nil,
		"select 1":                         {"select 1"},
		"select 1;":                        {"select 1"},
		"; select ';'; /* ; */ select 2 ;": {"select ';'", "/* ; */ select 2"},
		"select $$;$$, \";\"; x":           {`select $$;$$, ";"`, "x"},
		"select 'a; b":                     {"select 'a; b"},
		"select a ? 'b'; select $1":        {"select a ? 'b'", "select $1"},
	} {
		if got, ok := policy.Statements(text, 10); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q %t", text, got, ok)
		}
	}
	if _, ok := policy.Statements("a;b;c", 3); !ok {
		t.Error("three are too many")
	}
	if _, ok := policy.Statements("a;b;c;d", 3); ok {
		t.Error("four are not too many")
	}
}

// However a text of a megabyte is made, it is cut in little time.
func TestStatementsAreQuick(t *testing.T) {
	for _, piece := range []string{";", "select 1;", "/* */;", "select (1", "select 'a", "\u00e9;", "--;\n;", "$a$;"} {
		start := time.Now()
		_, _ = policy.Statements(strings.Repeat(piece, 1<<20/len(piece)), 1000)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q took %v", piece, took)
		} else {
			t.Logf("%q took %v", piece, took)
		}
	}
}
