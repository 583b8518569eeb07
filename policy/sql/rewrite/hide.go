package rewrite

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// hideEnds closes what hide opens. What stands around an expression is closed behind it, so
// this comes before all other edits.
func (r *rewriter) hideEnds() {
	for _, f := range r.facts.Hidden {
		switch f.Form {
		case facts.AsSubquery:
			if start, end, ok := r.callPlace(f.Node); ok {
				_, closing := subqueryForm(start, end)
				r.close(end.End(), closing)
			}
		case facts.AsComparison:
			if _, end, ok := r.testPlace(f.Node); ok {
				r.close(end.End(), " = "+r.literal(f)+")")
			}
		case facts.AsCase:
			if _, end, ok := r.casePlace(f); ok {
				r.close(end.End(), " END)")
			}
		}
	}
	for _, n := range r.facts.Delayed {
		if _, end, ok := r.subqueryPlace(n); ok {
			r.close(end.End(), " END)")
		}
	}
}

// beginning is what is put before an expression to hide it; end is where that ends.
type beginning struct {
	at, end int
	text    string
}

// hide hides from the planner what facts say. It comes behind the edits that open what stands
// around. Of what begins at one place, that which ends last is opened first.
func (r *rewriter) hide() {
	var all []beginning
	for _, n := range r.facts.Delayed {
		if start, end, ok := r.subqueryPlace(n); ok {
			all = append(all, beginning{start.Start(), end.End(), "(CASE WHEN pg_catalog.now() = pg_catalog.now() THEN "})
		}
	}
	for _, f := range r.facts.Hidden {
		switch f.Form {
		case facts.AsParameter:
			all = append(all, r.hideLiteral(f)...)
		case facts.AsSubquery:
			if start, end, ok := r.callPlace(f.Node); ok {
				text, _ := subqueryForm(start, end)
				all = append(all, beginning{start.Start(), end.End(), text})
			}
		case facts.AsComparison:
			if start, end, ok := r.testPlace(f.Node); ok {
				all = append(all, beginning{start.Start(), end.End(), "("})
			}
		case facts.AsCase:
			if start, end, ok := r.casePlace(f); ok {
				all = append(all, beginning{start.Start(), end.End(), "(CASE WHEN " + r.literal(f) + " THEN NULL ELSE "})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b beginning) int { return b.end - a.end })
	for _, b := range all {
		r.open(b.at, b.text)
	}
}

// hideLiteral puts a parameter in the place of a literal. In date '2027-01-01' the literal
// goes, and what is left is $1::date, which opens at the type.
func (r *rewriter) hideLiteral(f *facts.Hidden) []beginning {
	t, ok := r.at(tree.Offset(f.Node))
	if !ok {
		return nil
	}
	if f.Node.GetAConst().GetSval() != nil || f.Node.GetAConst().GetBsval() != nil || f.Node.GetAConst().GetBoolval() != nil {
		for t.IsAny("-", "(") { // to the grammar, - '1' begins at its sign
			t.Pos++
		}
	}
	start := t.Start()
	t.Literal()
	if f.Cast == nil {
		r.replace(start, t.End(), r.literal(f))
		return nil
	}
	r.replace(start, t.End(), "")
	return []beginning{{int(f.Cast.TypeName.Location), 0, r.literal(f) + "::"}}
}

// callPlace finds where a call begins and where it has ended, or a cast of a literal.
func (r *rewriter) callPlace(n *pg.Node) (start, end lex.Cursor, ok bool) {
	if cast := n.GetTypeCast(); cast != nil {
		return r.castPlace(cast)
	}
	start, ok = r.at(tree.Offset(n))
	end = start
	end.SkipName()
	if end.Is("(") {
		end.SkipGroup()
	}
	return start, end, ok
}

// subqueryPlace finds where (SELECT …), EXISTS (SELECT …) or ARRAY (SELECT …) begins and has ended.
func (r *rewriter) subqueryPlace(n *pg.Node) (start, end lex.Cursor, ok bool) {
	start, ok = r.at(tree.Offset(n))
	end = start
	if !end.Is("(") {
		end.Pos++
	}
	end.SkipGroup()
	return start, end, ok
}

// testPlace finds where a column, a cast or call of one, or x IS NULL or IS TRUE begins, with the brackets around x, and has ended.
func (r *rewriter) testPlace(n *pg.Node) (start, end lex.Cursor, ok bool) {
	is := n.GetNullTest().GetLocation()
	if test := n.GetBooleanTest(); test != nil {
		is = test.Location
	} else if n.GetNullTest() == nil {
		return r.callPlace(n)
	}
	start, ok1 := r.at(tree.Leftmost(n))
	end, ok2 := r.at(int(is))
	for end.IsAny("is", "not", "isnull", "notnull") {
		end.Pos++
	}
	if end.IsAny("null", "true", "false", "unknown") && !end.Follows("isnull") && !end.Follows("notnull") {
		end.Pos++
	}
	start = outside(start, end)
	return start, end, ok1 && ok2 && start.Pos >= 0
}

// casePlace finds where a column or call begins and has ended, or the left side of IS DISTINCT FROM with the brackets around it.
func (r *rewriter) casePlace(f *facts.Hidden) (start, end lex.Cursor, ok bool) {
	if f.Test == nil {
		return r.callPlace(f.Node)
	}
	start, ok1 := r.at(tree.Leftmost(f.Node))
	end, ok2 := r.at(int(f.Test.GetLocation()))
	start = outside(start, end)
	return start, end, ok1 && ok2 && start.Pos >= 0
}

// outside gives where the brackets begin that close between start and end.
func outside(start, end lex.Cursor) lex.Cursor {
	depth, opened := 0, 0
	for t := start; t.Pos < end.Pos; t.Pos++ {
		depth += t.Nesting()
		opened = max(opened, -depth)
	}
	start.Pos -= opened
	return start
}

// castPlace tells CAST ('1' AS t), '1'::t and t '1' apart.
func (r *rewriter) castPlace(c *pg.TypeCast) (start, end lex.Cursor, ok bool) {
	if start = (lex.Cursor{Source: r.tr, Pos: r.tr.TokenAt(int(c.Location))}); start.Is("cast") {
		end = start
		end.Pos++
		end.SkipGroup()
		return start, end, true
	}
	typ, ok2 := r.at(int(c.TypeName.Location))
	if at := tree.Leftmost(c.Arg); at == int(c.TypeName.Location)+1 && r.tr.TokenAt(at) < 0 { // N'…' is one token
		end = typ
		end.Pos++
		return typ, end, ok2
	}
	literal, ok1 := r.at(tree.Leftmost(c.Arg))
	if typ.Pos < literal.Pos {
		end = literal
		end.Literal()
		for end.IsAny("year", "month", "day", "hour", "minute", "second", "to", "(") {
			end.Word()
		}
		return typ, end, ok1 && ok2
	}
	literal = outside(literal, typ)
	end = typ
	national := end.Is("national")
	end.SkipName()
	for national && end.IsAny("character", "char") || end.IsAny("varying", "precision", "(", "[", "array", "year", "month", "day", "hour", "minute", "second", "to") || end.IsZone() {
		end.Word()
	}
	return literal, end, ok1 && ok2 && literal.Pos >= 0
}

// subqueryForm gives the words around a call. IN ((SELECT …)) and ANY ((SELECT …)) would be
// conditions on a query's rows. Elsewhere a COALESCE would give a column its name.
func subqueryForm(start, end lex.Cursor) (opening, closing string) {
	bracketed := start.Follows("(") && end.Is(")")
	for start.Pos--; start.Is("("); start.Pos-- {
	}
	if bracketed && start.IsAny("in", "any", "some", "all") {
		return "COALESCE((SELECT ", "))"
	}
	return "(SELECT ", ")"
}

// literal spells the parameter of a hidden literal.
func (r *rewriter) literal(f *facts.Hidden) string {
	want := f.First().LiteralParam()
	i := slices.IndexFunc(r.params, func(p facts.FinalParam) bool { return p.Literal != nil && *p.Literal == want })
	if i < 0 {
		i = len(r.params)
		r.params = append(r.params, facts.FinalParam{Literal: &want})
	}
	return fmt.Sprintf("$%d", i+1)
}
