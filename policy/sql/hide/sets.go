package hide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// keepGroups keeps what a query level groups by out of the sub-queries that hide: Postgres does not find it there, or makes no NULL of
// it in the rows of totals. It refuses a level where an expression may be found or not.
func (h *hider) keepGroups(s *pg.SelectStmt, l *level, places []*pg.Node) {
	groups := slices.DeleteFunc(tree.Groups(s), func(n *pg.Node) bool { return n.GetColumnRef() != nil })
	alike := map[uint64][]*pg.Node{}
	for _, g := range groups {
		alike[l.digests[g]] = append(alike[l.digests[g]], g)
	}
	isGroup := func(m proto.Message) bool {
		n, isNode := m.(*pg.Node)
		return isNode && slices.ContainsFunc(alike[l.digests[n]], func(g *pg.Node) bool { return h.differ(g, n) == nil })
	}
	for _, place := range places {
		h.beside(place, isGroup)
	}
	if slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil }) {
		h.refuseRespelled(s, groups, isGroup)
	}
}

// refuseRespelled refuses a query level with ROLLUP, CUBE or GROUPING SETS of an expression that may stand elsewhere in the level
// written otherwise: a = 'x' for Postgres is a = 'x'::text, too, and both are NULL in the rows of totals. Where the value of one is
// hidden they would be two, and the one that is not grouped by would have a value there, if the columns may be named.
func (h *hider) refuseRespelled(s *pg.SelectStmt, groups []*pg.Node, isGroup func(proto.Message) bool) {
	ends := func(m proto.Message) bool { return h.opaque(m) || isGroup(m) }
	type group struct {
		*pg.Node
		constants []*pg.A_Const
	}
	worded := map[string][]group{} // by their words
	for _, g := range groups {
		words, constants := wordsOf(g, h.opaque)
		worded[words] = append(worded[words], group{g, constants})
	}
	var look func(m proto.Message)
	look = func(m proto.Message) {
		if h.fault != nil || ends(m) {
			return
		}
		if n, isNode := m.(*pg.Node); isNode && n.GetColumnRef() == nil && n.GetAConst() == nil && n.GetResTarget() == nil && n.GetSortBy() == nil {
			words, constants := wordsOf(n, ends)
			for _, g := range worded[words] {
				if words != "" && matches(constants, g.constants, readAlike) && (h.hidesBeneath(n) || h.hidesBeneath(g.Node)) &&
					matches(columnsOf(n, ends), columnsOf(g.Node, h.opaque), func(x, y *pg.ColumnRef) bool { return h.differ(x, y) == nil }) {
					f := refusal.Unsupported(tree.Offset(n), "this may be an expression of ROLLUP, CUBE or GROUPING SETS, which is written otherwise there")
					f.Hint = "write the two alike, or compute the expression in a sub-query and use its column"
					h.fail(f)
				}
			}
		}
		tree.LevelChildren(m, func(c proto.Message) bool {
			look(c)
			return true
		})
	}
	look(&pg.List{Items: slices.Concat(s.TargetList, []*pg.Node{s.HavingClause}, s.WindowClause, s.DistinctClause, s.SortClause)})
}

// beside has what holds a group be hidden beside it, and not by a sub-query.
func (h *hider) beside(m proto.Message, isGroup func(proto.Message) bool) {
	if n, isNode := m.(*pg.Node); isNode && h.found[n] != nil && h.found[n].Form == facts.AsSubquery && holds(n, isGroup) {
		h.found[n].Form = facts.AsCase
	}
	tree.LevelChildren(m, func(c proto.Message) bool {
		h.beside(c, isGroup)
		return true
	})
}

func holds(m proto.Message, is func(proto.Message) bool) bool {
	return is(m) || tree.AnyChild(m, func(c proto.Message) bool { return holds(c, is) })
}

// opaque tells what Postgres does not look for groups in.
func (h *hider) opaque(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.GroupingFunc:
		return true
	case *pg.FuncCall:
		return x.Over == nil && h.IsAggregate(x)
	}
	return false
}

// columnsOf gives the columns in m, but for those in what ends the search.
func columnsOf(m proto.Message, ends func(proto.Message) bool) (columns []*pg.ColumnRef) {
	if ends(m) {
		return nil
	}
	if c, isColumn := m.(*pg.ColumnRef); isColumn {
		return []*pg.ColumnRef{c}
	}
	tree.LevelChildren(m, func(c proto.Message) bool {
		columns = append(columns, columnsOf(c, ends)...)
		return true
	})
	return columns
}

// matches tells whether each of two lists has nothing but what is the same as something in the other.
func matches[T any](a, b []T, same func(x, y T) bool) bool {
	within := func(a, b []T) bool {
		return !slices.ContainsFunc(a, func(x T) bool { return !slices.ContainsFunc(b, func(y T) bool { return same(x, y) }) })
	}
	return within(a, b) && within(b, a)
}

// readAlike tells whether Postgres may read two constants as one value: a number, date, array or JSON document can be written in many
// ways, where it stands in quotation marks.
func readAlike(a, b *pg.A_Const) bool {
	x, typeX := tree.LiteralValue(a)
	y, typeY := tree.LiteralValue(b)
	many := func(text string) bool { return strings.ContainsAny(text, "0123456789{[(") }
	return x == y || (typeX == 0 || typeY == 0) && many(x) && many(y)
}

// wordsOf gives the names of m's operators and calls, sorted, and its constants, but for those in what ends the search.
func wordsOf(m proto.Message, ends func(proto.Message) bool) (string, []*pg.A_Const) {
	words := map[string]bool{}
	constants := addWords(m, ends, words)
	return strings.Join(slices.Sorted(maps.Keys(words)), "\x00"), constants
}

// addWords adds the names of m's operators and calls, and gives its constants.
func addWords(m proto.Message, ends func(proto.Message) bool, words map[string]bool) (constants []*pg.A_Const) {
	if _, isType := m.(*pg.TypeName); isType || ends(m) {
		return nil
	}
	switch x := m.(type) {
	case *pg.A_Const:
		return []*pg.A_Const{x}
	case *pg.FuncCall:
		words["call "+tree.LastName(x.Funcname)] = true
	case *pg.A_Expr:
		for _, name := range strings.Fields(spelled(x)) {
			words[name] = true
		}
	case *pg.MinMaxExpr:
		words[x.Op.String()] = true
	case *pg.CoalesceExpr, *pg.CaseExpr, *pg.SubLink:
		words[fmt.Sprintf("%T", x)] = true
	}
	tree.Children(m, func(c proto.Message) bool {
		constants = append(constants, addWords(c, ends, words)...)
		return true
	})
	return constants
}

// spelled gives the names of what Postgres makes of an operator or construct.
func spelled(e *pg.A_Expr) string {
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_BETWEEN:
		return ">= <="
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return "< >"
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return "nullif"
	}
	return tree.LastName(e.Name)
}
