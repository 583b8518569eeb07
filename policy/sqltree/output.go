package sqltree

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// targets analyzes a select list or RETURNING list and gives the columns it makes.
func (a *analyzer) targets(l *level, items []item, list []*pg.Node) output {
	out := output{known: true}
	for _, n := range list {
		t := n.GetResTarget()
		if ref := starRef(t.GetVal()); ref != nil {
			a.star(l, items, ref, &out)
			continue
		}
		a.expr(l, t.GetVal())
		name := t.GetName()
		if name == "" {
			name = figureName(t.GetVal())
		}
		out.cols = append(out.cols, column{name: name})
	}
	return out
}

// starRef gives the reference when an entry of a list is * or r.*.
func starRef(n *pg.Node) *pg.ColumnRef {
	ref := n.GetColumnRef()
	if ref == nil || ref.Fields[len(ref.Fields)-1].GetAStar() == nil {
		return nil
	}
	return ref
}

// star adds what * or r.* stands for. Where that covers a column that must not be
// read, the star is noted to be spelled out without it.
func (a *analyzer) star(l *level, items []item, ref *pg.ColumnRef, out *output) {
	if len(ref.Fields) > 1 {
		names, ok := stringsOf(ref.Fields[:len(ref.Fields)-1])
		if !ok || len(names) > 2 {
			a.fail(construct(int(ref.Location), "a column name with this many parts is not supported"))
			return
		}
		r := a.qualifier(l, names, int(ref.Location))
		if r == nil {
			return
		}
		items = []item{{cols: r.cols, known: r.known, hides: r.hides(), spread: readable(r.cols), count: len(readable(r.cols))}}
	}
	s := star{offset: int(ref.Location)}
	if s.offset < 0 && len(a.facts.Tables) > 0 { // TABLE t has a * that is not in the text
		s.offset = a.facts.Tables[len(a.facts.Tables)-1].Offset
	}
	var spelled []string
	hides := false
	for _, it := range items {
		for _, c := range it.cols {
			if !c.noRead() {
				out.cols = append(out.cols, column{name: c.name})
			}
		}
		out.known = out.known && it.known
		hides = hides || it.hides
		spelled = append(spelled, it.spread...)
		s.count += it.count
	}
	if !hides {
		return
	}
	for _, it := range items {
		if it.spread == nil {
			a.fail(&Fault{Code: ColumnNotAllowed, Offset: s.offset, Message: "* covers a column that must not be read and can't be spelled out here", Hint: "name the columns"})
			return
		}
	}
	s.refs = strings.Join(spelled, ", ")
	a.facts.stars = append(a.facts.stars, s)
}

func valuesOutput(row *pg.Node) output {
	out := output{known: true}
	for i := range row.GetList().GetItems() {
		out.cols = append(out.cols, column{name: fmt.Sprintf("column%d", i+1)})
	}
	return out
}

// figureName gives the name that Postgres gives to an unnamed expression of a select
// list (FigureColname in its parser). A cast names what has no strong name of its own.
func figureName(n *pg.Node) string {
	name := strongName(n)
	if name == "" {
		name = weakName(n)
	}
	if name == "" {
		return "?column?"
	}
	return name
}

// weakName gives the name of a cast's type, and of CASE.
func weakName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return lastName(x.TypeCast.TypeName.Names)
	case *pg.Node_CollateClause:
		return weakName(x.CollateClause.Arg)
	case *pg.Node_AIndirection:
		return weakName(x.AIndirection.Arg)
	case *pg.Node_CaseExpr:
		return "case"
	}
	return ""
}

func strongName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return lastName(x.ColumnRef.Fields)
	case *pg.Node_AIndirection:
		if name := lastName(x.AIndirection.Indirection); name != "" {
			return name
		}
		return strongName(x.AIndirection.Arg)
	case *pg.Node_FuncCall:
		return lastName(x.FuncCall.Funcname)
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	case *pg.Node_TypeCast:
		return strongName(x.TypeCast.Arg)
	case *pg.Node_CollateClause:
		return strongName(x.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		return strongName(x.CaseExpr.Defresult)
	case *pg.Node_SubLink:
		return subLinkName(x.SubLink)
	}
	return fixedName(n)
}

func fixedName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_AArrayExpr:
		return "array"
	case *pg.Node_RowExpr:
		return "row"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least"
		}
		return "greatest"
	case *pg.Node_SqlvalueFunction:
		op := strings.TrimPrefix(x.SqlvalueFunction.Op.String(), "SVFOP_")
		return strings.ToLower(strings.TrimSuffix(op, "_N"))
	}
	return ""
}

func subLinkName(s *pg.SubLink) string {
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return "exists"
	case pg.SubLinkType_ARRAY_SUBLINK:
		return "array"
	case pg.SubLinkType_EXPR_SUBLINK:
		list := s.Subselect.GetSelectStmt().GetTargetList()
		if len(list) == 1 && starRef(list[0].GetResTarget().GetVal()) == nil {
			if name := list[0].GetResTarget().GetName(); name != "" {
				return name
			}
			return figureName(list[0].GetResTarget().GetVal())
		}
	}
	return ""
}

// lastName gives the last plain name of a list of names, stars and subscripts.
func lastName(nodes []*pg.Node) string {
	for i := len(nodes) - 1; i >= 0; i-- {
		if s := nodes[i].GetString_(); s != nil {
			return s.Sval
		}
	}
	return ""
}
