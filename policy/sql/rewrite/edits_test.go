package rewrite

import (
	"strings"
	"testing"
)

// Ensure the name for the added joins is short, whatever the text holds.
func TestFreshName(t *testing.T) {
	for _, text := range []string{"", "_tg", "_TG1", "_tg1_ _tg2_", "_tg" + strings.Repeat("_", 10_000), strings.Repeat("_tg1__tg2__tg3_", 600)} {
		name := freshName(text)
		if strings.Contains(strings.ToLower(text), name) || len(name) > 12 {
			t.Errorf("%.30s: %s", text, name)
		}
	}
}

// Ensure edits that contradict each other are a fault.
func TestOverlappingEdits(t *testing.T) {
	for _, edits := range [][]edit{
		{{0, 4, replacing, "a"}, {2, 6, replacing, "b"}}, {{0, 4, replacing, "a"}, {0, 4, replacing, "b"}}, {{0, 4, replacing, "a"}, {2, 2, opening, "b"}},
	} {
		if text, _, fault := apply("abcdefgh", edits); fault == nil {
			t.Errorf("%v made %s", edits, text)
		}
	}
	if text, _, fault := apply("ab cd", []edit{{3, 5, replacing, "x"}, {0, 2, replacing, "y"}, {2, 2, closing, ")"}, {3, 3, opening, "("}}); fault != nil || text != "y) (x" {
		t.Errorf("%q %v", text, fault)
	}
}
