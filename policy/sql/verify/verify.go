package verify

import (
	"errors"
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Verify proves a rewritten text: parsed again, its tree is the admitted statement's
// tree but for a closed list of differences, and every reference to a scoped table in
// it is restricted to a parameter that carries the server's id. The list:
//
//   - a table's, function's or type's bare name is qualified with its schema;
//   - a scoped table in FROM is joined with an empty sub-select ON scope column = server;
//   - a scoped table's UPDATE, DELETE and ON CONFLICT DO UPDATE have that in their WHERE;
//   - what is given to a scope column in INSERT and SET is the server, and INSERT (and
//     its conflict target) may have gained that column;
//   - a * is spelled out as columns;
//   - placeholders are numbered anew, and those of scope conditions are the server;
//   - where the barrier needs it, parts of conditions are guarded by a CASE that is true
//     for the server's rows, and queries have OFFSET 0;
//   - what must be hidden from the planner is: a literal is a parameter that carries its
//     value, now() is (SELECT now()), and a bool column, or NULL IS NULL, is compared with true;
//   - an entry of a select list that has its name from such a value has gained that name.
//
// It trusts the grammar, the catalog, and from the facts which placeholders are those of
// scope conditions and where the barrier needs what; it resolves WITH names by itself, on the final tree. Where a * was
// spelled out the rewriter tells, and what it became is checked. That the caller
// reads no column that the policy closes is not proved here: the analysis notes what is read, and the policy's checkColumns refuses it.
func Verify(stmt *pg.RawStmt, r *facts.Rewritten, c *tree.Catalog, d facts.Demands) *refusal.Refusal {
	final, fault := tree.Parse(r.Text)
	if fault != nil {
		return tree.TooLarge(fault, unproved(errors.New("the final text does not parse: "+fault.Message)))
	}
	v := &verifier{catalog: c, params: r.Params, stars: r.Stars, Demands: d}
	if err := v.node(stmt.Stmt, final.Stmt); err != nil {
		return unproved(err)
	}
	if d.Hides && bare(final.Stmt, true) {
		return unproved(errors.New("the planner sees a literal that is compared with a column"))
	}
	return nil
}

// unproved is a defect of the rewriter. It is refused, and told apart so that it is counted.
func unproved(err error) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.Internal, Message: "the rewritten statement could not be proved safe: " + err.Error(), Offset: -1}
}

// verifier compares the admitted tree (always the first argument) with the final one.
type verifier struct {
	catalog *tree.Catalog
	params  []facts.FinalParam
	stars   map[int]int
	facts.Demands
	ctes  []string // the WITH names visible here
	scope *scope   // the relations of this query level
}

// same compares two messages field by field, by the rules of the closed list. Fields
// in except are left to the caller.
func (v *verifier) same(a, b proto.Message, except ...string) error {
	return tree.Compare(a, b, v.message, except...)
}

// message compares two messages: those that the closed list speaks of by their own
// rule, all others field by field.
func (v *verifier) message(a, b proto.Message) error {
	switch x := a.(type) {
	case *pg.Node:
		y, _ := b.(*pg.Node)
		return v.node(x, y)
	case *pg.RawStmt, *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.OnConflictClause:
		return errors.New("there is a statement where none is expected")
	case *pg.JoinExpr:
		hidden := v.covered(x.Larg, x.Rarg)
		if len(hidden) > 0 && len(x.Alias.GetColnames()) > 0 {
			hidden = []string{anyColumn} // whose name is which is not for this proof to say
		}
		v.scope.note(x.Alias.GetAliasname(), columns{hidden: hidden})
		return v.join(x, b)
	case *pg.RangeSubselect:
		v.scope.note(x.Alias.GetAliasname(), columns{})
	case *pg.RangeFunction:
		v.scope.note(x.Alias.GetAliasname(), columns{})
	case *pg.SelectStmt: // an arm of a set operation
		return v.selectStmt(x, b)
	case *pg.FuncCall:
		return v.named(a, b, "Funcname", x.Funcname, v.catalog.Functions)
	case *pg.TypeName:
		return v.named(a, b, "Names", x.Names, v.catalog.Types)
	case *pg.LockingClause: // its names are aliases, not tables
		return tree.Diff(a, b)
	case *pg.RangeVar:
		return errors.New("there is a table where none is expected")
	}
	return v.same(a, b)
}

