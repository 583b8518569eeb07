package sqltree

import "slices"

// parts cuts a condition that starts at the cursor at its ANDs; one with an OR beside them
// is a single part, since AND binds tighter.
func (t tokens) parts() (stretches []stretch) {
	start, depth, between, either := t, 0, 0, false
	for ; !t.done(); t.i++ {
		if depth == 0 {
			switch {
			case t.endsCondition():
				return finish(stretches, start, t, either)
			case t.keyword("between"):
				between++
			case t.keyword("and") && between > 0:
				between--
			case t.keyword("and"):
				stretches = append(stretches, stretch{start: start.start(), end: t.end()})
				start = tokens{t.tr, t.i + 1}
			case t.keyword("or"):
				either = true
			}
		}
		if depth += t.nesting() + t.caseNesting(); depth < 0 {
			break
		}
	}
	return finish(stretches, start, t, either)
}

func finish(stretches []stretch, start, end tokens, either bool) []stretch {
	last := stretch{start: start.start(), end: end.end()}
	if either && len(stretches) > 0 {
		return []stretch{{start: stretches[0].start, end: last.end}}
	}
	return append(stretches, last)
}

// keyword tells whether the token is that word and no column's or label's name.
func (t *tokens) keyword(word string) bool { return t.is(word) && !t.before(".") && !t.before("as") }

func (t *tokens) isAny(words ...string) bool { return slices.ContainsFunc(words, t.is) }

func (t *tokens) caseNesting() int {
	switch {
	case t.keyword("case"):
		return 1
	case t.keyword("end"):
		return -1
	}
	return 0
}

// endsCondition tells whether a condition ends before the token.
func (t *tokens) endsCondition() bool {
	if t.before(".") {
		return false
	}
	if t.isAny("join", "left", "right", "full", "inner", "cross", "natural") { // or left(…)
		next := tokens{t.tr, t.i + 1}
		return !next.is("(") || t.is("join")
	}
	if t.is("group") { // or WITHIN GROUP
		return !t.before("within")
	}
	return t.isAny("where", "on", "using", "having", "window", "union", "intersect", "except", "order", "limit", "offset", "fetch", "for", "returning", ",", ";")
}
