package sqltree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// hideEnds closes what hide opens. What stands around an expression is closed behind it, so
// this comes before all other edits.
func (r *rewriter) hideEnds() {
	for _, f := range r.facts.hidden {
		switch f.form {
		case asSubquery:
			if start, end, ok := r.callPlace(f.node); ok {
				_, closing := subqueryForm(start, end)
				r.close(end.end(), closing)
			}
		case asComparison:
			if _, end, ok := r.testPlace(f.node); ok {
				r.close(end.end(), " = "+r.literal(f)+")")
			}
		case asCase:
			if _, end, ok := r.casePlace(f); ok {
				r.close(end.end(), " END)")
			}
		}
	}
}

// hide hides from the planner what facts say. It comes behind the edits that open what stands
// around.
func (r *rewriter) hide() {
	for _, f := range r.facts.hidden {
		switch f.form {
		case asParameter:
			r.hideLiteral(f)
		case asSubquery:
			if start, end, ok := r.callPlace(f.node); ok {
				opening, _ := subqueryForm(start, end)
				r.open(start.start(), opening)
			}
		case asComparison:
			if start, _, ok := r.testPlace(f.node); ok {
				r.open(start.start(), "(")
			}
		case asCase:
			if start, _, ok := r.casePlace(f); ok {
				r.open(start.start(), "(CASE WHEN "+r.literal(f)+" THEN ")
			}
		}
	}
}

// hideLiteral puts a parameter in the place of a literal. In date '2027-01-01' the literal
// goes, and what is left is $1::date.
func (r *rewriter) hideLiteral(f *hidden) {
	t, ok := r.at(nodeOffset(f.node))
	if !ok {
		return
	}
	if f.node.GetAConst().GetSval() != nil || f.node.GetAConst().GetBsval() != nil || f.node.GetAConst().GetBoolval() != nil {
		for t.isAny("-", "(") { // to the grammar, - '1' begins at its sign
			t.i++
		}
	}
	start := t.start()
	t.literal()
	if f.cast == nil {
		r.replace(start, t.end(), r.literal(f))
		return
	}
	r.open(int(f.cast.TypeName.Location), r.literal(f)+"::")
	r.replace(start, t.end(), "")
}

// literal passes a literal: a number with its signs, as -1 and - (1), or a string with its
// UESCAPE.
func (t *tokens) literal() {
	for t.is("-") {
		t.i++
	}
	t.word()
	if t.is("uescape") {
		t.i += 2
	}
}

// callPlace finds where a call begins and where it has ended, or a cast of a literal.
func (r *rewriter) callPlace(n *pg.Node) (start, end tokens, ok bool) {
	if cast := n.GetTypeCast(); cast != nil {
		return r.castPlace(cast)
	}
	start, ok = r.at(nodeOffset(n))
	end = start
	end.name()
	if end.is("(") {
		end.group()
	}
	return start, end, ok
}

// testPlace finds where a column, a cast or call of one, or x IS NULL or IS TRUE begins and has ended. What
// begins inside of a bracket may as well begin before it.
func (r *rewriter) testPlace(n *pg.Node) (start, end tokens, ok bool) {
	is := n.GetNullTest().GetLocation()
	if test := n.GetBooleanTest(); test != nil {
		is = test.Location
	} else if n.GetNullTest() == nil {
		return r.callPlace(n)
	}
	start, ok1 := r.at(leftmost(n))
	end, ok2 := r.at(int(is))
	for end.isAny("is", "not", "isnull", "notnull") {
		end.i++
	}
	if end.isAny("null", "true", "false", "unknown") && !end.before("isnull") && !end.before("notnull") {
		end.i++
	}
	return start, end, ok1 && ok2
}

// casePlace finds where a column begins and has ended, or the left side of IS DISTINCT FROM with the brackets around it.
func (r *rewriter) casePlace(f *hidden) (start, end tokens, ok bool) {
	if f.test == nil {
		return r.callPlace(f.node)
	}
	start, ok1 := r.at(leftmost(f.node))
	end, ok2 := r.at(int(f.test.GetLocation()))
	depth, opened := 0, 0
	for t := start; t.i < end.i; t.i++ {
		depth += t.nesting()
		opened = max(opened, -depth)
	}
	start.i -= opened
	return start, end, ok1 && ok2 && start.i >= 0
}

