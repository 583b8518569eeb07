package wire

import (
	"context"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// Gate says who is calling and what may run. Its errors are *proxy.Error; anything else is
// told as internal.
type Gate interface {
	// Verifier gives what a password is checked against. Of a server that does not exist it
	// has a salt like any other's, and no key. asker is whose the look-up is, while nobody knows
	// whose the client is; see proxy.Directory.
	Verifier(ctx context.Context, asker proxy.Account, serverID string) (proxy.Verifier, error)
	// Recheck gives the server as it is now, to a client that has proved to hold one of its keys;
	// Unauthorized when the key is not its any more. It is asked before every statement,
	// unless the last answer stands.
	Recheck(ctx context.Context, serverID string, key proxy.KeyID) (proxy.Session, error)
	// Admit takes a place among the server's running transactions, and one statement off its
	// budget. The place is the caller's to release when there is no error.
	Admit(ctx context.Context, subject proxy.Subject) (proxy.Place, error)
	// Pace takes one statement off the budget, of a client that has its place already.
	Pace(subject proxy.Subject) error
	// PolicyName is the name of the subject's policy, for the log; "" where none is assigned.
	PolicyName(subject proxy.Subject) string
	// Check decides whether the text may run for the subject.
	Check(ctx context.Context, subject proxy.Subject, text string) (*policy.Approved, error)
	// Refresh has the schema read, if it was not since, and tells whether decisions may be others now.
	Refresh(ctx context.Context, since time.Time) (changed bool, err error)
}

// Link runs one client's transactions, on a connection of the database's that it has while
// one is open. It is for one goroutine.
type Link interface {
	// Run does what the exchange says and writes what the client is to see to out, in order
	// and sooner or later. The state is the transaction's after it. The error is a
	// *proxy.Error where a step failed: those before it are answered, the rest was left out,
	// and what is to be told is the front end's to write; a transaction that was not opened by
	// Begin is rolled back then. Where the connection to the database is lost, a transaction
	// whose COMMIT was among the steps is over, too, and a ROLLBACK as the last of them is no
	// failure: it is done. Any other error is out's. It returns soon after ctx is done,
	// with the statement cancelled.
	Run(ctx context.Context, x *proxy.Exchange, out *frame.Writer) (proxy.State, error)
	// Rollback ends what is open, as if nothing of it had been.
	Rollback()
}

// Recorder is told what the front end does, for metrics. Its labels are bounded.
type Recorder interface {
	// Connection counts a client that came, by how its start-up ended: "ok", one of
	// proxy.Codes, "cancel" for a cancel request, "protocol" for what is no Postgres client.
	Connection(outcome string)
	Stage(stage string, seconds float64)
	// Rejected counts a statement that was turned away before it ran.
	Rejected(code, frontend string)
	// Statement counts a statement that was handed over, by how it ended.
	Statement(kind, code string)
	// Overridden counts values for a scope column that were another server's.
	Overridden(n int)
	// Evicted counts a client that had to make room for another while it logged in.
	Evicted(frontend string, authenticated bool)
	// Short counts clients that could not stay because their server, project, or all have as many as
	// they may, where what is "clients"; statements and portals for which there was no room, "statements"; TLS
	// handshakes that got no place, "handshakes"; savepoints, "savepoints"; portals, "portals"; and pauses of those that send many messages which cost nothing,
	// "messages".
	Short(what, whose string)
	// TransactionEnded counts a transaction that was ended: "timeout" for its age, "contended" for that
	// where others waited, "unread" where the client took nothing of its result.
	TransactionEnded(why string)
}
