package values

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// misfit says why an argument does not fit a parameter. It never holds the argument.
type misfit string

func (m misfit) Error() string { return string(m) }

const (
	hasNUL      misfit = "a text cannot hold the character U+0000"
	noJSON      misfit = "an array or object fits only a parameter of type json or jsonb, and an array one of an array type, as in = ANY (?)"
	noObject    misfit = "an object fits only a parameter of type json or jsonb"
	noBytes     misfit = `bytes are given as a string, in base64 or as \x followed by hex digits`
	tooDeep     misfit = "an array has at most six dimensions"
	brokenArray misfit = "the array is not valid JSON"
)

// AppendValue appends the text of an argument that is not null.
func AppendValue(dst []byte, a policy.Arg, t Type) ([]byte, error) {
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

func appendArrayValue(dst []byte, text string, t Type) ([]byte, error) {
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
