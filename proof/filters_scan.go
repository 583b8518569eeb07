package proof

import "slices"

// filterScan judges the conditions of a scan of a scoped table.
type filterScan struct {
	*filterPlan
	table, scope string // the numbers of the table among the plan's, and of the scope column in it
}

// isScoped tells the scope condition.
func (s *filterScan) isScoped(v any) bool {
	l, r := s.equation(v)
	return s.isScopeColumn(l) && s.isServer(r) || s.isScopeColumn(r) && s.isServer(l)
}

// isConfined tells a condition of an index, or of several whose rows are put together, that only rows of the server meet.
func (s *filterScan) isConfined(v any) bool {
	n := bare(v)
	if n == nil || n.kind != "BOOLEXPR" {
		return s.isScoped(v)
	}
	if n.text("boolop") == "and" {
		return slices.ContainsFunc(n.list("args"), s.isConfined)
	}
	return n.text("boolop") == "or" && !slices.ContainsFunc(n.list("args"), func(v any) bool { return !s.isConfined(v) })
}

// isGuard is isScoped of the WHEN of a guard, which beside an outer join admits its row of NULLs too. The scope column is never
// NULL otherwise.
func (s *filterScan) isGuard(n *treeNode) bool {
	if n == nil || n.kind != "BOOLEXPR" {
		return s.isScoped(n)
	}
	if n.text("boolop") == "and" {
		return slices.ContainsFunc(n.list("args"), func(v any) bool { return s.isGuard(bare(v)) })
	}
	return n.text("boolop") == "or" && !slices.ContainsFunc(n.list("args"), func(v any) bool { return !s.isScoped(v) && !s.isNullOfScope(bare(v)) })
}

func (s *filterScan) isNullOfScope(n *treeNode) bool {
	return n != nil && n.kind == "NULLTEST" && n.text("nulltesttype") == "0" && s.isScopeColumn(bare(n.child("arg")))
}

func (s *filterScan) isScopeColumn(n *treeNode) bool {
	return n != nil && n.kind == "VAR" && n.text("varno") == s.table && n.text("varattno") == s.scope
}

// isHarmless tells a condition that may be evaluated on other servers' rows: it can't fail, and takes no time. What is not known to
// be so is not.
func (s *filterScan) isHarmless(v any) bool {
	if list, ok := v.([]any); ok {
		return !slices.ContainsFunc(list, func(c any) bool { return !s.isHarmless(c) })
	}
	n := bare(v)
	if n == nil {
		return false
	}
	switch n.kind {
	case "VAR", "CONST", "CASETESTEXPR", "SQLVALUEFUNCTION":
		return true
	case "PARAM":
		return s.isKnown(n)
	case "NULLTEST", "BOOLEANTEST":
		return s.isHarmless(n.child("arg"))
	case "BOOLEXPR", "COALESCE", "COALESCEEXPR", "MINMAX", "MINMAXEXPR":
		return s.isHarmless(n.list("args"))
	case "ARRAY", "ARRAYEXPR", "ARRAYCOERCEEXPR":
		return s.isGiven(n)
	case "OPEXPR", "SCALARARRAYOPEXPR", "DISTINCTEXPR", "NULLIFEXPR", "FUNCEXPR":
		return s.catalog.leakproof[n.text("opfuncid")+n.text("funcid")] != "" && s.isHarmless(n.list("args"))
	case "CASE", "CASEEXPR":
		return n.child("arg") == nil && s.isHarmlessCase(n)
	}
	return false
}

// isHarmlessCase tells a guard, and a CASE of what is harmless.
func (s *filterScan) isHarmlessCase(n *treeNode) bool {
	whens := n.list("args")
	if first, _ := whens[0].(*treeNode); s.isGuard(bare(first.child("expr"))) {
		whens = whens[1:] // what it guards is evaluated on rows of the server alone
	}
	return s.isHarmless(n.child("defresult")) && !slices.ContainsFunc(whens, func(v any) bool {
		when, _ := v.(*treeNode)
		return !s.isHarmless(when.child("expr")) || !s.isHarmless(when.child("result"))
	})
}

// isKnown tells a parameter whose value is at hand: the statement's, that of a row which was found, or of an expression over the
// statement's constants that the engine hides in a sub-query. A value that comes beside the text is large enough to take time.
func (s *filterScan) isKnown(n *treeNode) bool {
	plan := s.asked[n.text("paramid")]
	if n.text("paramkind") == "0" || plan == nil {
		return true
	}
	beside := false
	nodes(plan.list("targetlist"), func(n *treeNode) { beside = beside || n.kind == "PARAM" && n.text("paramkind") == "0" })
	return !beside && plan.kind == "RESULT" && plan.child("lefttree") == nil && len(plan.list("resconstantqual")) == 0 && s.isGiven(plan.list("targetlist"))
}

// isGiven tells what is made of nothing but the statement's parameters and constants, of which Bind bounds how large it gets.
func (s *filterScan) isGiven(v any) bool {
	if list, ok := v.([]any); ok {
		return !slices.ContainsFunc(list, func(c any) bool { return !s.isGiven(c) })
	}
	n := bare(v)
	if n == nil {
		return false
	}
	switch n.kind {
	case "CONST", "CASETESTEXPR", "SQLVALUEFUNCTION":
		return true
	case "PARAM":
		return (n.text("paramkind") == "0" || s.asked[n.text("paramid")] != nil) && s.isKnown(n)
	case "TARGETENTRY", "NULLTEST", "BOOLEANTEST":
		return s.isGiven(append(n.fields["expr"], n.fields["arg"]...))
	case "ARRAY", "ARRAYEXPR":
		return s.isGiven(n.list("elements"))
	case "ARRAYCOERCEEXPR":
		return s.isGiven(n.child("arg")) && s.isGiven(n.child("elemexpr"))
	case "BOOLEXPR", "COALESCE", "COALESCEEXPR", "MINMAX", "MINMAXEXPR":
		return s.isGiven(n.list("args"))
	case "OPEXPR", "DISTINCTEXPR", "FUNCEXPR":
		name := s.catalog.functions[n.text("opfuncid")+n.text("funcid")]
		return (slices.Contains(texts, name) || s.catalog.leakproof[n.text("opfuncid")+n.text("funcid")] != "") && s.isGiven(n.list("args"))
	}
	return false
}
