package upstream

import (
	"fmt"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// bind writes the Bind of a prepared statement, with the parameters as Postgres reads them, all in
// text format:
//
//   - a string as it is; for bytea either Postgres' own \x… or base64, as it is returned;
//   - a number with its digits, a bool as true or false, null as NULL;
//   - an array as an array literal where an array is asked for, and an array or object
//     as JSON text where json or jsonb is.
//
// All else that does not fit, Postgres tells when it binds.
func (st *statement) bind(w *wire, name string, types []values.Type) *proxy.Error {
	if len(types) != len(st.params) {
		return defect(fmt.Sprintf("%d parameters where Postgres wants %d", len(st.params), len(types)))
	}
	start := len(w.out.Buf)
	at := w.bind(name, len(st.params))
	for i, param := range st.params {
		if param.Value.Kind == policy.Null {
			w.out.Null()
			continue
		}
		from := w.out.OpenValue()
		var err error
		if param.IsLiteral() { // as Postgres reads it
			w.out.Buf = append(w.out.Buf, param.Value.Text...)
		} else if w.out.Buf, err = values.AppendValue(w.out.Buf, param.Value, types[i]); err != nil {
			w.out.Buf = w.out.Buf[:start]
			return st.invalidArgument(param, err.Error())
		}
		w.out.ShutValue(from)
	}
	w.out.Int16(0)
	w.out.Shut(at)
	return nil
}

// argBytes is about how long the arguments are.
func (st *statement) argBytes() (n int) {
	for i := range st.params {
		n += len(st.params[i].Value.Text)
	}
	return n
}

// invalidArgument names the caller's argument. A literal of the text is none, and has a place
// there. Nor is the server's own id: that it does not fit its column is the operator's matter.
func (st *statement) invalidArgument(p policy.Param, what string) *proxy.Error {
	if p.IsLiteral() {
		return &proxy.Error{Code: policy.QueryFailed, Message: what, Position: st.bound.LiteralPosition(p)}
	}
	if p.Index < 0 {
		return defect("the server's id does not fit the type of its column: " + what)
	}
	return proxy.Refuse(policy.InvalidArgument, st.named(p)+": "+what)
}

// named is what the caller knows a parameter as.
func (st *statement) named(p policy.Param) string {
	switch {
	case p.IsLiteral():
		return "a constant"
	case p.Index < 0:
		return "a parameter"
	case st.native:
		return "$" + strconv.Itoa(p.Index+1)
	}
	return "args[" + strconv.Itoa(p.Index) + "]"
}
