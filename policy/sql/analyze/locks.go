package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// unwaiting is FOR UPDATE or its like with SKIP LOCKED or NOWAIT.
type unwaiting struct {
	from []*pg.Node
	of   []string // aliases; none for all of FROM
}

// locking notes row locks. The names in OF are aliases of the query, not tables. That of a sub-query stands for the tables within.
func (a *analyzer) locking(l *level, s *pg.SelectStmt) {
	for _, n := range s.LockingClause {
		a.facts.Locks = true
		rels := n.GetLockingClause().GetLockedRels()
		a.lockAll = a.lockAll || len(rels) == 0
		var of []string
		for _, r := range rels {
			v := r.GetRangeVar()
			if v == nil || v.Schemaname != "" || v.Alias != nil {
				a.fail(refusal.Unsupported(tree.Offset(r), "FOR UPDATE OF takes an alias of the query"))
				return
			}
			masks := slices.ContainsFunc(l.rels, func(r *relation) bool { return r.Masked }) // Postgres finds a name that a join's alias masks
			a.lockAll = a.lockAll || masks
			of = append(of, v.Relname)
			if named := l.relationHere("", v.Relname); named != nil {
				a.reached = append(a.reached, named.inside...)
			}
		}
		a.locked = append(a.locked, of...)
		if n.GetLockingClause().GetWaitPolicy() != pg.LockWaitPolicy_LockWaitBlock {
			a.unwaiting = append(a.unwaiting, unwaiting{s.FromClause, of})
		}
	}
}

// lock notes that locking a table's rows is a kind of updating them. A lock reaches
// into the sub-queries of its FROM, so it counts for every table of that name.
func (a *analyzer) lock() {
	for _, use := range a.facts.Tables {
		if !use.Target && (a.lockAll || slices.Contains(a.locked, tree.RefName(use.Node)) || slices.Contains(a.reached, use)) {
			use.Access |= facts.AccessUpdate
		}
	}
	for _, u := range a.unwaiting {
		a.locksMore(u.from, u.of)
	}
}

// locksMore refuses a sub-query that is a barrier where SKIP LOCKED or NOWAIT reaches it. Postgres locks all rows that it reads
// there, and not only those that the statement returns: another session would miss rows, or fail on one.
func (a *analyzer) locksMore(from []*pg.Node, of []string) {
	for _, n := range from {
		if j := n.GetJoinExpr(); j != nil {
			a.locksMore([]*pg.Node{j.Larg, j.Rarg}, of)
			continue
		}
		r := n.GetRangeSubselect()
		if r == nil || len(of) > 0 && !slices.Contains(of, r.Alias.GetAliasname()) {
			continue
		}
		s := r.Subquery.GetSelectStmt()
		if a.facts.Barriers[s] {
			f := refusal.Unsupported(tree.Offset(n), "SKIP LOCKED and NOWAIT are not supported on this sub-query, of which Postgres would lock more rows than the statement returns")
			f.Hint = "put the condition beside the table, or the FOR UPDATE into the sub-query"
			a.fail(f)
			return
		}
		a.locksMore(s.GetFromClause(), nil)
	}
}
