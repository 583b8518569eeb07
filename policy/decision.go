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

// Refusal says why a statement was denied. To a caller its Position is in the caller's text.
type Refusal = refusal.Refusal

// Decision is what Decide says about one text. The zero value denies without a word.
type Decision struct {
	Verdict  Verdict
	Refusal  Refusal   // set when denied
	Approved *Approved // set when allowed; nil otherwise
}

// deny is the decision of a refusal whose offset is a byte of the caller's text.
func deny(r *refusal.Refusal, text string) Decision {
	d := Decision{Refusal: *r}
	if r.Offset >= 0 && r.Offset <= len(text) {
		d.Refusal.Position = utf8.RuneCountInString(text[:r.Offset]) + 1
	}
	return d
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
