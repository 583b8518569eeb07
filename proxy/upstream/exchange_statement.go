package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// statement is a policy.Bound, taken apart once.
type statement struct {
	wanted
	bound    policy.Bound // the zero value in tests
	server   string       // whose statement it is
	project  string       // and whose that is
	params   []policy.Param
	kind     policy.Kind
	mayWrite bool
	returns  bool
	limits   policy.Limits
	shapes   []policy.Shape
	native   bool          // its parameters are $n to the caller
	position func(int) int // a character of the text → one of the caller's, or 0
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
		wanted: wantedOf(b), bound: b, server: b.Server(), params: st.params[:0], kind: b.Kind(), mayWrite: b.MayWrite(), returns: b.Returns(),
		limits: b.Limits().Buffered(), shapes: b.Approved().Shapes(), position: st.position,
	}
	for i := range b.NumParams() {
		st.params = append(st.params, b.Param(i))
	}
}

// takeApproved takes apart what was approved and is not bound.
func (st *statement) takeApproved(a *policy.Approved) {
	*st = statement{
		wanted: wanted{approved: a}, kind: a.Kind(), mayWrite: a.MayWrite(), returns: a.Returns(), limits: a.Limits(), shapes: a.Shapes(), position: a.CallerPosition,
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

// defect is an error that only a mistake of this program can cause.
func defect(what string) *proxy.Error { return proxy.AsError(fmt.Errorf("upstream: %s", what)) }
