package proxy

import (
	"context"

	"github.com/tenantgate/tenantgate/policy"
)

// Directory answers who somebody is. Its answers may come from a cache; a revocation
// is seen within a second. All errors are *Error. How many may be looked up at once is shared among
// askers: of credentials that is the network they come from, or the account that its connection has
// shown, of what a token names the token's. The zero value shares nothing: it is for what a proved key names.
type Directory interface {
	// Developer gives the caller behind an access token (or a JWT, when configured);
	// Unauthorized when it is unknown, malformed, revoked or expired. The message says of a token
	// that was issued that it was revoked or when it expired, and of an API key that it is one;
	// else it is the same whatever is wrong.
	Developer(ctx context.Context, asker Account, token string) (Caller, error)
	// Application gives the server whose API key this is. An unknown server and a
	// wrong key are Unauthorized alike: same message, same number of look-ups. Of an access token
	// the message says that it is one.
	Application(ctx context.Context, asker Account, serverID, apiKey string) (Server, error)
	// Verifier gives what a password for the server is checked against. An unknown server has
	// a salt like any other's, which stays the same, and no key: same number of look-ups.
	Verifier(ctx context.Context, asker Account, serverID string) (Verifier, error)
	// Recheck gives the server, active or not, to a client that has proved to hold one of its keys;
	// Unauthorized when it is not the server's key any more. It is asked before every
	// statement, unless the last answer stands.
	Recheck(ctx context.Context, serverID string, key KeyID) (Session, error)
	// Server gives a server of a project; NotFound when there is none.
	Server(ctx context.Context, asker Account, projectID, serverID string) (Server, error)
	// Project tells whether the project exists; NotFound when it does not.
	Project(ctx context.Context, asker Account, projectID string) error
}

// Catalog reads the database's catalog for the tables that policies name.
type Catalog interface {
	// Schema gives the named tables that exist, in no particular order.
	Schema(ctx context.Context, tables []policy.TableName) (policy.Schema, error)
	// Adopted tells that from now on statements are decided by the schema that was given last: only then may
	// they find names where it says.
	Adopted()
}

// Recorder is told what the gate does, for metrics. Its labels are bounded. How requests
// end is told by the front ends.
type Recorder interface {
	PlanCache(event string) // hit, miss, eviction
	Stage(stage string, seconds float64)
	SchemaRefresh(result string)   // unchanged; changed; failed: not read, or a policy can serve nothing
	ScopedTables(walled, open int) // of the policies, as the schema was read last
	// Short counts what was refused because there is no more of something that all share:
	// "parsing" are the places in which texts are checked, "requests" are budgets. whose is who has
	// its share: a "server", a "project", or "all".
	Short(what, whose string)
	// FoundTables names the tables that are closed, and those that tell whether another server has
	// a value, by the name of the finding.
	FoundTables(closed, telling map[string][]string)
}
