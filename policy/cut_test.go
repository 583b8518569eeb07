package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

func TestCut(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              {""},
		"SELECT 1":                      {"SELECT 1"},
		"SELECT 1;":                     {"SELECT 1", ""},
		"SELECT ';' ; SELECT $$;$$;;x":  {"SELECT ';' ", " SELECT $$;$$", "", "x"},
		`SELECT ";" -- ;`:               {`SELECT ";" -- ;`},
		"SELECT /* ; /* ; */ ; */ 1; 2": {"SELECT /* ; /* ; */ ; */ 1", " 2"},
		`SELECT E'\';', ';''' ;a`:       {`SELECT E'\';', ';''' `, "a"},
		"SELECT a ?; b ??; c":           {"SELECT a ?", " b ??", " c"},
		"SELECT 'a; b; c":               {"SELECT 'a; b; c"},
		"SELECT 1; 'a; b":               {"SELECT 1", " 'a; b"},
	} {
		var got []string
		for rest, more := text, true; more; {
			var statement string
			statement, rest, more = policy.Cut(rest)
			got = append(got, statement)
		}
		if !slices.Equal(got, want) || strings.Join(got, ";") != text {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
