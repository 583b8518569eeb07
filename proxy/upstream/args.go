package upstream

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// values turns the statement's parameters into what Postgres reads, all in text format:
//
//   - a string as it is; for bytea either Postgres' own \x… or base64, as it is returned;
//   - a number with its digits, a bool as true or false, null as NULL;
//   - an array as an array literal where an array is asked for, and an array or object
//     as JSON text where json or jsonb is.
//
// All else that does not fit, Postgres tells when it binds.
func (st *statement) values(types []valueType) ([][]byte, *proxy.Error) {
	if len(types) != len(st.params) {
		return nil, defect(fmt.Sprintf("%d parameters where Postgres wants %d", len(st.params), len(types)))
	}
	values := make([][]byte, len(types))
	for i, p := range st.params {
		v, err := value(p.Value, types[i])
		if err != nil {
			return nil, invalidArgument(p, err.Error())
		}
		values[i] = v
	}
	return values, nil
}

// invalidArgument names the caller's argument. The server's own id is none: that it does
// not fit its column is the operator's matter, not the caller's.
func invalidArgument(p policy.Param, what string) *proxy.Error {
	if p.Index < 0 {
		return defect("the server's id does not fit the type of its column: " + what)
	}
	return proxy.Refuse(policy.InvalidArgument, fmt.Sprintf("args[%d]: %s", p.Index, what))
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

func value(a policy.Arg, t valueType) ([]byte, error) {
	switch a.Kind {
	case policy.Null:
		return nil, nil
	case policy.Array:
		return arrayValue(a.Text, t)
	case policy.Object:
		if t.kind != jsonKind {
			return nil, noObject
		}
		return []byte(a.Text), nil
	case policy.String:
		return stringValue(a.Text, t.kind)
	default:
		if t.kind == byteaKind {
			return nil, noBytes
		}
		return []byte(a.Text), nil
	}
}

func arrayValue(text string, t valueType) ([]byte, error) {
	switch t.kind {
	case jsonKind:
		return []byte(text), nil
	case arrayKind:
		return arrayLiteral(text, t)
	default:
		return nil, noJSON
	}
}

func stringValue(text string, k kind) ([]byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, hasNUL
	}
	if k == byteaKind {
		return byteaValue(text)
	}
	return []byte(text), nil
}

// byteaValue gives Postgres' hex form. Its older escape form is not taken: most base64 is
// valid in it too, and means other bytes.
func byteaValue(text string) ([]byte, error) {
	if strings.HasPrefix(text, `\x`) {
		return []byte(text), nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, noBytes
	}
	return hex.AppendEncode([]byte(`\x`), raw), nil
}
