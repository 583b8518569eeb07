// Package types finds the types and collations that expressions of a statement have, as far as that shows.
//
//	types.go        of any expression
//	named.go        of a type's name, a constant and a value
//	calls.go        of calls and operators, and what calls mean
//	collations.go   whether two operands can be compared
//	merge.go        what USING makes of two columns
//	params.go       which placeholders stand in places of several types
//
// It is what the analysis (analyze), the barrier's judgement (fence) and the hiding of values (hide) have in common. What a
// type is not known for is taken to be of any type.
package types

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Types finds the types of the expressions of one statement.
type Types struct {
	Catalog *tree.Catalog
	names   Names
	given   []tree.TypeName // of the client's placeholders, from $1
	torn    map[int32]bool  // placeholders that stand in places of several types, which are no literals then

	typings  map[*pg.Node]typing
	collates map[*pg.Node]bool
}

// Names is what Types asks of the analysis around it.
type Names interface {
	// Column gives what a reference means; zero where that is not known, and for nil.
	Column(*pg.ColumnRef) Column
	// Same tells whether two references certainly mean the same column.
	Same(a, b *pg.ColumnRef) bool
}

// Column is the type and the collation of what a reference means.
type Column struct {
	Type      tree.TypeName // zero where it isn't known
	Collated  bool          // it may have another collation than its type
	Collation string        // that one, where it is known
	Row       bool          // it is certainly the whole row of a table
}

// New finds the types of expressions whose names have been resolved: results are kept.
func New(c *tree.Catalog, names Names, given []tree.TypeName, torn map[int32]bool) *Types {
	return &Types{Catalog: c, names: names, given: given, torn: torn, typings: map[*pg.Node]typing{}, collates: map[*pg.Node]bool{}}
}

// Column gives the type and collation of what a reference means.
func (ts *Types) Column(ref *pg.ColumnRef) Column { return ts.names.Column(ref) }

// Same tells whether two references certainly mean the same column.
func (ts *Types) Same(a, b *pg.ColumnRef) bool { return ts.names.Same(a, b) }

// Closed are the types of pg_catalog whose comparisons with whatever they can be compared
// with are all leakproof: none is converted to another type for it.
var Closed = map[string]bool{"text": true, "uuid": true, "bool": true, "bytea": true}

// typing is the type of an expression, as far as that shows.
type typing struct {
	name  string
	known bool
}

// TypeOf gives the type of an expression as far as that shows: the name of a type of
// pg_catalog, "" for a placeholder or literal that takes its type from where it stands;
// false where it is not known. Results are kept, since each operator asks for its operands'.
func (ts *Types) TypeOf(n *pg.Node) (string, bool) {
	if n == nil {
		return "", false
	}
	t, done := ts.typings[n]
	if !done {
		t.name, t.known = ts.find(n)
		ts.typings[n] = t
	}
	return t.name, t.known
}

func (ts *Types) find(n *pg.Node) (string, bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		if t := ts.GivenType(x.ParamRef); t != (tree.TypeName{}) {
			return PlainType(t)
		}
		return "", !ts.torn[x.ParamRef.Number]
	case *pg.Node_AConst:
		return constType(x.AConst), true
	case *pg.Node_ColumnRef:
		return PlainType(ts.names.Column(x.ColumnRef).Type)
	case *pg.Node_TypeCast:
		return ts.CastType(x.TypeCast.TypeName)
	case *pg.Node_SqlvalueFunction:
		return valueType(x.SqlvalueFunction.Op)
	case *pg.Node_FuncCall:
		return ts.resultType(x.FuncCall)
	case *pg.Node_BoolExpr, *pg.Node_NullTest, *pg.Node_BooleanTest:
		return "bool", true
	case *pg.Node_AExpr:
		switch {
		case x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_OP && tree.IsComparison(tree.LastName(x.AExpr.Name)):
			return "bool", !ts.Catalog.Namesakes.Operators[tree.LastName(x.AExpr.Name)]
		case ts.JoinsTexts(x.AExpr):
			return "text", true
		}
		return ts.MovedType(x.AExpr)
	case *pg.Node_SubLink:
		if list := x.SubLink.Subselect.GetSelectStmt().GetTargetList(); x.SubLink.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && len(list) == 1 {
			return ts.Typed(list[0].GetResTarget().GetVal())
		}
	case *pg.Node_CoalesceExpr:
		return ts.commonType(x.CoalesceExpr.Args)
	case *pg.Node_CaseExpr:
		return ts.commonType(Results(x.CaseExpr))
	}
	return "", false
}

// commonType gives the type that all of some expressions have which are more than literals.
func (ts *Types) commonType(list []*pg.Node) (string, bool) {
	if !ts.OneType(list) {
		return "", false
	}
	for _, n := range list {
		if t, ok := ts.Typed(n); ok {
			return t, true
		}
	}
	return "", false
}

// GivenType gives the type that the client gives a placeholder, a domain as what it is over; zero
// for none.
// One that has it is of that type wherever it stands, as if it were cast to it.
func (ts *Types) GivenType(ref *pg.ParamRef) tree.TypeName {
	if n := int(ref.GetNumber()); n > 0 && n <= len(ts.given) {
		return ts.given[n-1]
	}
	return tree.TypeName{}
}

// IsUntyped tells a placeholder, and a literal in quotes or NULL.
func (ts *Types) IsUntyped(n *pg.Node) bool {
	c := n.GetAConst()
	p := n.GetParamRef()
	return p != nil && !ts.torn[p.Number] && ts.GivenType(p) == tree.TypeName{} || c != nil && (c.Isnull || c.GetSval() != nil)
}

// Typed is typeOf where a literal has become text already.
func (ts *Types) Typed(n *pg.Node) (string, bool) {
	t, ok := ts.TypeOf(n)
	return t, ok && t != ""
}

// OneType tells whether expressions are of one type, so that none of them is converted but
// literals, and of one collation.
func (ts *Types) OneType(list []*pg.Node) bool {
	common := ""
	for _, n := range list {
		t, ok := ts.TypeOf(n)
		if !ok || ts.IsCollated(n) || common != "" && t != "" && t != common {
			return false
		}
		if t != "" {
			common = t
		}
	}
	return true
}

// Results gives what a CASE may result in.
func Results(c *pg.CaseExpr) []*pg.Node {
	var list []*pg.Node
	for _, n := range c.Args {
		list = append(list, n.GetCaseWhen().GetResult())
	}
	if c.Defresult != nil {
		list = append(list, c.Defresult)
	}
	return list
}

// OutputType gives the type of a select list's entry, if it is known.
func (ts *Types) OutputType(n *pg.Node) tree.TypeName {
	if ref := n.GetColumnRef(); ref != nil {
		return ts.names.Column(ref).Type
	}
	if t, ok := ts.TypeOf(n); ok && t != "" {
		return tree.TypeName{Schema: "pg_catalog", Name: t}
	}
	return tree.TypeName{}
}
