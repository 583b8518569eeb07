package analyze

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/hide"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// Analyze understands one statement: it admits every node of the tree and resolves
// every name as Postgres would. What it does not understand is refused.
//
// given are the types that the client gives its placeholders, from $1; the zero TypeName, and
// what is missing, takes its type from where it stands.
func Analyze(stmt *pg.RawStmt, c *tree.Catalog, given ...tree.TypeName) (*facts.Facts, *refusal.Refusal) {
	g := &tree.Grammar{Kinds: c.Kinds, Limit: c.Limit}
	if f := g.Admit(stmt, 0, 0); f != nil {
		return nil, f
	}
	a := newAnalyzer(c, g.Operators, nil, given)
	a.run(stmt)
	if a.fault != nil {
		return a.facts, a.fault
	}
	if torn := a.types.TornBy(stmt); len(torn) > 0 { // placeholders of which Postgres converts some while it runs: what they stand in is judged anew
		a = newAnalyzer(c, g.Operators, torn, given)
		a.run(stmt)
	}
	if a.fault == nil {
		a.fault = hide.Find(stmt, a.facts, a.types)
	}
	a.facts.Zones = a.fault == nil && a.zones(stmt)
	return a.facts, a.fault
}

func newAnalyzer(c *tree.Catalog, operators []tree.NameUse, torn map[int32]bool, given []tree.TypeName) *analyzer {
	a := &analyzer{
		catalog: c, facts: &facts.Facts{Operators: operators, Named: map[*pg.Node]string{}},
		seen: map[proto.Message]bool{}, subqueries: map[*pg.SubLink]string{}, names: map[*pg.ColumnRef]meaning{}, withs: map[*pg.RangeVar]*cte{},
	}
	a.types = types.New(c, a, given, torn)
	a.judge = fence.New(a.types, a, a.facts)
	return a
}

func (a *analyzer) run(stmt *pg.RawStmt) {
	a.root(stmt.Stmt)
	if !a.facts.NamesScoped() {
		a.facts.Clauses, a.facts.Delayed = nil, nil // no rows of others that a condition could be evaluated on
	}
	a.lock()
	a.unseen(stmt)
}

// analyzer carries one analysis. The first fault stays.
type analyzer struct {
	catalog    *tree.Catalog
	facts      *facts.Facts
	fault      *refusal.Refusal
	locked     []string          // the names of FOR UPDATE OF
	lockAll    bool              // some FOR UPDATE names none
	reached    []*facts.TableUse // in sub-queries that FOR UPDATE OF names
	unwaiting  []unwaiting       // clauses with SKIP LOCKED or NOWAIT
	seen       map[proto.Message]bool
	subqueries map[*pg.SubLink]string // the name of the first column of each, where it is known
	columns    int                    // that relations and lists have, all in all
	load       load                   // of the query level that is being analyzed
	rows       rows

	names map[*pg.ColumnRef]meaning
	withs map[*pg.RangeVar]*cte
	types *types.Types
	judge *fence.Judge // of what the barrier must keep from others' rows
}

// see notes that a name of the tree was resolved; unseen demands it of all of them, so
// that a place which the analysis forgets is refused and not passed on.
func (a *analyzer) see(m proto.Message) { a.seen[m] = true }

func (a *analyzer) unseen(m proto.Message) {
	switch n := m.(type) {
	case *pg.ColumnRef, *pg.FuncCall, *pg.TypeName, *pg.SubLink, *pg.RangeVar:
		if !a.seen[n] {
			a.fail(refusal.Unsupported(tree.OffsetOf(m, -1), "this construct is not supported here"))
		}
	case *pg.LockingClause: // its names are aliases
		return
	case *pg.MultiAssignRef: // all columns of SET (…) = … carry a copy of the one source
		if n.Colno > 1 {
			return
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		a.unseen(c)
		return a.fault == nil
	})
}

// maxColumns bounds the columns that the relations and the lists of a statement have, all
// in all: a * over a * over a * doubles them with every few bytes.
const maxColumns = 10_000

func (a *analyzer) spend(columns, at int) {
	if a.columns += columns; a.columns > maxColumns {
		a.fail(refusal.Unsupported(at, fmt.Sprintf("the statement has too many columns: at most %d are allowed in all of its relations and lists", maxColumns)))
	}
}

