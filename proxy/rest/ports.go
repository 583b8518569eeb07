package rest

import (
	"context"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Gate says who is calling, what they reach and what may run. Its errors are
// *proxy.Error; anything else is told as internal. asker is whose the look-up is, while nobody
// knows whose the request is; see proxy.Directory.
type Gate interface {
	// Developer gives the caller behind a bearer token; else Unauthorized.
	Developer(ctx context.Context, asker proxy.Account, token string) (proxy.Caller, error)
	// Application gives the server whose key this is; else Unauthorized.
	Application(ctx context.Context, asker proxy.Account, serverID, apiKey string) (proxy.Server, error)
	// Project succeeds when the caller reaches the project and it exists; else NotFound.
	Project(ctx context.Context, caller proxy.Caller, projectID string) error
	// Server gives a server that the caller reaches; else NotFound.
	Server(ctx context.Context, caller proxy.Caller, projectID, serverID string) (proxy.Server, error)
	// Admit takes a place among the server's running requests, and one request off the
	// budget that the subject's policy gives it. The Place's Rate is set with RateLimited too; the place is the caller's
	// to release when there is no error.
	Admit(ctx context.Context, subject proxy.Subject) (proxy.Place, error)
	// MaxArgs is how many arguments a statement of the subject may have: no more are kept.
	MaxArgs(subject proxy.Subject) int
	// PolicyName is the name of the subject's policy, for the log; "" where none is assigned.
	PolicyName(subject proxy.Subject) string
	// Check decides whether the text may run for the subject.
	Check(ctx context.Context, subject proxy.Subject, text string) (*policy.Approved, error)
	// Refresh makes sure that the database's catalog was read after since, for a statement
	// that proxy.ErrSchemaChanged turned back; changed tells whether to try it again.
	Refresh(ctx context.Context, since time.Time) (changed bool, err error)
}

// Servers keeps the servers of the projects. It is asked only after the gate let
// the caller through; its errors are *proxy.Error.
type Servers interface {
	// CreateServer makes a server and its first API key, which is told this once. InvalidRequest says that its id has to be given.
	CreateServer(ctx context.Context, projectID, name, description string) (proxy.Server, string, error)
	// CreateServerWithID is CreateServer with an id of the caller's. InvalidRequest says what is wrong with the id,
	// ConstraintViolation that a server of any project has it.
	CreateServerWithID(ctx context.Context, projectID, id, name, description string) (proxy.Server, string, error)
	// UpdateServer changes what is not nil.
	UpdateServer(ctx context.Context, projectID, serverID string, name, description *string) (proxy.Server, error)
	// ListServers gives servers by creation time, then id: all of them with limit 0, at
	// most limit otherwise, after cursor when it is not "". next is "" on the last page.
	ListServers(ctx context.Context, projectID string, limit int, cursor string) (servers []proxy.Server, next string, err error)
	// GetServer gives a server as it is stored now; NotFound when there is none.
	GetServer(ctx context.Context, projectID, serverID string) (proxy.Server, error)
}

// EndUsers looks up the end users of a server.
type EndUsers interface {
	// ByEmail gives the server's user with that e-mail address, whatever its case; UserNotFound
	// when there is none, ResultTooLarge when its values are too long.
	ByEmail(ctx context.Context, server proxy.Account, email string) (proxy.EndUser, error)
}

// Form is how a caller wants a result.
type Form struct {
	Int8AsString bool // int8 and numeric as JSON strings
	Room         Room // is asked before body is kept that is longer than dst had room for
}

// QueryFunc runs a bound statement of a server of the project and appends the members "columns" and "rows" of its
// result, as JSON without braces, to dst. body is dst extended; it may be another array.
// It returns soon after ctx is done, with the statement cancelled; a *proxy.Error that
// is not retryable then says what became of the statement. ctx does not end with it: the
// connection's next statement may have it, too. An error with
// proxy.ErrSchemaChanged in its chain means that nothing ran.
type QueryFunc func(ctx context.Context, project string, bound policy.Bound, as Form, dst []byte) (body []byte, rowsAffected int64, err error)

// Recorder is told what the front end does, for metrics. Its labels are bounded:
// endpoint is one of Endpoints, code one of proxy.Codes, "ok" or "client_closed".
type Recorder interface {
	Request(endpoint, code string, seconds float64)
	Stage(stage string, seconds float64)
	// Rejected counts a request that was turned away before its statement ran.
	Rejected(code, frontend string)
	// Statement counts a statement that was handed over, by how its request ended.
	Statement(kind, code string)
	// Overridden counts values for a scope column that were another server's.
	Overridden(n int)
	// Evicted counts a connection that had to make room for another, by whether it had
	// authenticated.
	Evicted(frontend string, authenticated bool)
	// Short counts what was more than the share of a "server" or a "project", or more than there is
	// for "all". what is "answers" or "bodies" for which there was no room, "handshakes" that got no
	// place, or "messages": requests that run nothing, whose answers were held back.
	Short(what, whose string)
}
