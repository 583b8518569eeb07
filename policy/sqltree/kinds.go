package sqltree

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Complexity bounds a statement's syntax tree.
type Complexity struct {
	MaxNodes int // nodes of the tree
	MaxDepth int // nodes from the root to the deepest leaf
}

// checks look at what the table of the grammar can't say: at names, which need more than
// to be visited, and at what deserves a refusal of its own.
func checks() map[protoreflect.Name]func(proto.Message) *Fault {
	return map[protoreflect.Name]func(proto.Message) *Fault{
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

// grammar walks the whole tree once and admits or refuses each message.
type grammar struct {
	kinds map[protoreflect.Name]*kind
	limit Complexity
	nodes int

	operators []NameUse // that were named
}

// admit refuses the first message beneath m that is not understood. at is the nearest
// offset seen so far, to point at.
func (g *grammar) admit(m proto.Message, depth, at int) *Fault {
	if !isNode(m) {
		g.nodes++
		depth++
	}
	if g.nodes > g.limit.MaxNodes || depth > g.limit.MaxDepth {
		return &Fault{Code: ConstructNotAllowed, Offset: at,
			Message: fmt.Sprintf("the statement is too complex: at most %d nodes and %d levels are allowed", g.limit.MaxNodes, g.limit.MaxDepth),
			Hint:    "split it into several statements"}
	}
	at = offsetOf(m, at)
	if f := g.check(m, at); f != nil {
		return f
	}
	var fault *Fault
	children(m, func(c proto.Message) bool {
		fault = g.admit(c, depth, at)
		return fault == nil
	})
	return fault
}

func (g *grammar) check(m proto.Message, at int) *Fault {
	name := m.ProtoReflect().Descriptor().Name()
	k, ok := g.kinds[name]
	if !ok && isStatement(name) {
		return notAllowed(m, at)
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
func (k *kind) examine(m proto.Message) *Fault {
	if k.check == nil {
		return nil
	}
	return k.check(m)
}

func construct(at int, message string) *Fault {
	return &Fault{Code: ConstructNotAllowed, Message: message, Offset: at}
}

func checkRangeVar(m proto.Message) *Fault {
	switch r := m.(*pg.RangeVar); {
	case r.Catalogname != "":
		return &Fault{Code: TableNotAllowed, Message: "a table name must not name a database", Offset: -1}
	case !r.Inh:
		return construct(-1, "ONLY is not supported")
	case r.Relpersistence != "p":
		return construct(-1, "temporary and unlogged tables are not supported")
	}
	return nil
}

func checkIndexElem(m proto.Message) *Fault {
	if e := m.(*pg.IndexElem); len(e.Opclass)+len(e.Opclassopts) > 0 {
		return construct(-1, "an operator class in ON CONFLICT is not supported")
	}
	return checkCollation(m.(*pg.IndexElem).Collation)
}

// operator notes the operator that a message names, and refuses one that is not of
// pg_catalog: it is given by its bare name, which must have no namesake that was not judged, or
// as OPERATOR(pg_catalog.…).
func (g *grammar) operator(m proto.Message, at int) *Fault {
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
	names, ok := stringsOf(name)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return construct(at, "only the operators of pg_catalog are allowed")
	}
	if len(names) > 0 {
		use := NameUse{Name: names[len(names)-1], Offset: at}
		if len(names) == 2 {
			use.Schema = names[0]
		}
		g.operators = append(g.operators, use)
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

func checkCollate(m proto.Message) *Fault {
	return checkCollation(m.(*pg.CollateClause).Collname)
}

func checkCollation(name []*pg.Node) *Fault {
	names, ok := stringsOf(name)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return construct(-1, "only the collations of pg_catalog are allowed")
	}
	return nil
}

// checkValueFunction names the keywords that tell about the shared role and database
// behind tenantgate: refused like functions.
func checkValueFunction(m proto.Message) *Fault {
	switch m.(*pg.SQLValueFunction).Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg.SQLValueFunctionOp_SVFOP_USER,
		pg.SQLValueFunctionOp_SVFOP_SESSION_USER, pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG, pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return &Fault{Code: FunctionNotAllowed, Message: "only the date and time keywords are allowed, not CURRENT_USER and its like", Offset: -1,
			Hint: "a Postgres client can ask for it in a statement of its own: SELECT current_user"}
	}
	return nil
}

func checkTypeName(m proto.Message) *Fault {
	t := m.(*pg.TypeName)
	if t.Setof || t.PctType || t.TypeOid != 0 {
		return &Fault{Code: TypeNotAllowed, Message: "SETOF and %TYPE are not supported", Offset: -1}
	}
	return nil
}
