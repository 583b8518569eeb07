package proxy

import "github.com/tenantgate/tenantgate/policy"

// Code names an error of the interface; see Codes for what each becomes.
type Code = policy.Code

// The codes that no decision carries: transport, credentials and the database.
const (
	InvalidJSON          Code = "invalid_json"
	InvalidRequest       Code = "invalid_request"
	Unauthorized         Code = "unauthorized"
	InsufficientScope    Code = "insufficient_scope"
	ServerInactive       Code = "server_inactive"
	NotFound             Code = "not_found"
	UserNotFound         Code = "user_not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	NotAcceptable        Code = "not_acceptable"
	UnsupportedMediaType Code = "unsupported_media_type"
	ConstraintViolation  Code = "constraint_violation"
	SerializationFailure Code = "serialization_failure"
	BodyTooLarge         Code = "body_too_large"
	ResultTooLarge       Code = "result_too_large"
	LimitReached         Code = "limit_reached"
	RateLimited          Code = "rate_limited"
	UpstreamUnavailable  Code = "upstream_unavailable"
	Overloaded           Code = "overloaded"
	ShuttingDown         Code = "shutting_down"
	StatementTimeout     Code = "statement_timeout"
)

// Meaning is what a code becomes in each protocol.
type Meaning struct {
	Status   int    // HTTP status, RFC 9110
	SQLState string // for the Postgres protocol, where Postgres itself gave none
	Rule     string // for the log: the list of the policy, or the check, that refuses with it; "" for none
}

// Codes is the one table from code to meaning. A code that is missing here is a
// defect and is told as Internal.
var Codes = map[Code]Meaning{
	InvalidJSON:                {400, "22023", ""},
	InvalidRequest:             {400, "22023", ""},
	policy.SyntaxError:         {400, "42601", "grammar"},
	policy.EmptyQuery:          {400, "42601", "grammar"},
	policy.MultipleStatements:  {400, "42601", "grammar"},
	policy.MixedPlaceholders:   {400, "42601", "grammar"},
	policy.ArgumentCount:       {400, "08P01", "argument"},
	policy.InvalidArgument:     {400, "22023", "argument"},
	Unauthorized:               {401, "28P01", ""},
	policy.MissingServerScope:  {403, "42501", "scope"},
	policy.StatementNotAllowed: {403, "42501", "kind"},
	policy.TableNotAllowed:     {403, "42501", "table"},
	policy.ColumnNotAllowed:    {403, "42501", "column"},
	policy.FunctionNotAllowed:  {403, "42501", "function"},
	policy.TypeNotAllowed:      {403, "42501", "type"},
	policy.ConstructNotAllowed: {403, "42501", "construct"},
	policy.ForeignServerID:     {403, "42501", "scope"},
	InsufficientScope:          {403, "42501", "token"},
	ServerInactive:             {403, "42501", ""},
	NotFound:                   {404, "3D000", ""},
	UserNotFound:               {404, "02000", ""},
	MethodNotAllowed:           {405, "0A000", ""},
	NotAcceptable:              {406, "0A000", ""},
	ConstraintViolation:        {409, "23000", ""},
	SerializationFailure:       {409, "40001", ""},
	LimitReached:               {409, "53400", "limit"},
	policy.QueryTooLong:        {413, "54000", "limit"},
	BodyTooLarge:               {413, "54000", "limit"},
	UnsupportedMediaType:       {415, "0A000", ""},
	policy.QueryFailed:         {422, "XX000", ""},
	ResultTooLarge:             {422, "54000", "limit"},
	RateLimited:                {429, "53400", "limit"},
	policy.Internal:            {500, "XX000", ""},
	UpstreamUnavailable:        {503, "08006", ""},
	Overloaded:                 {503, "53300", "limit"},
	ShuttingDown:               {503, "57P01", ""},
	StatementTimeout:           {504, "57014", "limit"},
}