func (a *analyzer) fail(f *refusal.Refusal) {
	if a.fault == nil {
		a.fault = f
	}
}

func (a *analyzer) root(n *pg.Node) {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		a.facts.Kind, a.facts.Returns = facts.AccessSelect, true
	case *pg.Node_InsertStmt:
		a.facts.Kind, a.facts.Returns = facts.AccessInsert, len(s.InsertStmt.ReturningList) > 0
	case *pg.Node_UpdateStmt:
		a.facts.Kind, a.facts.Returns = facts.AccessUpdate, len(s.UpdateStmt.ReturningList) > 0
	case *pg.Node_DeleteStmt:
		a.facts.Kind, a.facts.Returns = facts.AccessDelete, len(s.DeleteStmt.ReturningList) > 0
	default: // a second net: Admit has refused it
		a.fail(tree.NotAllowed(n, 0))
		return
	}
	a.statement(n, nil, nil)
}

// statement analyzes a whole statement, at the top or in WITH, and gives its output columns.
func (a *analyzer) statement(n *pg.Node, outer *level, ctes *cte) output {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		a.facts.Kinds |= facts.AccessSelect
		return a.selectStmt(s.SelectStmt, outer, ctes, nil)
	case *pg.Node_InsertStmt:
		a.facts.Kinds |= facts.AccessInsert
		defer a.weigh()()
		return a.insertStmt(s.InsertStmt, outer, ctes)
	case *pg.Node_UpdateStmt:
		a.facts.Kinds |= facts.AccessUpdate
		defer a.weigh()()
		return a.updateStmt(s.UpdateStmt, outer, ctes)
	case *pg.Node_DeleteStmt:
		a.facts.Kinds |= facts.AccessDelete
		defer a.weigh()()
		return a.deleteStmt(s.DeleteStmt, outer, ctes)
	}
	a.fail(tree.NotAllowed(n, tree.Offset(n)))
	return output{}
}

// isEmpty tells an arm of a set operation that gives no columns.
func isEmpty(s *pg.SelectStmt) bool {
	return s.GetOp() == pg.SetOperation_SETOP_NONE && len(s.GetTargetList()) == 0 && len(s.GetValuesLists()) == 0
}

// selectStmt analyzes one query level, or a set operation of several. afterLeft, where
// not nil, is told the left arm's columns before the right arm is looked at: that is
// what a recursive query's own name means.
func (a *analyzer) selectStmt(s *pg.SelectStmt, outer *level, ctes *cte, afterLeft func(output)) output {
	ctes = a.with(s.WithClause, outer, ctes)
	defer a.weigh()()
	l := &level{outer: outer, ctes: ctes, start: a.judge.Begin(s)}
	var out output
	switch {
	case s.Op != pg.SetOperation_SETOP_NONE:
		if isEmpty(s.Larg) || isEmpty(s.Rarg) { // it has no place in the text that the tree knows
			a.fail(refusal.Unsupported(-1, "a set operation without columns is not supported"))
			return output{}
		}
		out = a.selectStmt(s.Larg, outer, ctes, nil)
		if afterLeft != nil {
			afterLeft(out)
		}
		out.unite(a.selectStmt(s.Rarg, outer, ctes, nil))
		if out.mixed {
			a.judge.Mixes(s)
		}
		a.use(out.cols)
		if out.clash {
			a.clash()
		}
	case len(s.ValuesLists) > 0:
		a.exprs(l, s.ValuesLists)
		out = a.valuesOutput(s.ValuesLists)
		if out.clash {
			a.clash()
		}
	default:
		l.facts = &facts.Level{Offset: -1}
		items := a.from(l, s.FromClause)
		out = a.targets(l, items, s.TargetList)
		a.where(l, s.WhereClause)
		a.ordered(l, out, s.DistinctClause)
		a.grouped(l, out, s.GroupClause)
		a.expr(l, s.HavingClause)
		a.protect(l, s.HavingClause, fence.InHaving)
		a.exprs(l, s.WindowClause)
		a.load.stages += groupings(s.GroupClause) + min(len(s.DistinctClause), 1)
		a.close(l)
	}
	a.ordered(l, out, s.SortClause)
	a.expr(l, s.LimitOffset)
	a.expr(l, s.LimitCount)
	a.locking(l, s)
	a.load.stages += min(len(s.SortClause), 1)
	return final(s, out)
}

