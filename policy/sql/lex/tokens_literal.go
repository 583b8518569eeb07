package lex

// Literal passes a literal: a number with its signs, as -1 and - (1), or a string with its
// UESCAPE.
func (t *Cursor) Literal() {
	for t.Is("-") {
		t.Pos++
	}
	t.Word()
	if t.Is("uescape") {
		t.Pos += 2
	}
}

// IsZone tells WITH TIME ZONE and WITHOUT TIME ZONE, and the words behind the first.
func (t *Cursor) IsZone() bool {
	next := Cursor{t.Source, t.Pos + 1}
	return t.IsAny("with", "without") && next.Is("time") || t.Is("time") && next.Is("zone") || t.Is("zone") && t.Follows("time")
}

// Word passes a word, or a group in brackets.
func (t *Cursor) Word() {
	if t.IsAny("(", "[") {
		t.SkipGroup()
		return
	}
	t.Pos++
}
