package proxy

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// Server is one tenant: a database of its own, in the eyes of its callers.
type Server struct {
	ID          string
	ProjectID   string
	Name        string
	Description string
	CreatedAt   time.Time // UTC, milliseconds
	UpdatedAt   time.Time // UTC, milliseconds
	Active      bool
	Policy      string // the name of the policy assigned to it or to its project; "" for none
}

// EndUser is a user of a server's application, as the e-mail lookup returns it.
type EndUser struct {
	ID             string
	ExternalUserID string
	Username       string
	Email          string
	PhoneNumber    *string
	PasswordHash   *string
}

// Verifier is what the server's end of SCRAM-SHA-256 needs to check a password that it does
// not know (RFC 5802 section 3, RFC 7677).
type Verifier struct {
	Salt       []byte
	Iterations int
	Keys       []VerifierKey // of each password that is valid now; none for a server that does not exist
}

// VerifierKey is what is kept of one password.
type VerifierKey struct {
	ID     KeyID
	Stored [32]byte // StoredKey
	Server [32]byte // ServerKey
}

// KeyID tells the keys of servers apart; it does not tell the key.
type KeyID [32]byte

// String gives the first 12 hex digits, which name the key in a log: the store's column hash begins with them.
func (id KeyID) String() string { return hex.EncodeToString(id[:6]) }

// Session is the server of a client that has proved to hold one of its keys.
type Session struct {
	Server     Server
	StillValid func() bool // whether that is so still; nil: it has to be asked for again
}

// Valid tells whether the answer may be used without asking again.
func (h Session) Valid() bool { return h.StillValid != nil && h.StillValid() }

// Scope is a set of permissions of a developer's token. The zero value permits nothing.
type Scope uint8

// The scopes: Manage is for servers, Read and Write for statements.
const (
	Manage Scope = 1 << iota
	Read
	Write
)

// Has tells whether s holds every permission of want.
func (s Scope) Has(want Scope) bool { return want != 0 && s&want == want }

// Caller is an authenticated developer. The zero value reaches nothing.
type Caller struct {
	TokenID  string   // for logs; never the token itself
	Projects []string // the projects it is bound to
	Scopes   Scope
	Policy   string // the name of the policy assigned to the token; "" for none
}

// Reaches tells whether the caller is bound to the project.
func (c Caller) Reaches(projectID string) bool { return slices.Contains(c.Projects, projectID) }

// Subject is for whom a statement is checked; it decides which policy applies.
type Subject struct {
	Frontend string // "rest" or "wire"
	Dialect  policy.Dialect
	Types    policy.GivenTypes // that the client gives the parameters of the text to be checked
	Server   Server
	Caller   Caller // zero for an application that holds a server's key

	InTransaction bool // the database has a transaction of the caller's open
}

// Rate is the state of a server's request budget after a request was admitted or refused.
type Rate struct {
	Limit     int           // requests per second; 0: no limit
	Burst     int           // requests at once
	Remaining int           // requests left now
	Reset     time.Duration // until the budget is full again
}

// Place is an admitted request's place among its server's running ones. It is given back
// once: of two copies, only one may be released.
type Place struct {
	Rate    Rate
	limiter *limiter
	budget  *budget // nil: there is nothing to give back
}

// Release gives the place back; it is safe to call twice and on the zero value, but not
// from two goroutines at once.
func (p *Place) Release() {
	if p.budget != nil {
		p.limiter.release(p.budget)
		p.budget = nil
	}
}
