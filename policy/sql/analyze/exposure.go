package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// protect has the barrier's judgement look at a condition all names in which are resolved.
func (a *analyzer) protect(l *level, condition *pg.Node, of fence.Place) {
	if a.fault == nil && condition != nil {
		a.fault = a.judge.Protect(l.judged(), condition, of)
	}
}

// exposedBy is what a reference to a WITH query exposes. One to itself sees only rows
// that the query gave already, and forbids OFFSET in it.
func (a *analyzer) exposedBy(c *cte) fence.Relation {
	if c.open {
		c.Body = nil
		return fence.Relation{}
	}
	a.judge.Seen(&c.Relation)
	return c.Relation
}

// outerJoin notes which relations the join can make rows of NULLs of.
func outerJoin(kind pg.JoinType, left, right []*relation) {
	if kind == pg.JoinType_JOIN_RIGHT || kind == pg.JoinType_JOIN_FULL {
		padded(left)
	}
	if kind == pg.JoinType_JOIN_LEFT || kind == pg.JoinType_JOIN_FULL {
		padded(right)
	}
}

func padded(rels []*relation) {
	for _, r := range rels {
		r.Nullable, r.Marker = true, r.marker()
	}
}

// marker spells a column of a table that is NULL only in the row that an outer join makes; "" where there is none.
func (r *relation) marker() string {
	if r.Use == nil || r.Use.Table == nil {
		return ""
	}
	t, best := r.Use.Table, -1
	for i, c := range t.Columns {
		if c.NotNull && !c.NoRead && !c.Virtual && (best < 0 || c.Name == t.Scope) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return lex.Quote(r.name) + "." + lex.Quote(r.cols[best].name)
}
