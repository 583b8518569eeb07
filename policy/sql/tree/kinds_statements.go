package tree

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// What to do instead of a statement that is not allowed.
const (
	hintRows     = "use SELECT, VALUES, TABLE, INSERT, UPDATE or DELETE"
	hintParts    = "send the statements that it would run, one by one"
	HintChannel  = "its channels would be shared with others; keep in a table what is to be told, and ask for it"
	HintDeferred = "each constraint is checked when it was declared to be, which is at COMMIT for one that is INITIALLY DEFERRED"
	hintSchema   = "ask the operator of the database behind to do it there"
	hintMade     = "it is done in the database behind, by its operator; a WITH query can replace a temporary table"
	hintTemp     = "a WITH query can replace a temporary table"
	hintUpkeep   = "it is for whoever runs the database behind"
	hintSession  = "it is for Postgres clients only: here each request is one SELECT, VALUES, TABLE, INSERT, UPDATE or DELETE, and a transaction of its own"
)

// refusals are the statements that people write and that are not allowed, under the parser's
// name for each: what people call it, and what to do. A * stands for what the tree says of the kind
// of object, or of transaction command. One that is missing here is refused as well, in fewer words.
var refusals = map[protoreflect.Name]struct{ called, hint string }{
	"MergeStmt":    {"MERGE", "use INSERT … ON CONFLICT, or UPDATE, DELETE and INSERT after one another"},
	"TruncateStmt": {"TRUNCATE", "use DELETE, which removes rows of this server alone"},
	"ExplainStmt":  {"EXPLAIN", "have it run on the database behind; tenantgate check prints the text that runs there"},
	"DoStmt":       {"DO", hintParts},
	"CallStmt":     {"CALL", hintParts},
	"PrepareStmt":  {"PREPARE", "send the statement itself"},
	"ExecuteStmt":  {"EXECUTE", "send the statement itself"},
	"ListenStmt":   {"LISTEN", HintChannel},
	"UnlistenStmt": {"UNLISTEN", "nobody can LISTEN: leave it out"},
	"NotifyStmt":   {"NOTIFY", HintChannel},
	"LockStmt":     {"LOCK", "lock rows with SELECT … FOR UPDATE"},

	"CreateStmt":        {"CREATE TABLE", hintMade},
	"CreateTableAsStmt": {"CREATE * AS", hintMade},
	"ViewStmt":          {"CREATE VIEW", "write its query as WITH, or have it made on the database behind, as its owner"},

	"AlterDefaultPrivilegesStmt": {"ALTER DEFAULT PRIVILEGES", hintSchema},
	"AlterDomainStmt":            {"ALTER DOMAIN", hintSchema},
	"AlterEnumStmt":              {"ALTER TYPE", hintSchema},
	"AlterExtensionStmt":         {"ALTER EXTENSION", hintSchema},
	"AlterFunctionStmt":          {"ALTER *", hintSchema},
	"AlterObjectDependsStmt":     {"ALTER *", hintSchema},
	"AlterObjectSchemaStmt":      {"ALTER *", hintSchema},
	"AlterOwnerStmt":             {"ALTER *", hintSchema},
	"AlterPolicyStmt":            {"ALTER POLICY", hintSchema},
	"AlterSeqStmt":               {"ALTER SEQUENCE", hintSchema},
	"AlterTableStmt":             {"ALTER *", hintSchema},
	"AlterTypeStmt":              {"ALTER TYPE", hintSchema},
	"CommentStmt":                {"COMMENT", hintSchema},
	"CompositeTypeStmt":          {"CREATE TYPE", hintSchema},
	"CreateCastStmt":             {"CREATE CAST", hintSchema},
	"CreateDomainStmt":           {"CREATE DOMAIN", hintSchema},
	"CreateEnumStmt":             {"CREATE TYPE", hintSchema},
	"CreateExtensionStmt":        {"CREATE EXTENSION", hintSchema},
	"CreateForeignTableStmt":     {"CREATE FOREIGN TABLE", hintSchema},
	"CreateFunctionStmt":         {"CREATE FUNCTION or PROCEDURE", hintSchema},
	"CreatePolicyStmt":           {"CREATE POLICY", hintSchema},
	"CreateRangeStmt":            {"CREATE TYPE", hintSchema},
	"CreateSchemaStmt":           {"CREATE SCHEMA", hintSchema},
	"CreateSeqStmt":              {"CREATE SEQUENCE", hintSchema},
	"CreateStatsStmt":            {"CREATE STATISTICS", hintSchema},
	"CreateTrigStmt":             {"CREATE TRIGGER", hintSchema},
	"DefineStmt":                 {"CREATE *", hintSchema},
	"DropOwnedStmt":              {"DROP OWNED", hintSchema},
	"DropStmt":                   {"DROP *", hintSchema},
	"GrantRoleStmt":              {"GRANT or REVOKE", hintSchema},
	"GrantStmt":                  {"GRANT or REVOKE", hintSchema},
	"IndexStmt":                  {"CREATE INDEX", hintSchema},
	"ReassignOwnedStmt":          {"REASSIGN OWNED", hintSchema},
	"RefreshMatViewStmt":         {"REFRESH MATERIALIZED VIEW", hintSchema},
	"RenameStmt":                 {"ALTER … RENAME", hintSchema},
	"RuleStmt":                   {"CREATE RULE", hintSchema},

	"AlterDatabaseSetStmt":   {"ALTER DATABASE", hintUpkeep},
	"AlterDatabaseStmt":      {"ALTER DATABASE", hintUpkeep},
	"AlterRoleSetStmt":       {"ALTER ROLE", hintUpkeep},
	"AlterRoleStmt":          {"ALTER ROLE", hintUpkeep},
	"AlterSubscriptionStmt":  {"ALTER SUBSCRIPTION", hintUpkeep},
	"AlterPublicationStmt":   {"ALTER PUBLICATION", hintUpkeep},
	"AlterSystemStmt":        {"ALTER SYSTEM", hintUpkeep},
	"CheckPointStmt":         {"CHECKPOINT", hintUpkeep},
	"ClusterStmt":            {"CLUSTER", hintUpkeep},
	"CreatePublicationStmt":  {"CREATE PUBLICATION", hintUpkeep},
	"CreateRoleStmt":         {"CREATE ROLE", hintUpkeep},
	"CreateSubscriptionStmt": {"CREATE SUBSCRIPTION", hintUpkeep},
	"CreateTableSpaceStmt":   {"CREATE TABLESPACE", hintUpkeep},
	"CreatedbStmt":           {"CREATE DATABASE", hintUpkeep},
	"DropRoleStmt":           {"DROP ROLE", hintUpkeep},
	"DropSubscriptionStmt":   {"DROP SUBSCRIPTION", hintUpkeep},
	"DropTableSpaceStmt":     {"DROP TABLESPACE", hintUpkeep},
	"DropdbStmt":             {"DROP DATABASE", hintUpkeep},
	"LoadStmt":               {"LOAD", hintUpkeep},
	"ReindexStmt":            {"REINDEX", hintUpkeep},
	"VacuumStmt":             {"VACUUM or ANALYZE", hintUpkeep},

	"ClosePortalStmt":    {"CLOSE", hintSession},
	"ConstraintsSetStmt": {"SET CONSTRAINTS", HintDeferred},
	"CopyStmt":           {"COPY", hintSession},
	"DeallocateStmt":     {"DEALLOCATE", hintSession},
	"DeclareCursorStmt":  {"DECLARE", hintSession},
	"DiscardStmt":        {"DISCARD", hintSession},
	"FetchStmt":          {"FETCH or MOVE", hintSession},
	"TransactionStmt":    {"*", hintSession},
	"VariableSetStmt":    {"SET or RESET", hintSession},
	"VariableShowStmt":   {"SHOW", hintSession},
}

