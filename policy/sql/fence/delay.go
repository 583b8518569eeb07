package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// To Postgres a sub-query that looks at no row of its level is a parameter, which costs nothing. A condition with it may cost
// less than the scope condition, and is evaluated before it then, on any server's rows. Where the sub-query can't fail it still takes
// time and space, and a limit on these makes an error of it: one that tells of those rows. So the sub-query is put into a CASE that
// costs something. A sub-query that names a column of its level may cost nothing, too: Postgres drops what nobody reads.

// delay finds the sub-queries in a part of a condition that must cost something, and gives a guard where that can't be done. A part that
// names relations of the queries around alone may be moved there.
func (j *Judge) delay(l Level, part *pg.Node, mentioned map[*Relation]bool, of Place) *facts.Guard {
	if len(mentioned) == 0 {
		return nil
	}
	j.computed(part)
	if j.joins(l, part, of) || !j.delayIn(l, part) {
		return nil
	}
	g := &facts.Guard{Having: of == InHaving}
	for _, r := range l.Relations {
		if exposed, _ := r.exposedAs(); exposed && r.among(mentioned) && !g.Having {
			j.guardRelation(g, r, part)
		}
	}
	return g
}

// joins tells a part that Postgres certainly makes a join of, asks once before it reads a row, or asks anew for each row, which costs
// much: x IN (SELECT …), EXISTS (SELECT …) and NOT EXISTS. What IN compares may be moved on to other tables, so a query with a sub-query
// in its select list becomes a barrier.
func (j *Judge) joins(l Level, part *pg.Node, of Place) bool {
	if not := part.GetBoolExpr(); not.GetBoolop() == pg.BoolExprType_NOT_EXPR && not.Args[0].GetSubLink().GetSubLinkType() == pg.SubLinkType_EXISTS_SUBLINK {
		return of == InWhere
	}
	s := part.GetSubLink()
	query := s.GetSubselect().GetSelectStmt()
	if s.GetSubLinkType() != pg.SubLinkType_ANY_SUBLINK {
		return of == InWhere && s.GetSubLinkType() == pg.SubLinkType_EXISTS_SUBLINK
	}
	if j.asks(query) {
		j.barrier(query)
	}
	if hasSubLink(s.Testexpr) {
		return false
	}
	return of == InWhere && j.tied(query, l.Start, j.starts[s]) || j.isAlone(s) && j.comparesOnly(l, s.Testexpr, of)
}

// isAlone tells whether a sub-query names nothing of the queries around.
func (j *Judge) isAlone(s *pg.SubLink) bool {
	for r := range j.mentionedIn(s.Subselect) {
		if r.entered < j.starts[s] {
			return false
		}
	}
	return true
}

// comparesOnly tells whether what IN compares names relations of the level alone; in the ON of an outer join, those of the side that
// may be NULL: Postgres makes no join of others.
func (j *Judge) comparesOnly(l Level, test *pg.Node, of Place) bool {
	among := l.Relations
	switch of {
	case InWhere:
	case InOuter:
		among = l.Padded
	default:
		return false
	}
	mentioned := j.mentionedIn(test)
	for r := range mentioned {
		if !slices.Contains(among, r) {
			return false
		}
	}
	return len(mentioned) > 0
}

// delayIn notes the sub-queries beneath m that get a CASE, and tells whether there is another one.
func (j *Judge) delayIn(l Level, m proto.Message) (other bool) {
	if e, ok := m.(*pg.A_Expr); ok && e.Lexpr.GetRowExpr() != nil && e.Rexpr.GetSubLink() != nil { // a CASE gives no row
		return true
	}
	n, isNode := m.(*pg.Node)
	if s := n.GetSubLink(); isNode && s != nil {
		switch {
		case s.Testexpr != nil:
			return true
		case s.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && j.heldSubLink(s, l.Start) && !j.aggregatesAny(s):
			return false
		}
		if !slices.Contains(j.facts.Delayed, n) {
			j.facts.Delayed = append(j.facts.Delayed, n)
		}
		return false
	}
	tree.Children(m, func(c proto.Message) bool {
		other = j.delayIn(l, c) || other
		return true
	})
	return other
}

// aggregatesAny tells whether a sub-query has an aggregate, so that it gives a row where it finds none.
func (j *Judge) aggregatesAny(s *pg.SubLink) (found bool) {
	types.Within(s.Subselect, func(f *pg.FuncCall) { found = found || j.isAggregate(f) })
	return found
}

// computed makes barriers of the queries of which a condition names a column that has a sub-query in it.
func (j *Judge) computed(m proto.Message) {
	if ref, ok := m.(*pg.ColumnRef); ok && j.names.Reference(ref).Varying {
		for _, r := range j.names.Reference(ref).Relations {
			j.Merged(r)
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		if s, ok := c.(*pg.SubLink); ok {
			c = s.Testexpr
		}
		j.computed(c)
		return true
	})
}

// Merged makes a barrier of the query that a relation is, or that a join with another name has, if it has columns with a sub-query
// in them: a condition, or USING, compares one of its computed columns.
func (j *Judge) Merged(r *Relation) {
	if j.merged[r] { // names of joins share their parts
		return
	}
	j.merged[r] = true
	for _, p := range r.Parts {
		j.Merged(p)
	}
	if j.asks(r.Body) {
		j.barrier(r.Body)
	}
}

// asks tells whether a query's select list has a sub-query in it, or a column that has; the engine's own sub-queries (isHidden) count.
// The answer is kept: each name of a column asks.
func (j *Judge) asks(s *pg.SelectStmt) bool {
	if s == nil || j.facts.Barriers[s] {
		return false
	}
	found, done := j.asking[s]
	if !done {
		j.asking[s] = false // to what refers back to it
		found = j.asks(s.Larg) || j.asks(s.Rarg) || slices.ContainsFunc(slices.Concat(s.TargetList, s.ValuesLists), func(n *pg.Node) bool { return j.asksIn(n) })
		j.asking[s] = found
	}
	return found
}

func (j *Judge) asksIn(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.SubLink:
		return true
	case *pg.Node:
		if x.GetFuncCall() != nil && j.isHidden(x) {
			return true
		}
	case *pg.ColumnRef:
		return j.names.Reference(x).Varying && slices.ContainsFunc(j.names.Reference(x).Relations, j.hasAsking)
	}
	return tree.AnyChild(m, j.asksIn)
}

// hasAsking is asks of a relation, or of a part of a join. It is kept: names of joins share their parts.
func (j *Judge) hasAsking(r *Relation) bool {
	found, done := j.askingIn[r]
	if !done {
		found = j.asks(r.Body) || slices.ContainsFunc(r.Parts, j.hasAsking)
		j.askingIn[r] = found
	}
	return found
}

func hasSubLink(m proto.Message) bool {
	_, found := m.(*pg.SubLink)
	return found || tree.AnyChild(m, hasSubLink)
}
