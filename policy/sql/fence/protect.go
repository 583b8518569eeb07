package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Place is where a condition stands.
type Place uint8

// A condition stands in one of these.
const (
	InWhere Place = iota // or in the ON of an inner join
	InOuter              // in the ON of a LEFT or RIGHT JOIN
	InFull               // in the ON of a FULL JOIN
	InHaving
)

// Level is what a condition sees of its query level.
type Level struct {
	Relations []*Relation
	Start     int // the first serial number that a relation of it can have
	// Padded are the relations, in the ON of an outer join, of the side of which the join makes rows of NULLs.
	Padded []*Relation
}

// isColumnPair tells a.x = b.y. A FULL JOIN takes nothing but equalities, guarded ones are
// none to it, and like USING this compares two columns' values as they are.
func (j *Judge) isColumnPair(n *pg.Node) bool {
	left, right := tree.ColumnPair(n)
	l, r := j.names.Reference(left.GetColumnRef()), j.names.Reference(right.GetColumnRef())
	return left != nil && !j.Conflict(left, right) && !l.Converted && !r.Converted && !j.MergeFails(j.OutputType(left), j.OutputType(right))
}

// refuseFull refuses what a FULL JOIN would compare with no guard, and what the planner's statistics would tell of.
func (j *Judge) refuseFull(part *pg.Node) {
	left, right := tree.Equation(part)
	if j.meetsScope("=", left, right) {
		f := refusal.Unsupported(tree.Leftmost(part), "a FULL JOIN of a scope column and another column is not supported")
		f.Hint = "compare two scope columns"
		j.fail(f)
	}
	if j.names.Reference(left.GetColumnRef()).Single || j.names.Reference(right.GetColumnRef()).Single {
		f := refusal.Unsupported(tree.Leftmost(part), "a FULL JOIN with a function that may give one value is not supported")
		f.Hint = "use a LEFT JOIN or a RIGHT JOIN"
		j.fail(f)
	}
}

// Protect finds the parts of a condition that need a guard, once all names in it are resolved.
func (j *Judge) Protect(l Level, root *pg.Node, of Place) *refusal.Refusal {
	c := &facts.Clause{Root: root, Guards: map[*pg.Node]*facts.Guard{}}
	for _, part := range tree.Conjuncts(root) {
		if of == InFull {
			j.refuseFull(part)
		}
		if of == InHaving && j.keepsAggregate(part, l.Start) || of == InFull && j.isColumnPair(part) {
			continue
		}
		var g *facts.Guard
		mentioned := j.mentionedIn(part)
		if !j.leakproof(part) {
			g = j.guard(l, part, mentioned, of)
		}
		if g == nil {
			g = j.delay(l, part, mentioned, of)
		}
		if g != nil {
			c.Guards[part] = g
		}
		if j.fault != nil {
			return j.fault
		}
	}
	if len(c.Guards) > 0 {
		j.facts.Clauses = append(j.facts.Clauses, c)
	}
	return j.fault
}

func (j *Judge) fail(f *refusal.Refusal) {
	if j.fault == nil {
		j.fault = f
	}
}

// guard gives the guard of a part; nil where it looks at nothing of this level that is
// exposed. What looks at no relation of this level, or at a sub-query that may turn out a
// constant, could fail on the rows of any. What may be an equation of something else gets a
// guard without tables: from g.x = (SELECT 1 / 0) and m.title = g.x Postgres makes
// m.title = (SELECT 1 / 0), and asks that of any row of m. It makes nothing of a CASE. What
// holds a column costs more than the scope condition, and is asked behind it.
func (j *Judge) guard(l Level, part *pg.Node, mentioned map[*Relation]bool, of Place) *facts.Guard {
	g := &facts.Guard{Having: of == InHaving}
	needed, named := false, false
	for _, r := range l.Relations {
		named = named || r.among(mentioned) && j.stays(r)
	}
	for _, r := range l.Relations {
		exposed, walled := r.exposedAs()
		if !exposed || j.safe(part, walled, l.Start) || named && !r.among(mentioned) {
			continue
		}
		needed = true
		if !g.Having {
			j.guardRelation(g, r, part)
		}
	}
	if !needed && !(mayEquate(part) && others(mentioned) && !j.safe(part, true, l.Start)) {
		return nil
	}
	return g
}

// others tells whether something that is mentioned holds no rows of scoped tables.
func others(mentioned map[*Relation]bool) bool {
	for r := range mentioned {
		if exposed, _ := r.exposedAs(); !exposed {
			return true
		}
	}
	return false
}

// mayEquate tells whether a condition may be an equation once Postgres has folded constants: all but plain comparisons of another
// kind. bool(a = b) is a = b, and so is (a = b) <> FALSE.
func mayEquate(part *pg.Node) bool {
	switch x := part.GetNode().(type) {
	case *pg.Node_NullTest:
		return false
	case *pg.Node_AExpr:
		switch x.AExpr.Kind {
		case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR, pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
			return false
		case pg.A_Expr_Kind_AEXPR_OP:
			return !slices.Contains([]string{"<", "<=", ">", ">=", "~", "!~", "~*", "!~*", "@>", "<@", "&&", "@@", "?"}, tree.LastName(x.AExpr.Name))
		}
	}
	return true
}

// stays tells whether columns of a relation stay columns of one where Postgres plans: those
// of a sub-query, or of a function that gives one row, may be found to be constants.
func (j *Judge) stays(r *Relation) bool { return j.staysBut(r, map[*Relation]bool{}) }

// staysBut leaves out what was asked before: names of joins share their parts.
func (j *Judge) staysBut(r *Relation, asked map[*Relation]bool) bool {
	for _, p := range r.Parts {
		if !asked[p] && !j.staysBut(p, asked) {
			return false
		}
		asked[p] = true
	}
	return len(r.Parts) > 0 || r.Table || r.Rows || r.Exposed || j.facts.Barriers[r.Body]
}

// maxGuarded bounds the relations that guards look at, all guards of a statement together.
const maxGuarded = 2000

func (j *Judge) guardRelation(g *facts.Guard, r *Relation, part *pg.Node) {
	if j.guarded++; j.guarded > maxGuarded {
		j.fail(refusal.Unsupported(tree.Offset(part), "the statement has too many conditions that look at too many tables: put them into sub-queries of their own"))
		return
	}
	switch {
	case r.Masked:
		f := refusal.Unsupported(tree.Offset(part), "this condition is not supported on a join with an alias")
		f.Hint = "leave the alias of the join out and name its tables' columns"
		j.fail(f)
	case r.Use != nil:
		if r.Nullable && r.Marker == "" {
			j.fail(refusal.Unsupported(tree.Offset(part), "this condition is not supported on an outer join with a table whose columns can all be NULL"))
		}
		g.Tables = append(g.Tables, facts.GuardTable{Use: r.Use, Marker: r.Marker})
	case r.Body != nil:
		j.barrier(r.Body)
	}
}

// Anchored refuses an ON of a join nothing of which stays where Postgres plans, such as one
// of functions that give one row each, unless it can't fail: Postgres may evaluate it on
// the rows of whatever stands beside the join.
func (j *Judge) Anchored(on Level, quals *pg.Node) *refusal.Refusal {
	if j.safe(quals, true, on.Start) || slices.ContainsFunc(on.Relations, j.stays) {
		return nil
	}
	f := refusal.Unsupported(tree.Offset(quals), "this condition is not supported on a join of nothing but functions or constants")
	f.Hint = "put it into WHERE"
	return f
}
