package proof

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// Fault is how a statement broke the promise.
type Fault string

// The faults.
const (
	Leak     Fault = "leak"     // a canary came back, or an error that only others' rows can raise
	Foreign  Fault = "foreign"  // a row of another server was changed, made or removed
	Mismatch Fault = "mismatch" // the answers differ
	Rows     Fault = "rows"     // the server's rows differ afterwards
	Defect   Fault = "internal" // the engine refused what it could not prove
)

// unfinished tells the refusal of a server of which a statement runs in the database although its time is up.
func (a answer) unfinished() bool {
	return a.state == "53300" && strings.Contains(a.message, "go on in the database")
}

// cancelled is the SQLSTATE of a statement that took too long; that says nothing.
const cancelled = "57014"

// judge compares what the shared database answered with what the server's own did. baseline
// is what the others' rows are told as while nothing has been written.
func judge(st statement.Statement, d, own answer, baseline []string) Fault {
	if needle(d) != "" && !strings.Contains(everything(own), needle(d)) {
		return Leak
	}
	if d.code != "" && !ofDatabase(string(d.code)) && !limited(d, own) {
		return Mismatch // the listener refuses what the engine admits
	}
	if d.state != cancelled && len(d.others) > 0 && !slices.Equal(d.others, baseline) {
		return Foreign
	}
	if st.Loose || d.state == cancelled || own.state == cancelled {
		return ""
	}
	if fault := compare(st, d, own); fault != "" {
		return fault
	}
	return ""
}

func compare(st statement.Statement, d, own answer) Fault {
	dRows, ownRows := d.rows, own.rows
	if !st.Sorted || st.Damage {
		dRows, ownRows = slices.Sorted(slices.Values(dRows)), slices.Sorted(slices.Values(ownRows))
	}
	switch {
	case limited(d, own):
		return ""
	case d.state != own.state && constraint(d.state) && constraint(own.state):
		return "" // which of several rows violates its constraint first is not determined
	case d.state != own.state, d.state == "" && (d.tag != own.tag || !slices.Equal(d.columns, own.columns) || !slices.Equal(dRows, ownRows)):
		return Mismatch
	case d.state == "" && !slices.Equal(d.own, own.own):
		return Rows
	}
	return ""
}

// limited tells the refusals without need that docs/isolation.md names: the barrier takes
// from Postgres what it needs to reduce an outer join whose rows are locked, or what keeps it
// from that, or what it needs to run a FULL JOIN; a value for the scope column is replaced before its type is looked at; row-level security is asked about a scope column that became NULL before NOT NULL is; and of two errors in a statement either may be reported.
func limited(d, own answer) bool {
	switch {
	case own.state == "42804": // the server's id replaces a value of another type
		return scopeColumn.MatchString(own.message)
	case d.state == "" && own.state == "0A000": // a constant kept the plain one from reducing the join
		return strings.Contains(own.message, "nullable side of an outer join")
	case d.state == "0A000" && d.code == policy.ConstructNotAllowed:
		return strings.HasPrefix(d.message, "in a DECLARE or COPY an expression with a constant")
	case d.state == "0A000": // whatever the plain one fails by when it runs
		return strings.Contains(d.message, "nullable side of an outer join") || strings.HasPrefix(d.message, "FULL JOIN is only supported with")
	case d.state == "42501" && own.state == "23502":
		return strings.HasPrefix(d.message, "new row violates row-level security policy")
	case strings.HasPrefix(d.state, "42"): // two errors in one statement: a literal that is hidden is read later
		return badLiteral(own.state) || badPath(own) || own.state == "0A000" && strings.HasPrefix(own.message, "input of anonymous composite types")
	case badLiteral(d.state): // both are literals
		return badPath(own)
	}
	return false
}

var scopeColumn = regexp.MustCompile(`^column "(server_id|tenant|owner|Server Id)" is of type`)

// needle gives the mark of a canary that an answer bears; "" for none.
func needle(a answer) string {
	all := everything(a)
	for _, n := range statement.Needles {
		if strings.Contains(all, n) {
			return n
		}
	}
	return ""
}

func everything(a answer) string {
	return strings.ToLower(strings.Join(a.columns, "\n")+"\n"+strings.Join(a.rows, "\n")+"\n"+a.message) + a.bytes
}

// badLiteral tells the SQLSTATEs of literals that are none of their type.
func badLiteral(state string) bool { return state == "22P02" || state == "22007" || state == "22008" }

// badPath tells whether an answer is the error of a literal that is no jsonpath, for which Postgres has the SQLSTATE of a text that is no SQL.
func badPath(a answer) bool {
	return a.state == "42601" && strings.HasSuffix(a.message, "of jsonpath input")
}

// constraint tells the SQLSTATEs of violated constraints.
func constraint(state string) bool { return strings.HasPrefix(state, "23") }
