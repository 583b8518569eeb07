package sqltree

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// safe tells whether an expression of a query level, whose relations count from start, may
// stand as it is where it looks at rows of scoped tables, behind all of which row-level
// security stands if walled is true.
func (a *analyzer) safe(n *pg.Node, walled bool, start int) bool {
	return a.leakproof(n) || walled && !a.overlooked(n.ProtoReflect(), start)
}

// overlooked tells whether something beneath m can fail that row-level security does not
// keep from other servers' rows. Postgres evaluates what it takes for leakproof before it
// looks at the policy, and takes for it all but functions that are given a column, and
// sub-queries that look at the rows around (contain_leaked_vars, 15 to 18). So in
// `title = 'x' OR (SELECT …)` an error of the sub-query tells of the title. What it overlooks:
//
//   - what holds no column of the query's own tables, an uncorrelated sub-query among it;
//   - ARRAY[…], which fails on elements of different lengths;
//   - two columns of different collations.
func (a *analyzer) overlooked(m protoreflect.Message, start int) bool {
	if query, ok := m.Interface().(*pg.SelectStmt); ok {
		start = a.begins[query]
	}
	n, isNode := m.Interface().(*pg.Node)
	if !isNode || !isExpression(n) {
		return a.overlookedBeneath(m, start)
	}
	found, done := a.overlooks[n]
	if !done {
		found = !a.leakproof(n) && (a.overlookedHere(n, start) || a.overlookedBeneath(m, start))
		a.overlooks[n] = found
	}
	return found
}

func (a *analyzer) overlookedBeneath(m protoreflect.Message, start int) bool {
	return anyChild(m, func(c protoreflect.Message) bool { return a.overlooked(c, start) })
}

// overlookedHere judges an expression that is not leakproof, apart from what is in it.
func (a *analyzer) overlookedHere(n *pg.Node, start int) bool {
	switch x := n.Node.(type) {
	case *pg.Node_FuncCall:
		if a.isAggregate(x.FuncCall) { // it runs on rows that passed
			return false
		}
	case *pg.Node_SubLink: // one that looks at no row of its level is a parameter too
		return !a.holds(n.ProtoReflect(), start, a.starts[x.SubLink])
	case *pg.Node_AArrayExpr:
		return true
	case *pg.Node_MinMaxExpr:
		return !a.oneType(x.MinMaxExpr.Args)
	case *pg.Node_CaseExpr:
		return x.CaseExpr.Arg != nil && !a.oneType(compared(x.CaseExpr)) || !a.oneType(results(x.CaseExpr))
	case *pg.Node_CoalesceExpr:
		return !a.oneType(x.CoalesceExpr.Args)
	case *pg.Node_AExpr:
		if a.conflict(x.AExpr.Lexpr, x.AExpr.Rexpr) || a.converts(x.AExpr) {
			return true
		}
	}
	return !a.holdsColumn(n.ProtoReflect(), start)
}

// holds tells whether an unchanged column of a table is named beneath m, in sub-queries too,
// whose relation has a number from start up to end.
func (a *analyzer) holds(m protoreflect.Message, start, end int) bool {
	if ref, ok := m.Interface().(*pg.ColumnRef); ok {
		r := a.tableOf(ref)
		return r != nil && r.serial >= start && r.serial < end
	}
	return anyChild(m, func(c protoreflect.Message) bool { return a.holds(c, start, end) })
}

// holdsColumn tells whether Postgres certainly sees a column of the query level whose
// relations count from start beneath m: not one of the query around, which is a parameter
// by then, and not one of a sub-query that may be an expression without columns.
func (a *analyzer) holdsColumn(m protoreflect.Message, start int) bool {
	switch x := m.Interface().(type) {
	case *pg.SubLink:
		return false
	case *pg.ColumnRef:
		r := a.tableOf(x)
		return r != nil && r.serial >= start
	}
	return anyChild(m, func(c protoreflect.Message) bool { return a.holdsColumn(c, start) })
}

// compared gives what CASE x WHEN y compares.
func compared(c *pg.CaseExpr) []*pg.Node {
	list := []*pg.Node{c.Arg}
	for _, n := range c.Args {
		list = append(list, n.GetCaseWhen().GetExpr())
	}
	return list
}

// converts tells whether an operand without a column may be converted for an operator.
func (a *analyzer) converts(e *pg.A_Expr) bool {
	if t := a.namedType(e.Rexpr); (t != TypeName{}) && t == a.namedType(e.Lexpr) {
		return false
	}
	operands := []*pg.Node{e.Lexpr, e.Rexpr}
	if list := e.Rexpr.GetList(); list != nil {
		operands = append(slices.Clone(list.Items), e.Lexpr)
	}
	for _, n := range operands {
		if n != nil && !isUntyped(n) && n.GetAArrayExpr() == nil && !a.looks(n, math.MaxInt) && !a.oneType(operands) {
			return true
		}
	}
	return false
}

// namedType gives the type of a column, or the one that a cast names.
func (a *analyzer) namedType(n *pg.Node) TypeName {
	if ref := n.GetColumnRef(); ref != nil {
		return a.names[ref].typ
	}
	t := n.GetTypeCast().GetTypeName()
	names, ok := stringsOf(t.GetNames())
	switch {
	case !ok || len(t.GetArrayBounds()) > 0:
	case len(names) == 2:
		return TypeName{names[0], names[1]}
	case len(names) == 1 && a.catalog.types[names[0]] != "":
		return TypeName{a.catalog.types[names[0]], names[0]}
	}
	return TypeName{}
}

// conflict tells whether two columns that are compared may differ in collation, with no
// COLLATE to decide.
func (a *analyzer) conflict(left, right *pg.Node) bool {
	decided := left.GetCollateClause() != nil || right.GetCollateClause() != nil
	return !decided && a.looks(left, math.MaxInt) && a.looks(right, math.MaxInt) && (a.collated(left) || a.collated(right))
}

// collated tells whether something in an expression may have another collation than its type.
func (a *analyzer) collated(n *pg.Node) bool { return n != nil && a.collatedBeneath(n.ProtoReflect()) }

func (a *analyzer) collatedBeneath(m protoreflect.Message) bool {
	switch x := m.Interface().(type) {
	case *pg.CollateClause:
		return true
	case *pg.ColumnRef:
		return a.names[x].collated
	}
	return anyChild(m, a.collatedBeneath)
}
