package values

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDimensions is Postgres' own limit (MAXDIM).
const maxDimensions = 6

// appendLiteral turns a JSON array into Postgres' text form of an array of t. Nested arrays
// are dimensions. For json[] and jsonb[] there is one dimension, and each element is a
// JSON value whatever its kind; a null element is always NULL.
func appendLiteral(dst []byte, text string, t Type) ([]byte, error) {
	l := literal{t: t, json: jsontext.NewDecoder(strings.NewReader(text)), out: dst}
	err := l.array(1)
	return l.out, err
}

// literal is an array literal in the making.
type literal struct {
	t    Type
	json *jsontext.Decoder
	out  []byte
}

func (l *literal) array(depth int) error {
	if depth > maxDimensions {
		return tooDeep
	}
	if _, err := l.json.ReadToken(); err != nil {
		return brokenArray
	}
	l.out = append(l.out, '{')
	for first := true; l.json.PeekKind() != ']'; first = false {
		if !first {
			l.out = append(l.out, l.t.delim)
		}
		if err := l.element(depth); err != nil {
			return err
		}
	}
	if _, err := l.json.ReadToken(); err != nil {
		return brokenArray
	}
	l.out = append(l.out, '}')
	return nil
}

func (l *literal) element(depth int) error {
	switch k := l.json.PeekKind(); {
	case k == 'n':
		l.out = append(l.out, "NULL"...)
		return l.json.SkipValue()
	case l.t.elem == jsonKind:
		return l.jsonElement()
	case k == '[':
		return l.array(depth + 1)
	case k == '{':
		return noObject
	default:
		return l.plainElement()
	}
}

func (l *literal) jsonElement() error {
	v, err := l.json.ReadValue()
	if err != nil {
		return brokenArray
	}
	l.quote(string(v))
	return nil
}

// plainElement appends a string, number or bool. It quotes them all: an unquoted text can
// be the word NULL or hold a delimiter.
func (l *literal) plainElement() error {
	token, err := l.json.ReadToken()
	if err != nil {
		return brokenArray
	}
	text := token.String()
	if token.Kind() == '"' {
		v, err := appendStringValue(nil, text, l.t.elem)
		if err != nil {
			return err
		}
		text = string(v)
	} else if l.t.elem == byteaKind {
		return noBytes
	}
	l.quote(text)
	return nil
}

func (l *literal) quote(text string) {
	l.out = append(l.out, '"')
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			l.out = append(l.out, '\\')
		}
		l.out = append(l.out, text[i])
	}
	l.out = append(l.out, '"')
}
