package policy

import "github.com/tenantgate/tenantgate/policy/sqltree"

// Code names a refusal or failure towards the caller. The codes are part of the
// interface: front ends map them to an HTTP status or an SQLSTATE with the one
// table in package proxy. The empty Code means "none".
type Code = sqltree.Code

// The codes that a decision can carry. Those of authentication, transport and
// the database are in package proxy.
const (
	QueryTooLong        = sqltree.QueryTooLong
	EmptyQuery          = sqltree.EmptyQuery
	MultipleStatements  = sqltree.MultipleStatements
	MixedPlaceholders   = sqltree.MixedPlaceholders
	SyntaxError         = sqltree.SyntaxError
	StatementNotAllowed = sqltree.StatementNotAllowed
	ConstructNotAllowed = sqltree.ConstructNotAllowed
	TableNotAllowed     = sqltree.TableNotAllowed
	ColumnNotAllowed    = sqltree.ColumnNotAllowed
	FunctionNotAllowed  = sqltree.FunctionNotAllowed
	TypeNotAllowed      = sqltree.TypeNotAllowed
	MissingServerScope  = sqltree.MissingServerScope
	ForeignServerID     = Code("foreign_server_id")
	ArgumentCount       = Code("argument_count")
	InvalidArgument     = Code("invalid_argument")
	QueryFailed         = sqltree.QueryFailed // with an SQLSTATE: what Postgres itself would say
	Internal            = sqltree.Internal    // a defect of tenantgate: the rewrite could not be proved
)
