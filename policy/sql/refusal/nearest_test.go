package refusal

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// named pairs names with themselves.
func named(names ...string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, n := range names {
			if !yield(n, "<"+n+">") {
				return
			}
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		misspelt string
		names    []string
		want     []string
	}{
		{"nam", []string{"name", "email", "id"}, []string{"<name>"}},
		{"nmae", []string{"email", "name"}, []string{"<name>"}},
		{"lenght", []string{"height", "length", "left"}, []string{"<length>"}},
		{"lenght", []string{"length", "height"}, []string{"<length>"}},
		{"lenght", []string{"lengt", "length"}, []string{"<lengt>"}}, // one edit is nearer than two
		{"n", []string{"m", "na"}, nil},                              // one wrong character is more than half
		{"nx", []string{"nm", "na"}, []string{"<nm>", "<na>"}},
		{"nx", []string{"nm", "na", "nm"}, []string{"<nm>", "<na>"}},
		{"nx", []string{"nm", "na", "nb"}, nil},
		{"nx", []string{"nm", "na", "nb", "nxx", "nx"}, []string{"<nx>"}},
		{"conversations", []string{"conversion"}, []string{"<conversion>"}},
		{"conversations", []string{"conversi"}, nil},
		{"größe", []string{"grösse", "grosse", "große"}, []string{"<große>"}},
		{"ID", []string{"id", "Name"}, []string{"<id>"}},
		{"naem", []string{"Name"}, []string{"<Name>"}},
		{"", []string{""}, []string{"<>"}},
		{"nam", nil, nil},
	} {
		if got := Nearest(c.misspelt, named(c.names...), 2); !slices.Equal(got, c.want) {
			t.Errorf("%s of %s: %q, want %q", c.misspelt, c.names, got, c.want)
		}
	}
}

// TestDistance compares the distances with those of the definition.
func TestDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	word := func() []rune {
		w := make([]rune, random.IntN(8))
		for i := range w {
			w[i] = rune('a' + random.IntN(3))
		}
		return w
	}
	for range 20_000 {
		a, b, most := word(), word(), random.IntN(5)
		if got, want := min(distance(a, b, most), most+1), min(defined(a, b), most+1); got != want {
			t.Fatalf("%q and %q, at most %d: %d, want %d", string(a), string(b), most, got, want)
		}
	}
}

func defined(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	replaced := defined(a[1:], b[1:])
	if a[0] != b[0] {
		replaced++
	}
	return min(replaced, defined(a[1:], b)+1, defined(a, b[1:])+1)
}
