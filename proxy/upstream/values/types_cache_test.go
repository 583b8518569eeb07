package values

import "testing"

// Ensure the types that are remembered are bounded.
func TestTypesAreBounded(t *testing.T) {
	types := NewTypes()
	for i := range uint32(3 * maxTypes) {
		types.Learn([]uint32{20_000 + i}, nil)
		if len(types.known) > maxTypes {
			t.Fatalf("%d types are kept", len(types.known))
		}
	}
}
