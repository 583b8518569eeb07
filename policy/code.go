package policy

import "github.com/tenantgate/tenantgate/policy/sql/refusal"

// Code names a refusal or failure towards the caller. The codes are part of the
// interface: front ends map them to an HTTP status or an SQLSTATE with the one
// table in package proxy. The empty Code means "none".
type Code = refusal.Code

// The codes that a decision can carry. Those of authentication, transport and
// the database are in package proxy.
const (
	QueryTooLong        = refusal.QueryTooLong
	EmptyQuery          = refusal.EmptyQuery
	MultipleStatements  = refusal.MultipleStatements
	MixedPlaceholders   = refusal.MixedPlaceholders
	SyntaxError         = refusal.SyntaxError
	StatementNotAllowed = refusal.StatementNotAllowed
	ConstructNotAllowed = refusal.ConstructNotAllowed
	TableNotAllowed     = refusal.TableNotAllowed
	ColumnNotAllowed    = refusal.ColumnNotAllowed
	FunctionNotAllowed  = refusal.FunctionNotAllowed
	TypeNotAllowed      = refusal.TypeNotAllowed
	MissingServerScope  = refusal.MissingServerScope
	ForeignServerID     = Code("foreign_server_id")
	ArgumentCount       = Code("argument_count")
	InvalidArgument     = Code("invalid_argument")
	QueryFailed         = refusal.QueryFailed // with an SQLSTATE: what Postgres itself would say
	Internal            = refusal.Internal    // a defect of tenantgate: the rewrite could not be proved
)
