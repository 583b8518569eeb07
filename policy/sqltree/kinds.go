package sqltree

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Complexity bounds a statement's syntax tree.
type Complexity struct {
	MaxNodes int // nodes of the tree
	MaxDepth int // nodes from the root to the deepest leaf
}

// admitted is the allow-list of the grammar: every kind of message that Analyze,
// Rewrite and Verify understand completely. What is not here is refused, so a new
// Postgres feature is refused until somebody has thought about it. A function, where
// there is one, checks the fields that need more than to be visited.
func admitted() map[protoreflect.Name]func(m protoreflect.Message) *Fault {
	return map[protoreflect.Name]func(protoreflect.Message) *Fault{
		"Node": nil, "List": nil, "RawStmt": nil,
		"SelectStmt": nil, "InsertStmt": nil, "UpdateStmt": nil, "DeleteStmt": nil,
		"WithClause": nil, "CommonTableExpr": nil,
		"OnConflictClause": nil, "InferClause": nil,
		"IndexElem": checkIndexElem, "ResTarget": nil, "MultiAssignRef": nil, "SetToDefault": nil,
		"RangeVar": checkRangeVar, "RangeSubselect": nil, "RangeFunction": nil, "JoinExpr": nil,
		"Alias": nil, "ColumnDef": checkColumnDef, "LockingClause": nil,
		"ColumnRef": nil, "ParamRef": nil, "A_Star": nil, "A_Indices": nil, "A_Indirection": nil,
		"A_Const": nil, "Integer": nil, "Float": nil, "Boolean": nil, "String": nil, "BitString": nil,
		"A_Expr": checkExpr, "BoolExpr": nil, "NullTest": nil, "BooleanTest": nil, "SubLink": checkSubLink,
		"FuncCall": nil, "NamedArgExpr": nil, "WindowDef": nil, "SortBy": checkSortBy,
		"A_ArrayExpr": nil, "RowExpr": nil, "CaseExpr": nil, "CaseWhen": nil,
		"CoalesceExpr": nil, "MinMaxExpr": nil, "SQLValueFunction": checkValueFunction,
		"TypeCast": nil, "TypeName": checkTypeName, "CollateClause": checkCollate,
		"GroupingSet": nil, "GroupingFunc": nil,
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
	kinds map[protoreflect.Name]func(protoreflect.Message) *Fault
	limit Complexity
	nodes int
}

// admit refuses the first message beneath m that is not understood. at is the nearest
// offset seen so far, to point at.
func (g *grammar) admit(m protoreflect.Message, depth, at int) *Fault {
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
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		fault = g.admit(c, depth, at)
		return fault == nil
	})
	return fault
}

func (g *grammar) check(m protoreflect.Message, at int) *Fault {
	name := m.Descriptor().Name()
	check, ok := g.kinds[name]
	if !ok && isStatement(name) {
		return &Fault{Code: StatementNotAllowed, Offset: at, Message: "only SELECT, INSERT, UPDATE and DELETE are allowed"}
	}
	if !ok {
		return construct(at, "this construct ("+string(name)+") is not supported")
	}
	if check == nil {
		return nil
	}
	f := check(m)
	if f != nil && f.Offset < 0 {
		f.Offset = at
	}
	return f
}

func construct(at int, message string) *Fault {
	return &Fault{Code: ConstructNotAllowed, Message: message, Offset: at}
}

func checkRangeVar(m protoreflect.Message) *Fault {
	switch r := m.Interface().(*pg.RangeVar); {
	case r.Catalogname != "":
		return &Fault{Code: TableNotAllowed, Message: "a table name must not name a database", Offset: -1}
	case !r.Inh:
		return construct(-1, "ONLY is not supported")
	case r.Relpersistence != "p":
		return construct(-1, "temporary and unlogged tables are not supported")
	}
	return nil
}

// checkColumnDef admits the column definitions of a function in FROM: a name and a type.
func checkColumnDef(m protoreflect.Message) *Fault {
	d := m.Interface().(*pg.ColumnDef)
	plain := &pg.ColumnDef{Colname: d.Colname, TypeName: d.TypeName, CollClause: d.CollClause, IsLocal: d.IsLocal, Location: d.Location}
	if !equal(d, plain) {
		return construct(-1, "a column definition may only hold a name and a type")
	}
	return nil
}

func checkIndexElem(m protoreflect.Message) *Fault {
	if e := m.Interface().(*pg.IndexElem); len(e.Opclass)+len(e.Opclassopts) > 0 {
		return construct(-1, "an operator class in ON CONFLICT is not supported")
	}
	return nil
}

func checkExpr(m protoreflect.Message) *Fault {
	return checkOperator(m.Interface().(*pg.A_Expr).Name)
}

func checkSubLink(m protoreflect.Message) *Fault {
	s := m.Interface().(*pg.SubLink)
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK, pg.SubLinkType_ALL_SUBLINK, pg.SubLinkType_ANY_SUBLINK,
		pg.SubLinkType_EXPR_SUBLINK, pg.SubLinkType_ARRAY_SUBLINK, pg.SubLinkType_MULTIEXPR_SUBLINK:
		return checkOperator(s.OperName)
	}
	return construct(-1, "this kind of sub-query is not supported")
}

func checkSortBy(m protoreflect.Message) *Fault {
	return checkOperator(m.Interface().(*pg.SortBy).UseOp)
}

// checkOperator admits operators by their bare name, which the session's search path
// resolves in pg_catalog, and OPERATOR(pg_catalog.…).
func checkOperator(name []*pg.Node) *Fault {
	names, ok := stringsOf(name)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return construct(-1, "only the operators of pg_catalog are allowed")
	}
	return nil
}

func checkCollate(m protoreflect.Message) *Fault {
	names, ok := stringsOf(m.Interface().(*pg.CollateClause).Collname)
	if !ok || len(names) > 2 || len(names) == 2 && names[0] != "pg_catalog" {
		return construct(-1, "only the collations of pg_catalog are allowed")
	}
	return nil
}

// checkValueFunction admits the keywords that tell the time; the others (CURRENT_USER,
// CURRENT_CATALOG, …) tell about the shared role and database behind tenantgate.
func checkValueFunction(m protoreflect.Message) *Fault {
	switch m.Interface().(*pg.SQLValueFunction).Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE,
		pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N,
		pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N,
		pg.SQLValueFunctionOp_SVFOP_LOCALTIME, pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N,
		pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return nil
	}
	return &Fault{Code: FunctionNotAllowed, Message: "only the date and time keywords are allowed, not CURRENT_USER and its like", Offset: -1}
}

func checkTypeName(m protoreflect.Message) *Fault {
	t := m.Interface().(*pg.TypeName)
	if t.Setof || t.PctType || t.TypeOid != 0 {
		return &Fault{Code: TypeNotAllowed, Message: "SETOF and %TYPE are not supported", Offset: -1}
	}
	return nil
}