// clash refuses what would have a column of two collations: every comparison of it fails.
func (a *analyzer) clash() {
	f := refusal.Unsupported(-1, "the columns of this set operation differ in collation, or may do so")
	f.Hint = "give them the COLLATE that is meant"
	a.fail(f)
}

// close files a level that touched scoped tables.
func (a *analyzer) close(l *level) {
	if len(l.facts.Scoped) > 0 {
		l.facts.Offset = l.facts.Scoped[0].Offset
		a.facts.Levels = append(a.facts.Levels, l.facts)
	}
}

// expr analyzes an expression, and exprs a list of them.
func (a *analyzer) expr(l *level, n *pg.Node) {
	if m := tree.Unwrap(n); m != nil {
		a.visit(l, m)
	}
}

func (a *analyzer) exprs(l *level, list []*pg.Node) {
	for _, n := range list {
		a.expr(l, n)
	}
}

// visit is the one place that every expression passes. Kinds without a case hold
// nothing but further expressions: admit has refused all that it does not know.
func (a *analyzer) visit(l *level, m proto.Message) {
	a.load.uses++
	switch n := m.(type) {
	case *pg.ColumnRef:
		a.see(n)
		a.columnRef(l, n)
		return
	case *pg.A_Indirection:
		a.indirection(l, n)
		return
	case *pg.SubLink:
		a.see(n)
		a.expr(l, n.Testexpr)
		a.facts.Kinds |= facts.AccessSelect
		a.judge.Begin(n)
		if out := a.statement(n.Subselect, l, l.ctes); out.known && len(out.cols) > 0 {
			a.subqueries[n] = out.cols[0].name
		}
		return
	case *pg.FuncCall:
		a.see(n)
		a.facts.Functions = append(a.facts.Functions, a.nameUse(n.Funcname, int(n.Location)))
		if n.Over != nil { // a sort and a window
			a.load.stages += 2
		}
	case *pg.RowExpr:
		a.makesRow(len(n.Args))
	case *pg.TypeCast:
		if p := n.Arg.GetParamRef(); p != nil && n.TypeName.GetLocation() < p.Location {
			a.fail(lex.SyntaxError(int(p.Location), fmt.Sprintf("a placeholder can't follow a type's name; write $%d::type", p.Number))) // the library's grammar takes it
		}
	case *pg.TypeName:
		a.see(n)
		a.typeName(n)
	case *pg.RangeVar, *pg.SelectStmt, *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.JoinExpr,
		*pg.RangeSubselect, *pg.RangeFunction, *pg.WithClause:
		// Each has a meaning of its own for names; where one turns up as an expression
		// this analysis has missed a place that Postgres knows.
		a.fail(refusal.Unsupported(tree.OffsetOf(m, -1), "this construct is not supported here"))
		return
	}
	before := a.weight()
	tree.Children(m, func(c proto.Message) bool {
		a.visit(l, c)
		return true
	})
	switch n := m.(type) {
	case *pg.A_Expr:
		a.repeat(copiesOf(n), before)
	case *pg.FuncCall:
		a.refuseField(n)
	}
}

func (a *analyzer) typeName(n *pg.TypeName) {
	a.facts.Types = append(a.facts.Types, a.nameUse(n.Names, int(n.Location)))
	for _, mod := range n.Typmods {
		if mod.GetAConst() == nil && mod.GetColumnRef() == nil {
			a.fail(lex.SyntaxError(tree.Offset(mod), "type modifiers must be simple constants or identifiers"))
		}
	}
}

func (a *analyzer) nameUse(nodes []*pg.Node, at int) tree.NameUse {
	names, ok := tree.Strings(nodes)
	switch {
	case ok && len(names) == 1:
		return tree.NameUse{Name: names[0], Offset: at}
	case ok && len(names) == 2:
		return tree.NameUse{Schema: names[0], Name: names[1], Offset: at}
	}
	a.fail(refusal.Unsupported(at, "a name with more than two parts is not supported"))
	return tree.NameUse{}
}
