package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// statement is a policy.Bound, taken apart once.
type statement struct {
	bound    policy.Bound // the zero value in tests
	server   string       // whose statement it is
	project  string       // and whose that is
	sql      string
	key      string            // of its description: what tells the approved text from others
	exact    string            // of what a connection has prepared: sql with the types that are declared
	declared policy.GivenTypes // of its parameters
	params   []policy.Param
	kind     policy.Kind
	writes   bool
	returns  bool
	limits   policy.Limits
	shapes   []policy.Shape
	tables   []policy.TableName // that it names; nil: any
	fleeting bool               // it must not be kept prepared
	plan     int                // bytes of its plan in a backend
	records  int                // bytes of the types of its rows there
	native   bool               // its parameters are $n to the caller
	position func(int) int      // a character of sql → one of the caller's text, or 0
}

func (st *statement) account() proxy.Account {
	return proxy.Account{Project: st.project, Server: st.server}
}

// newStatement makes one that can take one policy.Bound after the other.
func newStatement() *statement {
	st := &statement{}
	st.position = func(character int) int { return st.bound.CallerPosition(character) }
	return st
}

// load takes b apart, and forgets what was before.
func (st *statement) load(b policy.Bound) {
	*st = statement{
		bound: b, server: b.Server(), sql: b.SQL(), key: b.Approved().Key(), exact: b.Key(), declared: b.Approved().Declared(), params: st.params[:0], kind: b.Kind(), writes: b.Writes(), returns: b.Returns(),
		limits: b.Limits().Buffered(), shapes: b.Shapes(), tables: b.Approved().Tables(), fleeting: b.Fleeting(), plan: b.Approved().PlanBytes(), records: b.Approved().RecordBytes(), position: st.position,
	}
	for i := range b.NumParams() {
		st.params = append(st.params, b.Param(i))
	}
}

// takeApproved takes apart what was approved and is not bound.
func (st *statement) takeApproved(a *policy.Approved) {
	*st = statement{
		sql: a.Rewritten(), kind: a.Kind(), writes: a.Writes(), returns: a.Returns(), limits: a.Limits(), tables: a.Tables(), position: a.CallerPosition,
	}
	for i := range a.NumParams() {
		st.params = append(st.params, policy.Param{Index: a.ArgOf(i)})
	}
}

// keptParams is how many parameters a statement keeps memory for.
const keptParams = 64

// reset drops everything that is somebody's.
func (st *statement) reset() {
	clear(st.params)
	params := st.params[:0]
	if cap(params) > keptParams {
		params = nil
	}
	*st = statement{params: params, position: st.position}
}

// reviewed tells whether the result can be refused after the statement changed something,
// so that it must be read before the change is committed.
func (st *statement) reviewed() bool { return st.writes && st.returns }

// defect is an error that only a mistake of this program can cause.
func defect(what string) *proxy.Error { return proxy.AsError(fmt.Errorf("upstream: %s", what)) }