// node compares two Nodes.
func (v *verifier) node(a, b *pg.Node) error {
	am, bm := tree.Unwrap(a), tree.Unwrap(b)
	if am == nil || bm == nil {
		if am == nil && bm == nil {
			return nil
		}
		return errors.New("an expression appeared or vanished")
	}
	if v.Delayed[a] {
		inside, ok := delayed(b)
		if !ok {
			return errors.New("a sub-query costs nothing")
		}
		b = inside
	}
	if f := v.Hidden[a]; f != nil {
		return v.hides(f, a, b)
	}
	return v.shown(a, b)
}

// shown compares two Nodes that hold something and are not hidden.
func (v *verifier) shown(a, b *pg.Node) error {
	am, bm := tree.Unwrap(a), tree.Unwrap(b)
	if bm == nil {
		return errors.New("an expression vanished")
	}
	switch x := a.Node.(type) {
	case *pg.Node_SelectStmt:
		return v.selectStmt(x.SelectStmt, bm)
	case *pg.Node_InsertStmt:
		return v.insertStmt(x.InsertStmt, b.GetInsertStmt())
	case *pg.Node_UpdateStmt:
		return v.updateStmt(x.UpdateStmt, b.GetUpdateStmt())
	case *pg.Node_DeleteStmt:
		return v.deleteStmt(x.DeleteStmt, b.GetDeleteStmt())
	case *pg.Node_RangeVar:
		return v.fromTable(x.RangeVar, b)
	case *pg.Node_ParamRef:
		return v.param(x.ParamRef, b)
	}
	return v.message(am, bm)
}

// param checks that a placeholder carries on what it carried: the caller's own value,
// or the server's id where it is that of a scope condition.
func (v *verifier) param(a *pg.ParamRef, b *pg.Node) error {
	if v.Server[a.Number] != nil {
		return v.isServer(b, nil)
	}
	p := b.GetParamRef()
	if p == nil || p.Number < 1 || int(p.Number) > len(v.params) || v.params[p.Number-1].Number != a.Number {
		return fmt.Errorf("placeholder %d was mixed up", a.Number)
	}
	return nil
}

// isServer checks that an expression is a parameter that carries the server's id, cast
// to the type that it was made for; of the table's scope column where t is not nil.
func (v *verifier) isServer(n *pg.Node, t *tree.Table) error {
	cast := n.GetTypeCast()
	p := cast.GetArg().GetParamRef()
	if p == nil || p.Number < 1 || int(p.Number) > len(v.params) {
		return errors.New("the server's id is not where it must be")
	}
	have := v.params[p.Number-1]
	names, ok := tree.Strings(cast.TypeName.Names)
	plain := &pg.TypeName{Names: cast.TypeName.Names, Typemod: -1, Location: cast.TypeName.Location}
	if !have.IsServer() || !ok || len(names) != 2 || (tree.TypeName{Schema: names[0], Name: names[1]}) != have.Type || !tree.Equal(cast.TypeName, plain) {
		return errors.New("the server's id is not carried by its parameter")
	}
	if t != nil && have.Type != t.ScopeType {
		return errors.New("the server's id has another type than the scope column")
	}
	return nil
}

// named compares a function or a type, whose bare name may have gained the schema
// that the catalog gives it.
func (v *verifier) named(a, b proto.Message, field string, names []*pg.Node, schemas map[string]string) error {
	if err := v.same(a, b, field); err != nil {
		return err
	}
	var after []*pg.Node
	switch y := b.(type) {
	case *pg.FuncCall:
		after = y.Funcname
	case *pg.TypeName:
		after = y.Names
	}
	old, ok1 := tree.Strings(names)
	now, ok2 := tree.Strings(after)
	if ok1 && ok2 && len(old) == 1 && schemas[old[0]] != "" {
		old = []string{schemas[old[0]], old[0]}
	}
	if !ok1 || !ok2 || len(old) != len(now) {
		return errors.New("a name changed")
	}
	for i := range old {
		if old[i] != now[i] {
			return errors.New("a name changed")
		}
	}
	return nil
}
