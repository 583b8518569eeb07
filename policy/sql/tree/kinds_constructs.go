package tree

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// constructs are what people call the parts of SQL that they write and that are not supported,
// under the parser's name for the kind of message, or for a field of one.
var constructs = map[protoreflect.FullName]string{
	"CurrentOfExpr":                 "WHERE CURRENT OF",
	"RangeTableSample":              "TABLESAMPLE",
	"RangeTableFunc":                "XMLTABLE",
	"XmlExpr":                       "an XML expression",
	"XmlSerialize":                  "XMLSERIALIZE",
	"JsonArrayAgg":                  "JSON_ARRAYAGG",
	"JsonArrayConstructor":          "JSON_ARRAY",
	"JsonArrayQueryConstructor":     "JSON_ARRAY",
	"JsonFuncExpr":                  "JSON_EXISTS, JSON_QUERY or JSON_VALUE",
	"JsonIsPredicate":               "IS JSON",
	"JsonObjectAgg":                 "JSON_OBJECTAGG",
	"JsonObjectConstructor":         "JSON_OBJECT",
	"JsonParseExpr":                 "JSON()",
	"JsonScalarExpr":                "JSON_SCALAR",
	"JsonSerializeExpr":             "JSON_SERIALIZE",
	"JsonTable":                     "JSON_TABLE",
	"MergeSupportFunc":              "MERGE_ACTION()",
	"CommonTableExpr.search_clause": "SEARCH",
	"CommonTableExpr.cycle_clause":  "CYCLE",
	"IndexElem.ordering":            "ASC or DESC in ON CONFLICT",
	"IndexElem.nulls_ordering":      "NULLS FIRST or LAST in ON CONFLICT",

	// of commands, where these are no parts
	"TypeCast": "a cast in a command",
	"ParamRef": "a placeholder in a command",
}

// constructHints say what to do instead of some of them.
var constructHints = map[protoreflect.FullName]string{
	"CurrentOfExpr":    "name the row by its primary key",
	"RangeTableSample": "take some rows by a condition, or by ORDER BY and LIMIT",
	"TypeCast":         "write a plain constant",
	"ParamRef":         "write a plain constant",
}

// unsupportedPart refuses a kind of message, or a field of one.
func unsupportedPart(name protoreflect.FullName, at int) *refusal.Refusal {
	called := constructs[name]
	if called == "" {
		called = "this construct"
	}
	f := refusal.Unsupported(at, called+" is not supported")
	f.Hint = constructHints[name]
	return f
}

// checkSelect refuses SELECT INTO at the table that it would make.
func checkSelect(m proto.Message) *refusal.Refusal {
	into := m.(*pg.SelectStmt).IntoClause
	if into == nil {
		return nil
	}
	f := refusal.Unsupported(int(into.GetRel().GetLocation()), "SELECT INTO is not supported")
	f.Hint = hintOfTable(into.GetRel())
	return f
}
