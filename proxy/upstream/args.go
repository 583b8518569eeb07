package upstream

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
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
func (st *statement) bind(w *wire, name string, types []valueType) *proxy.Error {
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
		} else if w.out.Buf, err = appendValue(w.out.Buf, param.Value, types[i]); err != nil {
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

// misfit says why an argument does not fit a parameter. It never holds the argument.
type misfit string

func (m misfit) Error() string { return string(m) }

const (
	hasNUL      misfit = "a text cannot hold the character U+0000"
	noJSON      misfit = "an array or object fits only a parameter of type json or jsonb, and an array one of an array type"
	noObject    misfit = "an object fits only a parameter of type json or jsonb"
	noBytes     misfit = `bytes are given as a string, in base64 or as \x followed by hex digits`
	tooDeep     misfit = "an array has at most six dimensions"
	brokenArray misfit = "the array is not valid JSON"
)

// appendValue appends the text of an argument that is not null.
func appendValue(dst []byte, a policy.Arg, t valueType) ([]byte, error) {
	switch a.Kind {
	case policy.Array:
		return appendArrayValue(dst, a.Text, t)
	case policy.Object:
		if t.kind != jsonKind {
			return dst, noObject
		}
	case policy.String:
		return appendStringValue(dst, a.Text, t.kind)
	default:
		if t.kind == byteaKind {
			return dst, noBytes
		}
	}
	return append(dst, a.Text...), nil
}

func appendArrayValue(dst []byte, text string, t valueType) ([]byte, error) {
	switch t.kind {
	case jsonKind:
		return append(dst, text...), nil
	case arrayKind:
		return appendLiteral(dst, text, t)
	default:
		return dst, noJSON
	}
}

func appendStringValue(dst []byte, text string, k kind) ([]byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return dst, hasNUL
	}
	if k == byteaKind {
		return appendBytes(dst, text)
	}
	return append(dst, text...), nil
}

// appendBytes gives Postgres' hex form. Its older escape form is not taken: most base64 is
// valid in it too, and means other bytes.
func appendBytes(dst []byte, text string) ([]byte, error) {
	if strings.HasPrefix(text, `\x`) {
		return append(dst, text...), nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return dst, noBytes
	}
	return hex.AppendEncode(append(dst, `\x`...), raw), nil
}
