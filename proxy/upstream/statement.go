package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// statement is a policy.Bound, taken apart once.
type statement struct {
	server   string // whose statement it is
	sql      string
	params   []policy.Param
	kind     policy.Kind
	writes   bool
	returns  bool
	limits   policy.Limits
	shapes   []policy.Shape
	position func(int) int // a character of sql → one of the caller's text, or 0
}

func newStatement(b policy.Bound) *statement {
	return &statement{
		server: b.Server(), sql: b.SQL(), params: b.Params(), kind: b.Kind(), writes: b.Writes(), returns: b.Returns(),
		limits: b.Limits().Buffered(), shapes: b.Shapes(), position: b.CallerPosition,
	}
}

// reviewed tells whether the result can be refused after the statement changed something,
// so that it must be read before the change is committed.
func (st *statement) reviewed() bool { return st.writes && st.returns }

// defect is an error that only a mistake of this program can cause.
func defect(what string) *proxy.Error { return proxy.AsError(fmt.Errorf("upstream: %s", what)) }
