package metrics

// other is the label value of everything outside a label's known values.
const other = "other"

// bounded holds one T for each known value of a label and one for all others. It is
// immutable, so it needs no lock, and looking up allocates nothing.
type bounded[T any] struct {
	known map[string]T
	rest  T
}

func newBounded[T any](values []string, build func(value string) T) bounded[T] {
	b := bounded[T]{known: make(map[string]T, len(values)), rest: build(other)}
	for _, value := range values {
		b.known[value] = build(value)
	}
	return b
}

// of gives what is kept for value.
func (b bounded[T]) of(value string) T {
	if t, ok := b.known[value]; ok {
		return t
	}
	return b.rest
}
