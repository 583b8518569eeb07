package upstream

import (
	"bytes"
	"testing"

	"github.com/tenantgate/tenantgate/wall"
)

// Ensure what is kept of signing is never given to another server, nor by another key.
func TestSigned(t *testing.T) {
	first, second := wall.Key{Secret: bytes.Repeat([]byte{1}, wall.Size)}, wall.Key{Secret: bytes.Repeat([]byte{2}, wall.Size)}
	s := signed{}
	for i, of := range []struct {
		key    wall.Key
		server string
	}{
		{wall.Key{}, ""}, {first, "a"}, {first, "a"}, {first, "b"}, {second, "b"}, {first, "b"}, {first, ""}, {first, "ab"}, {first, "a"}, {wall.Key{}, ""},
	} {
		if got, want := string(s.by(of.key, of.server)), of.key.Sign(of.server); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { s.by(first, "abc"); s.by(second, "xyz") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