// NotAllowed refuses a kind of statement.
func NotAllowed(m proto.Message, at int) *refusal.Refusal {
	r, known := refusals[m.ProtoReflect().Descriptor().Name()]
	if !known {
		r.called, r.hint = "this kind of statement", hintRows
	}
	switch n := m.(type) {
	case *pg.CreateStmt:
		r.hint = hintOfTable(n.GetRelation())
	case *pg.CreateTableAsStmt:
		r.hint = hintOfTable(n.GetInto().GetRel())
	}
	called := strings.Replace(r.called, "*", variant(m), 1)
	return &refusal.Refusal{Code: refusal.StatementNotAllowed, Offset: at, Message: called + " is not allowed", Hint: r.hint}
}

// hintOfTable says what to do instead of making a table of the kind that was asked for.
func hintOfTable(made *pg.RangeVar) string {
	if made.GetRelpersistence() == "t" {
		return hintTemp
	}
	return hintMade
}

// variants make words of SQL of the parser's.
var variants = strings.NewReplacer("OBJECT_", "", "TRANS_STMT_", "", "MATVIEW", "MATERIALIZED VIEW", "FDW", "FOREIGN DATA WRAPPER", "FOREIGN_SERVER", "SERVER", "OPCLASS", "OPERATOR CLASS", "OPFAMILY", "OPERATOR FAMILY",
	"STATISTIC_EXT", "STATISTICS", "TSCONFIGURATION", "TEXT SEARCH CONFIGURATION", "TSDICTIONARY", "TEXT SEARCH DICTIONARY", "TSPARSER", "TEXT SEARCH PARSER", "TSTEMPLATE", "TEXT SEARCH TEMPLATE", "_", " ")

// variant gives what stands for the * of a statement; "" where the tree does not say.
func variant(m proto.Message) string {
	list := m.ProtoReflect().Descriptor().Fields()
	for i := range list.Len() {
		fd := list.Get(i)
		if fd.Enum() == nil || fd.Enum().Name() != "ObjectType" && fd.Enum().Name() != "TransactionStmtKind" {
			continue
		}
		if v := fd.Enum().Values().ByNumber(m.ProtoReflect().Get(fd).Enum()); v != nil {
			return variants.Replace(string(v.Name()))
		}
	}
	return ""
}
