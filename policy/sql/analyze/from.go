package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// item is one entry of a FROM list, or the two sides of a join: what * means for it.
type item struct {
	cols  []column
	known bool // cols are all there are
	// partial: it has columns that are not known, and they may stand before those that are.
	partial bool
	hides   bool     // * would read a column that must not be read
	spread  []string // * spelled out; nil where it can't be
	count   int      // of the columns or stars that spread spells
}

// from analyzes a FROM list and adds its relations to the level, left to right, as
// LATERAL and functions see them.
func (a *analyzer) from(l *level, list []*pg.Node) []item {
	items := make([]item, 0, len(list))
	for _, n := range list {
		items = append(items, a.fromItem(l, n))
	}
	return items
}

func (a *analyzer) fromItem(l *level, n *pg.Node) item {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return a.add(l, a.rangeVar(l, x.RangeVar), tree.Offset(n))
	case *pg.Node_RangeSubselect:
		return a.add(l, a.rangeSubselect(l, x.RangeSubselect), tree.Offset(n))
	case *pg.Node_RangeFunction:
		return a.add(l, a.rangeFunction(l, x.RangeFunction), tree.Offset(n))
	case *pg.Node_JoinExpr:
		return a.join(l, x.JoinExpr)
	}
	a.fail(refusal.Unsupported(tree.Offset(n), "this is not supported in FROM"))
	return item{}
}

// add makes a relation visible at the level and gives what * means for it.
func (a *analyzer) add(l *level, r *relation, at int) item {
	a.spend(len(r.cols), at)
	if a.fault != nil {
		l.rels = append(l.rels, r)
		return item{}
	}
	if other := l.relationHere("", r.name); other != nil && r.name != "" && (r.schema == "" || other.schema == "" || r.schema == other.schema) {
		a.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42712", Offset: at, Message: "the name " + r.name + " stands in FROM more than once", Hint: "give each its own alias"})
	}
	r.cols = qualify(r.name, r.cols)
	a.addWeight(len(r.cols))
	a.judge.Enter(&r.Relation)
	l.rels = append(l.rels, r)
	it := item{cols: r.cols, known: r.known, partial: r.partial, hides: r.hides()}
	switch {
	case r.name == "":
	case !it.hides:
		it.spread, it.count = []string{lex.Quote(r.name) + ".*"}, 1
	default:
		it.spread = r.readable()
		it.count = len(it.spread)
	}
	return it
}

// rangeVar resolves a name in FROM: a visible WITH name where it is bare, else a table.
func (a *analyzer) rangeVar(l *level, v *pg.RangeVar) *relation {
	if v.Schemaname == "" {
		if c := l.ctes.find(v.Relname); c != nil {
			a.see(v)
			a.withs[v] = c
			if c.ahead { // what it exposes is not known yet
				f := refusal.Unsupported(int(v.Location), "the WITH query "+c.name+" is used before it stands")
				f.Hint = "put the queries of WITH RECURSIVE in the order in which they use each other"
				a.fail(f)
			}
			a.renames(v.Alias.GetColnames(), c.partial, int(v.Location))
			return aliased(&relation{name: v.Relname, cols: a.referred(c), known: c.known, partial: c.partial, Relation: a.exposedBy(c)}, v.Alias)
		}
	}
	a.relate()
	use := a.tableUse(v, facts.AccessSelect, false)
	r := tableRelation(use)
	r = aliased(r, v.Alias)
	use.Column = scopeRef(use.Table, r)
	a.judge.Seen(&r.Relation)
	if use.Table != nil && use.Table.Scope != "" && r.scopeTwice(use.Table) {
		f := refusal.Unsupported(int(v.Location), "this alias gives another column the name of the scope column")
		f.Hint = "give each column a name of its own"
		a.fail(f)
	}
	if use.Table != nil && use.Table.Scope != "" {
		l.facts.Scoped = append(l.facts.Scoped, use)
	}
	return r
}

