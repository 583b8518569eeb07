package verify

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// bare finds a literal of the final tree that is compared with a column where the planner
// looks. It goes by that tree alone, and not by what the analysis found. outermost tells that
// no condition can look at the results of m.
func bare(m proto.Message, outermost bool) bool {
	switch x := m.(type) {
	case *pg.Node:
		return bare(tree.Unwrap(x), outermost)
	case *pg.InsertStmt:
		return bareWith(x.WithClause) || bare(x.SelectStmt, true) || bareBeneath(x.OnConflictClause) || bareBeneath(&pg.List{Items: x.ReturningList})
	case *pg.UpdateStmt:
		return bareWith(x.WithClause) || bareAny(x.FromClause, false) || bareWhere(x.WhereClause) || bareBeneath(&pg.List{Items: slices.Concat(x.TargetList, x.ReturningList)})
	case *pg.DeleteStmt:
		return bareWith(x.WithClause) || bareAny(x.UsingClause, false) || bareWhere(x.WhereClause) || bareBeneath(&pg.List{Items: x.ReturningList})
	case *pg.SelectStmt:
		return bareQuery(x, outermost)
	case *pg.SubLink:
		_, plain := tree.PlainSubquery(&pg.Node{Node: &pg.Node_SubLink{SubLink: x}}) // a literal alone: it is how some are hidden
		return bare(x.Testexpr, false) || bare(x.Subselect, plain || x.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK)
	case *pg.JoinExpr:
		if bareJoin(x) || bareCondition(x.Quals) {
			return true
		}
	case *pg.CaseExpr:
		if x.Arg == nil && slices.ContainsFunc(x.Args, func(n *pg.Node) bool { return bareCondition(n.GetCaseWhen().Expr) }) {
			return true
		}
	case *pg.FuncCall, *pg.NullTest: // what they give is computed
		return bareBeneath(x)
	case *pg.A_Expr:
		if tree.IsComputation(x) {
			return bareBeneath(x)
		}
		if comparesLiteral(x) {
			return true
		}
	case *pg.TypeName, nil: // a type's modifiers are constants, or Postgres refuses them
		return false
	}
	return tree.AnyChild(m, func(c proto.Message) bool { return bare(c, false) })
}

func bareQuery(s *pg.SelectStmt, outermost bool) bool {
	if s == nil {
		return false
	}
	results := &pg.List{Items: slices.Concat(s.TargetList, s.ValuesLists)}
	rest := &pg.List{Items: slices.Concat(s.DistinctClause, s.GroupClause, s.WindowClause, s.SortClause, []*pg.Node{s.LimitCount, s.LimitOffset})}
	return bareWith(s.WithClause) || bareQuery(s.Larg, outermost) || bareQuery(s.Rarg, outermost) ||
		bareAny(s.FromClause, false) || bareWhere(s.WhereClause) || bareWhere(s.HavingClause) || bareBeneath(rest) ||
		outermost && bareBeneath(results) || !outermost && (bare(results, false) || bareResults(s))
}

// bareResults tells whether a query that conditions can look at gives a literal.
func bareResults(s *pg.SelectStmt) bool {
	var all []*pg.Node
	for _, n := range s.TargetList {
		all = append(all, n.GetResTarget().GetVal())
	}
	for _, row := range s.ValuesLists {
		all = append(all, row.GetList().GetItems()...)
	}
	return slices.ContainsFunc(all, func(n *pg.Node) bool { // a row is compared as a whole
		return n.GetRowExpr() == nil && slices.ContainsFunc(operandsOf(n), isLiteral)
	})
}

func bareWhere(n *pg.Node) bool { return bare(n, false) || bareCondition(n) }

// bareCondition finds a column that is a condition by itself, which is a bool, and a literal beside a column in a call
// that is one.
func bareCondition(n *pg.Node) bool {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return true
	case *pg.Node_BoolExpr:
		return slices.ContainsFunc(x.BoolExpr.Args, bareCondition)
	case *pg.Node_BooleanTest:
		return bareCondition(x.BooleanTest.Arg)
	case *pg.Node_CoalesceExpr:
		return slices.ContainsFunc(x.CoalesceExpr.Args, bareCondition)
	case *pg.Node_CaseExpr:
		return !isChosen(x.CaseExpr) && (bareCondition(x.CaseExpr.Defresult) || slices.ContainsFunc(x.CaseExpr.Args, func(n *pg.Node) bool {
			return bareCondition(n.GetCaseWhen().Result)
		}))
	case *pg.Node_AExpr: // of NULLIF (x, NULL) Postgres makes x
		return x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF && bareCondition(x.AExpr.Lexpr)
	case *pg.Node_TypeCast:
		return len(x.TypeCast.TypeName.ArrayBounds) == 0 && inCatalog(x.TypeCast.TypeName.Names, "bool") && bareCondition(x.TypeCast.Arg)
	case *pg.Node_FuncCall:
		return bareCall(x.FuncCall)
	}
	return false
}

