package apidoc

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is the document in compact JSON.
func (d Document) JSON() ([]byte, error) {
	return appendJSON(nil, d.root, -1)
}

// appendJSON appends a node; a negative indent makes it compact.
func appendJSON(dst []byte, n node, indent int) ([]byte, error) {
	switch value := n.value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, value), nil
	case string:
		return jsontext.AppendQuote(dst, value)
	case uint64:
		return strconv.AppendUint(dst, value, 10), nil
	case int64:
		return strconv.AppendInt(dst, value, 10), nil
	case float64:
		if math.IsInf(value, 0) || math.IsNaN(value) {
			return nil, fmt.Errorf("writing JSON: the number %v", value)
		}
		return strconv.AppendFloat(dst, value, 'g', -1, 64), nil
	case []any:
		return appendList(dst, n.elements(), indent)
	}
	if members := n.members(); members != nil {
		return appendObject(dst, members, indent)
	}
	return nil, fmt.Errorf("writing JSON: a value of type %T", n.value)
}

func appendObject(dst []byte, members []member, indent int) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, member := range members {
		dst = separate(dst, i, indent)
		if dst, err = jsontext.AppendQuote(dst, member.name); err != nil {
			return nil, err
		}
		dst = append(dst, ':')
		if indent >= 0 {
			dst = append(dst, ' ')
		}
		if dst, err = appendJSON(dst, member.node, deeper(indent)); err != nil {
			return nil, err
		}
	}
	return append(closeLine(dst, len(members), indent), '}'), nil
}

// appendList keeps a list of plain values on its line.
func appendList(dst []byte, elements []node, indent int) (_ []byte, err error) {
	inner := indent
	for _, element := range elements {
		if element.members() != nil && len(element.members()) > 0 {
			inner = deeper(indent)
		}
	}
	broken := inner != indent
	dst = append(dst, '[')
	for i, element := range elements {
		switch {
		case broken:
			dst = separate(dst, i, indent)
		case i > 0:
			dst = append(dst, ',')
			if indent >= 0 {
				dst = append(dst, ' ')
			}
		}
		if dst, err = appendJSON(dst, element, inner); err != nil {
			return nil, err
		}
	}
	if broken {
		dst = closeLine(dst, len(elements), indent)
	}
	return append(dst, ']'), nil
}

func deeper(indent int) int {
	if indent < 0 {
		return indent
	}
	return indent + 1
}

func separate(dst []byte, i, indent int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	if indent >= 0 {
		dst = append(dst, "\n"+strings.Repeat("  ", indent+1)...)
	}
	return dst
}

func closeLine(dst []byte, members, indent int) []byte {
	if indent >= 0 && members > 0 {
		dst = append(dst, "\n"+strings.Repeat("  ", indent)...)
	}
	return dst
}