// castPlace tells CAST ('1' AS t), '1'::t and t '1' apart.
func (r *rewriter) castPlace(c *pg.TypeCast) (start, end tokens, ok bool) {
	if start = (tokens{r.tr, r.tr.TokenAt(int(c.Location))}); start.is("cast") {
		end = start
		end.i++
		end.group()
		return start, end, true
	}
	literal, ok1 := r.at(leftmost(c.Arg))
	typ, ok2 := r.at(int(c.TypeName.Location))
	if typ.i < literal.i {
		end = literal
		end.literal()
		for end.isAny("year", "month", "day", "hour", "minute", "second", "to", "(") {
			end.word()
		}
		return typ, end, ok1 && ok2
	}
	end = typ
	end.name()
	for end.isAny("varying", "precision", "(", "[", "array", "year", "month", "day", "hour", "minute", "second", "to") || end.isZone() {
		end.word()
	}
	return literal, end, ok1 && ok2
}

// isZone tells WITH TIME ZONE and WITHOUT TIME ZONE, and the words behind the first.
func (t *tokens) isZone() bool {
	next := tokens{t.tr, t.i + 1}
	return t.isAny("with", "without") && next.is("time") || t.is("time") && next.is("zone") || t.is("zone") && t.before("time")
}

// word passes a word, or a group in brackets.
func (t *tokens) word() {
	if t.isAny("(", "[") {
		t.group()
		return
	}
	t.i++
}

// subqueryForm gives the words around a call. IN ((SELECT …)) and ANY ((SELECT …)) would be
// conditions on a query's rows.
func subqueryForm(start, end tokens) (opening, closing string) {
	if start.before("(") && end.is(")") {
		return "COALESCE((SELECT ", "))"
	}
	return "(SELECT ", ")"
}

// literal spells the parameter of a hidden literal.
func (r *rewriter) literal(f *hidden) string {
	want := f.first().literalParam()
	i := slices.IndexFunc(r.params, func(p FinalParam) bool { return p.Literal != nil && p.Literal.Offset == want.Offset })
	if i < 0 {
		i = len(r.params)
		r.params = append(r.params, FinalParam{Literal: &want})
	}
	return fmt.Sprintf("$%d", i+1)
}

// literalParam gives what the parameter of a hidden literal carries, and of a hidden column
// what that is compared with.
func (f *hidden) literalParam() LiteralParam {
	if f.form == asComparison || f.form == asCase {
		return LiteralParam{Value: "t", Type: boolOID, Offset: nodeOffset(f.node)}
	}
	value, typ := f.literalValue(f.node.GetAConst())
	return LiteralParam{Value: value, Type: typ, Offset: nodeOffset(f.node)}
}

// literalValue gives what the parameter in the place of a literal carries, and its type.
func (f *hidden) literalValue(c *pg.A_Const) (value string, oid uint32) {
	value, oid = literalValue(c)
	if oid == 0 && f.first().text {
		oid = textOID
	}
	return value, oid
}

// The types of literals, by their OIDs.
const (
	boolOID = 16
	int8OID = 20
	textOID = 25
	bitOID  = 1560
)

// literalValue gives a literal as the text of a parameter, and the type that Postgres takes it
// for: none for one in quotation marks.
func literalValue(c *pg.A_Const) (value string, oid uint32) {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return strconv.Itoa(int(v.Ival.Ival)), int4OID
	case *pg.A_Const_Fval:
		if _, err := strconv.ParseInt(strings.ReplaceAll(v.Fval.Fval, "_", ""), 0, 64); err == nil && !strings.HasPrefix(strings.TrimLeft(v.Fval.Fval, "-"), "0") {
			return v.Fval.Fval, int8OID
		}
		return v.Fval.Fval, numericOID
	case *pg.A_Const_Boolval:
		if v.Boolval.Boolval {
			return "t", boolOID
		}
		return "f", boolOID
	case *pg.A_Const_Bsval:
		return v.Bsval.Bsval, bitOID
	}
	return c.GetSval().GetSval(), 0
}