// bareCall tells whether a call that is a condition is a cast of a bool, or asks for a literal and a column.
func bareCall(f *pg.FuncCall) bool {
	args := operandsOfAll(f.Args)
	isCall := f.Funcformat == pg.CoercionForm_COERCE_EXPLICIT_CALL && !tree.IsWrittenAggregate(f) && !inCatalog(f.Funcname, tree.Aggregates...)
	return isCall && slices.ContainsFunc(args, isColumn) && slices.ContainsFunc(args, isLiteral) ||
		len(f.Args) == 1 && inCatalog(f.Funcname, "bool") && bareCondition(f.Args[0])
}

// inCatalog tells a name that is one of pg_catalog's, or stands for one where nobody made another of that name.
func inCatalog(name []*pg.Node, among ...string) bool {
	isOther := len(name) > 1 && name[0].GetString_().GetSval() != "pg_catalog"
	return !isOther && slices.Contains(among, tree.LastName(name))
}

// bareJoin tells whether USING compares a column with a function that gives one value, which is a constant to the
// planner if its arguments are. The tree does not show it of NATURAL and WITH, and of a * only in part: there the analysis alone refuses it.
func bareJoin(j *pg.JoinExpr) bool {
	names, _ := tree.Strings(j.UsingClause)
	return slices.ContainsFunc(names, func(name string) bool { return givesValue(j.Larg, name) || givesValue(j.Rarg, name) })
}

// givesValue tells whether a column of an item in FROM is such a function's; "" is any column.
func givesValue(n *pg.Node, name string) bool {
	switch x := n.GetNode().(type) {
	case *pg.Node_JoinExpr:
		return givesValue(x.JoinExpr.Larg, name) || givesValue(x.JoinExpr.Rarg, name)
	case *pg.Node_RangeFunction:
		f := x.RangeFunction
		named := slices.ContainsFunc(f.Alias.GetColnames(), func(n *pg.Node) bool { return n.GetString_().GetSval() == name })
		return givesOneValue(f) && (name == "" || nameOf(f) == name || named)
	case *pg.Node_RangeSubselect:
		return selectsValue(x.RangeSubselect, name)
	}
	return false
}

// selectsValue is givesValue for a sub-select. What a * stands for is not counted: behind it any column may have a name of the alias.
func selectsValue(s *pg.RangeSubselect, name string) bool {
	q := s.Subquery.GetSelectStmt()
	renamed, _ := tree.Strings(s.Alias.GetColnames())
	return q.GetLimitOffset() == nil && slices.ContainsFunc(q.GetTargetList(), func(n *pg.Node) bool {
		t := n.GetResTarget()
		field := tree.LastName(t.GetVal().GetColumnRef().GetFields()) // of v.* it is v, of * nothing
		asked, given := []string{field}, t.GetName()
		i := slices.Index(q.TargetList, n)
		if i < len(renamed) {
			given = renamed[i]
		} else if given == "" {
			given = field
		}
		shifted := len(renamed) > 0 && slices.ContainsFunc(q.TargetList[:i], isStar)
		switch {
		case isStar(n) && len(renamed) == 0:
			asked = append(asked, name)
		case !isStar(n) && (field == "" || !shifted && name != "" && given != name):
			return false
		}
		return slices.ContainsFunc(q.FromClause, func(item *pg.Node) bool {
			return !slices.ContainsFunc(asked, func(name string) bool { return !givesValue(item, name) })
		})
	})
}

func isStar(entry *pg.Node) bool { return tree.Star(entry.GetResTarget().GetVal()) != nil }

// nameOf gives the name of a function in FROM, which means its value, too.
func nameOf(f *pg.RangeFunction) string {
	if f.Alias != nil {
		return f.Alias.Aliasname
	}
	return tree.LastName(f.Functions[0].GetList().GetItems()[0].GetFuncCall().GetFuncname())
}

func givesOneValue(f *pg.RangeFunction) bool {
	if len(f.Functions) != 1 || f.Ordinality || len(f.Coldeflist) > 0 {
		return false
	}
	part := f.Functions[0].GetList().GetItems()[0]
	name := tree.LastName(part.GetFuncCall().GetFuncname())
	return !tree.GivesRows(name) && !holdsGiven(tree.Unwrap(part))
}

func bareWith(w *pg.WithClause) bool {
	return slices.ContainsFunc(w.GetCtes(), func(n *pg.Node) bool { return bare(n.GetCommonTableExpr().GetCtequery(), false) })
}

func bareAny(list []*pg.Node, outermost bool) bool {
	return slices.ContainsFunc(list, func(n *pg.Node) bool { return bare(n, outermost) })
}

// bareBeneath looks into the sub-queries beneath m alone.
func bareBeneath(m proto.Message) (found bool) {
	tree.Children(m, func(c proto.Message) bool {
		tree.SubLinks(c, func(s *pg.SubLink) { found = found || bare(s, false) })
		return !found
	})
	return found
}
