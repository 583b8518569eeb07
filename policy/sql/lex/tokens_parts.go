package lex

import "slices"

// OpensQuery tells whether the bracket at the cursor is one around a query of which the
// token before is the first that the tree knows the place of.
func (t Cursor) OpensQuery(before int) bool {
	for t.Is("(") {
		t.Pos++
	}
	return t.Pos <= before && t.IsAny("select", "values", "table", "with")
}

// Arms finds the words with which the arms of the query at the cursor begin, SELECT,
// VALUES or TABLE; at most one more than expected.
func (t Cursor) Arms(expected int) (starts []Cursor) {
	for depth := 0; !t.Done() && len(starts) <= expected; t.Pos++ {
		for t.Is("(") {
			depth++
			t.Pos++
		}
		if !t.Is("select") && !t.Is("values") && !t.Is("table") {
			return starts
		}
		starts = append(starts, t)
		t.Pos++
		t.Seek("union", "intersect", "except")
		for depth > 0 && t.Is(")") {
			depth--
			t.Pos++
			t.Seek("union", "intersect", "except")
		}
		if !t.Is("union") && !t.Is("intersect") && !t.Is("except") {
			return starts
		}
		if after := (Cursor{t.Source, t.Pos + 1}); after.Is("all") || after.Is("distinct") {
			t.Pos++
		}
	}
	return starts
}

// Parts cuts a condition that starts at the cursor at its ANDs; one with an OR beside them
// is a single part, since AND binds tighter.
func (t Cursor) Parts() (stretches []Span) {
	start, depth, between, either := t, 0, 0, false
	for ; !t.Done(); t.Pos++ {
		if depth == 0 {
			switch {
			case t.endsCondition():
				return finish(stretches, start, t, either)
			case t.keyword("between"):
				between++
			case t.keyword("and") && between > 0:
				between--
			case t.keyword("and"):
				stretches = append(stretches, Span{start.Start(), t.End()})
				start = Cursor{t.Source, t.Pos + 1}
			case t.keyword("or"):
				either = true
			}
		}
		if depth += t.Nesting() + t.caseNesting(); depth < 0 {
			break
		}
	}
	return finish(stretches, start, t, either)
}

// keyword tells whether the token is that word and no column's or label's name.
func (t *Cursor) keyword(word string) bool { return t.Is(word) && !t.Follows(".") && !t.Follows("as") }

// IsAny tells whether the token is one of the words.
func (t *Cursor) IsAny(words ...string) bool { return slices.ContainsFunc(words, t.Is) }

func (t *Cursor) caseNesting() int {
	switch {
	case t.keyword("case"):
		return 1
	case t.keyword("end"):
		return -1
	}
	return 0
}

// endsCondition tells whether a condition ends before the token.
func (t *Cursor) endsCondition() bool {
	if t.Follows(".") {
		return false
	}
	if t.IsAny("join", "left", "right", "full", "inner", "cross", "natural") { // or left(…)
		next := Cursor{t.Source, t.Pos + 1}
		return !next.Is("(") || t.Is("join")
	}
	if t.Is("group") { // or WITHIN GROUP
		return !t.Follows("within")
	}
	return t.IsAny("where", "on", "using", "having", "window", "union", "intersect", "except", "order", "limit", "offset", "fetch", "for", "returning", ",", ";")
}

// Span is a part of a condition in the text, from byte start up to and not including end.
type Span struct{ Start, End int }

func finish(stretches []Span, start, end Cursor, either bool) []Span {
	last := Span{start.Start(), end.End()}
	if either && len(stretches) > 0 {
		return []Span{{stretches[0].Start, last.End}}
	}
	return append(stretches, last)
}
