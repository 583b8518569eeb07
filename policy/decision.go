package policy

import (
	"time"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// Verdict is the outcome of a decision. Its zero value is Deny.
type Verdict uint8

// The verdicts.
const (
	Deny Verdict = iota
	Allow
)

// Reason says why a statement was denied, in the caller's terms.
type Reason struct {
	Code     Code
	Message  string // one sentence: what is wrong
	Hint     string // what to do about it; may be empty
	SQLState string // Postgres' own code where it has one; else empty
	Position int    // 1-based character in the caller's text; 0 where there is none
}

// Decision is what Decide says about one text. The zero value denies without a reason.
type Decision struct {
	Verdict  Verdict
	Reason   Reason    // set when denied
	Approved *Approved // set when allowed; nil otherwise
}

// deny is the decision of a fault, whose offset is a byte of the caller's text.
func deny(f *refusal.Fault, text string) Decision {
	r := Reason{Code: f.Code, Message: f.Message, Hint: f.Hint, SQLState: f.SQLState}
	if f.Offset >= 0 && f.Offset <= len(text) {
		r.Position = utf8.RuneCountInString(text[:f.Offset]) + 1
	}
	return Decision{Reason: r}
}

// Kind is the kind of a statement: the outermost one's keyword.
type Kind string

// The statement kinds that a policy can admit, spelled as in a policy file.
const (
	Select Kind = "select"
	Insert Kind = "insert"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Limits bound one statement and one server. A zero field means that the policy
// file did not set it; Compile replaces it with the documented default.
type Limits struct {
	StatementTimeout  time.Duration // run time in Postgres; default 5s
	MaxRows           int           // rows of a result; default 10,000; negative: no limit
	MaxResultBytes    int           // bytes of a result's JSON; default 10,485,760; negative: no limit
	MaxArgs           int           // arguments of one statement; default 1,000
	MaxConcurrent     int           // statements of one server at once; default 20, negative: no limit
	MaxWait           time.Duration // wait for one of those places; default 1s
	RequestsPerSecond int           // of one server; default 200, negative: no limit
	Burst             int           // requests above the rate; default 400
}
