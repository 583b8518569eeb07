package tree

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// Complexity bounds a statement's syntax tree.
type Complexity struct {
	MaxNodes int // nodes of the tree
	MaxDepth int // nodes from the root to the deepest leaf
}

// checks look at what the table of the grammar can't say: at names, which need more than
// to be visited, and at what deserves a refusal of its own.
func checks() map[protoreflect.Name]func(proto.Message) *refusal.Refusal {
	return map[protoreflect.Name]func(proto.Message) *refusal.Refusal{
		"SelectStmt": checkSelect, "RangeVar": checkRangeVar, "IndexElem": checkIndexElem,
		"CollateClause": checkCollate, "SQLValueFunction": checkValueFunction, "TypeName": checkTypeName,
	}
}

// isStatement tells the kinds that are whole statements, for a better refusal.
func isStatement(name protoreflect.Name) bool {
	const suffix = "Stmt"
	s := string(name)
	return len(s) > len(suffix) && s[len(s)-len(suffix):] == suffix
}

// Grammar walks the whole tree once and admits or refuses each message.
type Grammar struct {
	Kinds map[protoreflect.Name]*kind
	Limit Complexity
	nodes int

	Operators []NameUse // that were named
}

// Admit refuses the first message beneath m that is not understood. at is the nearest
// offset seen so far, to point at.
func (g *Grammar) Admit(m proto.Message, depth, at int) *refusal.Refusal {
	if !isNode(m) {
		g.nodes++
		depth++
	}
	if g.nodes > g.Limit.MaxNodes || depth > g.Limit.MaxDepth {
		return &refusal.Refusal{Code: refusal.ConstructNotAllowed, Offset: at,
			Message: fmt.Sprintf("the statement is too complex: at most %d nodes and %d levels are allowed", g.Limit.MaxNodes, g.Limit.MaxDepth),
			Hint:    "split it into several statements"}
	}
	at = OffsetOf(m, at)
	if f := g.check(m, at); f != nil {
		return f
	}
	var fault *refusal.Refusal
	Children(m, func(c proto.Message) bool {
		fault = g.Admit(c, depth, at)
		return fault == nil
	})
	return fault
}

func (g *Grammar) check(m proto.Message, at int) *refusal.Refusal {
	name := m.ProtoReflect().Descriptor().Name()
	k, ok := g.Kinds[name]
	if !ok && isStatement(name) {
		return NotAllowed(m, at)
	}
	if !ok {
		return unsupportedPart(protoreflect.FullName(name), at)
	}
	if f := k.examine(m); f != nil {
		if f.Offset < 0 {
			f.Offset = at
		}
		return f
	}
	if field := k.odd(m); field != "" {
		return unsupportedPart(protoreflect.FullName(name).Append(field), at)
	}
	return g.operator(m, at)
}

// examine applies the kind's own check.
func (k *kind) examine(m proto.Message) *refusal.Refusal {
	if k.check == nil {
		return nil
	}
	return k.check(m)
}

func checkRangeVar(m proto.Message) *refusal.Refusal {
	switch r := m.(*pg.RangeVar); {
	case r.Catalogname != "":
		return &refusal.Refusal{Code: refusal.TableNotAllowed, Message: "a table name must not name a database", Offset: -1}
	case !r.Inh:
		return refusal.Unsupported(-1, "ONLY is not supported")
	case r.Relpersistence != "p":
		return refusal.Unsupported(-1, "temporary and unlogged tables are not supported")
	}
	return nil
}

func checkIndexElem(m proto.Message) *refusal.Refusal {
	if e := m.(*pg.IndexElem); len(e.Opclass)+len(e.Opclassopts) > 0 {
		return refusal.Unsupported(-1, "an operator class in ON CONFLICT is not supported")
	}
	return checkCollation(m.(*pg.IndexElem).Collation)
}

// operator notes the operator that a message names, and refuses one that is not of
// pg_catalog: it is given by its bare name, which must have no namesake that was not judged, or
// as OPERATOR(pg_catalog.…).
func (g *Grammar) operator(m proto.Message, at int) *refusal.Refusal {
	var name []*pg.Node
	switch n := m.(type) {
	case *pg.A_Expr:
		if isBetween(n.Kind) { // the name is the keywords, which mean <= and >=
			return nil
		}
		name = n.Name
	case *pg.SubLink:
		name = n.OperName
	case *pg.SortBy:
		name = n.UseOp
	}
	names, ok := Strings(name)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return refusal.Unsupported(at, "only the operators of pg_catalog are allowed")
	}
	if len(names) > 0 {
		use := NameUse{Name: names[len(names)-1], Offset: at}
		if len(names) == 2 {
			use.Schema = names[0]
		}
		g.Operators = append(g.Operators, use)
	}
	return nil
}

func isBetween(k pg.A_Expr_Kind) bool {
	switch k {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return true
	}
	return false
}

func checkCollate(m proto.Message) *refusal.Refusal {
	return checkCollation(m.(*pg.CollateClause).Collname)
}

func checkCollation(name []*pg.Node) *refusal.Refusal {
	names, ok := Strings(name)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return refusal.Unsupported(-1, "only the collations of pg_catalog are allowed")
	}
	return nil
}

// checkValueFunction names the keywords that tell about the shared role and database
// behind tenantgate: refused like functions.
func checkValueFunction(m proto.Message) *refusal.Refusal {
	switch m.(*pg.SQLValueFunction).Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg.SQLValueFunctionOp_SVFOP_USER,
		pg.SQLValueFunctionOp_SVFOP_SESSION_USER, pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG, pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return &refusal.Refusal{Code: refusal.FunctionNotAllowed, Message: "USER, CURRENT_USER and their like are not allowed; of such keywords only those of date and time are", Offset: -1,
			Hint: "write a table or column of that name in double quotes; a Postgres client can ask for it in a statement of its own, as SELECT current_user"}
	}
	return nil
}

func checkTypeName(m proto.Message) *refusal.Refusal {
	t := m.(*pg.TypeName)
	if t.Setof || t.PctType || t.TypeOid != 0 {
		return &refusal.Refusal{Code: refusal.TypeNotAllowed, Message: "SETOF and %TYPE are not supported", Offset: -1}
	}
	return nil
}

// minMaxWeight is what MaxWeight is at least.
const minMaxWeight = 100_000

// MaxWeight bounds the weight of a statement: a policy that admits longer texts admits larger plans.
func (c Complexity) MaxWeight() int { return max(10*c.MaxNodes, minMaxWeight) }
