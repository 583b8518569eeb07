package rest

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

const (
	// maxArgs is what Postgres' protocol can carry; policies allow fewer.
	maxArgs = 65535
	// maxDepth is how deep an argument's arrays and objects may nest.
	maxDepth = 100
)

// readArgs reads the array of arguments into the memory of args; null is the empty one.
// Numbers keep their digits, arrays and objects their text.
func readArgs(decoder *jsontext.Decoder, args []policy.Arg) ([]policy.Arg, error) {
	switch decoder.PeekKind() {
	case 'n':
		_, err := decoder.ReadToken()
		return args[:0], err
	case '[':
		return readElements(decoder, args[:0])
	}
	if err := decoder.SkipValue(); err != nil {
		return args, err
	}
	return args, invalid(`member "args" must be an array`)
}

// readElements reads on after a fault: whether the rest is JSON must be known first.
func readElements(decoder *jsontext.Decoder, args []policy.Arg) ([]policy.Arg, error) {
	if _, err := decoder.ReadToken(); err != nil {
		return args, err
	}
	var fault error
	for i := 0; decoder.PeekKind() != ']'; i++ {
		value, err := decoder.ReadValue()
		if err != nil {
			return args, err
		}
		if fault == nil {
			fault = checkArg(i, value)
		}
		if fault == nil {
			args = append(args, argOf(value))
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return args, err
	}
	return args, fault
}

func checkArg(i int, value []byte) error {
	switch {
	case i >= maxArgs:
		return proxy.Refuse(policy.ArgumentCount, "a statement takes at most "+strconv.Itoa(maxArgs)+" args")
	case deeper(value, maxDepth):
		return invalid("args[" + strconv.Itoa(i) + "] nests deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	return nil
}

// argOf copies a value that the decoder found to be valid.
func argOf(value jsontext.Value) policy.Arg {
	switch value.Kind() {
	case 't', 'f':
		return policy.Arg{Kind: policy.Bool, Text: string(value)}
	case '0':
		return policy.Arg{Kind: policy.Number, Text: string(value)}
	case '"':
		return policy.Arg{Kind: policy.String, Text: unquoted(value)}
	case '[':
		return policy.Arg{Kind: policy.Array, Text: string(value)}
	case '{':
		return policy.Arg{Kind: policy.Object, Text: string(value)}
	}
	return policy.Arg{Kind: policy.Null}
}

// unquoted gives the characters of a valid string.
func unquoted(value []byte) string {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, value) // valid, so there is no error
	return string(text)
}

// deeper tells whether a valid value nests deeper than limit.
func deeper(value []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > limit {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
