package values

import "testing"

// Ensure a row's values are taken as they stand, and a row that lies about them is refused.
func TestCells(t *testing.T) {
	e, columns := &Encoder{Most: 1 << 20}, []Type{scalar(textKind), scalar(textKind), scalar(textKind)}
	whole := "\x00\x03" + "\xff\xff\xff\xff" + "\x00\x00\x00\x00" + "\x00\x00\x00\x02ab"
	if got, err := e.Row(nil, columns, []byte(whole)); err != nil || string(got) != `[null,"","ab"]` {
		t.Errorf("%s, %v", got, err)
	}
	for n := range len(whole) {
		if got, err := e.Row(nil, columns, []byte(whole[:n])); err == nil {
			t.Errorf("its first %d bytes became %s", n, got)
		}
	}
	for _, row := range []string{"\x00\x02" + whole[2:], "\x00\x04" + whole[2:], "\x00\x03\xff\xff\xff\xfe" + whole[6:], "\x00\x03\x7f\xff\xff\xff" + whole[6:]} {
		if got, err := e.Row(nil, columns, []byte(row)); err == nil {
			t.Errorf("%q became %s", row, got)
		}
	}
}