// tableUse files a reference to a table.
func (a *analyzer) tableUse(v *pg.RangeVar, access facts.Access, target bool) *facts.TableUse {
	a.see(v)
	name := v.Relname
	if v.Schemaname != "" {
		name = v.Schemaname + "." + name
	}
	use := &facts.TableUse{Table: a.catalog.Table(v.Schemaname, v.Relname), Name: name, Access: access, Offset: int(v.Location), Node: v, Target: target}
	a.facts.Tables = append(a.facts.Tables, use)
	return use
}

// tableRelation gives a table's columns under its own name.
func tableRelation(use *facts.TableUse) *relation {
	t := use.Table
	if t == nil {
		return &relation{name: use.Node.Relname, Relation: fence.Relation{Table: true}}
	}
	cols := make([]column, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		cols[i] = column{name: c.Name, table: t, own: c, typ: c.Type, collated: c.Collation != "", collation: c.Collation, scalar: isScalarType(c.Type), plain: !c.Virtual, converted: c.Virtual, scope: c.Name == t.Scope, ours: c.Name == t.Scope}
		if (c.Type == tree.TypeName{Schema: "pg_catalog", Name: "name"}) && c.Collation == "" {
			cols[i].collated, cols[i].collation = true, types.NameCollation
		}
	}
	ours := fence.Relation{Table: true, Use: use, Exposed: t.Scope != "", Walled: t.Walled}
	return &relation{name: t.Name, schema: t.Schema, cols: cols, known: true, Relation: ours}
}

// aliased applies an alias; the schema is no qualifier then.
func aliased(r *relation, alias *pg.Alias) *relation {
	if alias == nil {
		return r
	}
	return &relation{name: alias.Aliasname, cols: rename(r.cols, alias.Colnames), known: r.known, partial: r.partial, Relation: r.Relation}
}

// scopeRef spells the scope column as the relation names it, by its position.
func scopeRef(t *tree.Table, r *relation) string {
	if t == nil || t.Scope == "" {
		return ""
	}
	if i := t.Index(t.Scope); i >= 0 {
		return lex.Quote(r.name) + "." + lex.Quote(r.cols[i].name)
	}
	return ""
}

// scopeTwice tells whether another column of the relation bears the scope column's name.
func (r *relation) scopeTwice(t *tree.Table) bool {
	i := t.Index(t.Scope)
	return i >= 0 && len(r.named(r.cols[i].name)) > 1
}

// rangeSubselect analyzes a sub-query in FROM; only a LATERAL one sees what stands before it.
func (a *analyzer) rangeSubselect(l *level, s *pg.RangeSubselect) *relation {
	outer := l.outer
	if s.Lateral {
		outer = l.sofar()
	}
	before, tables := a.judge.Mark(), len(a.facts.Tables)
	out := a.statement(s.Subquery, outer, l.ctes)
	if a.fault != nil {
		return &relation{}
	}
	ours := a.judge.Subquery(s.Subquery, s.Subquery.GetSelectStmt(), before, out.mixed)
	a.seal(out.cols, ours.Body)
	a.renames(s.Alias.GetColnames(), out.partial, tree.Offset(s.Subquery))
	r := aliased(&relation{cols: out.cols, known: out.known, partial: out.partial, Relation: ours}, s.Alias)
	r.inside = a.facts.Tables[tables:]
	return r
}

// renames refuses new names for the columns of a query whose places are not known.
func (a *analyzer) renames(names []*pg.Node, partial bool, at int) {
	if partial && len(names) > 0 {
		f := refusal.Unsupported(at, "the columns of this query are not known, so they can't be renamed")
		f.Hint = "name the columns in its select list instead of the * of a function"
		a.fail(f)
	}
}

// seal marks the columns of a query that is a barrier.
func (a *analyzer) seal(cols []column, s *pg.SelectStmt) {
	for i := range cols {
		cols[i].sealed = a.facts.Barriers[s]
		cols[i].single = cols[i].single && !cols[i].sealed
	}
}

// sofar is the level as it is now: what a LATERAL item sees.
func (l *level) sofar() *level {
	return &level{outer: l.outer, ctes: l.ctes, rels: append([]*relation(nil), l.rels...), start: l.start}
}
