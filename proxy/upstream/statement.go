package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// statement is a policy.Bound, taken apart once.
type statement struct {
	sql      string
	params   []policy.Param
	kind     policy.Kind
	writes   bool
	returns  bool
	limits   policy.Limits
	shapes   []policy.Shape
	position func(int) int // a character of sql → one of the caller's text, or 0
}

// newStatement refuses what was not approved, and limits that would mean "no limit".
func newStatement(b policy.Bound) (*statement, *proxy.Error) {
	if !b.Valid() {
		return nil, defect("a statement without approval reached upstream")
	}
	st := &statement{
		sql: b.SQL(), params: b.Params(), kind: b.Kind(), writes: b.Writes(), returns: b.Returns(),
		limits: b.Limits(), shapes: b.Shapes(), position: b.CallerPosition,
	}
	if st.limits.StatementTimeout <= 0 {
		return nil, defect("a statement without a time limit reached upstream")
	}
	return st, nil
}

// reviewed tells whether the result can be refused after the statement changed something,
// so that it must be read before the change is committed.
func (st *statement) reviewed() bool { return st.writes && st.returns }

// defect is an error that only a mistake of this program can cause.
func defect(what string) *proxy.Error { return proxy.AsError(fmt.Errorf("upstream: %s", what)) }
