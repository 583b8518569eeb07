package rest

import (
	"bytes"
	"strconv"
	"unsafe"

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

// argSize is what an argument takes beside its text. Of the body it may be two bytes.
const argSize = int(unsafe.Sizeof(policy.Arg{}))

// readArgs reads the array of arguments into the memory that there is; null is the empty one.
// Numbers keep their digits, arrays and objects their text.
func (s *statement) readArgs(decoder *jsontext.Decoder) error {
	switch decoder.PeekKind() {
	case 'n':
		s.args = s.args[:0]
		_, err := decoder.ReadToken()
		return err
	case '[':
		s.args = s.args[:0]
		return s.readElements(decoder)
	}
	if err := decoder.SkipValue(); err != nil {
		return err
	}
	return invalid(`member "args" must be an array`)
}

// readElements reads on after a fault: whether the rest is JSON must be known first.
func (s *statement) readElements(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	var fault error
	for i := 0; decoder.PeekKind() != ']'; i++ {
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if fault == nil {
			fault = s.keep(i, value)
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	return fault
}

// tooMany refuses a statement of whose args some were not kept. It is told when Bind would.
func (s *statement) tooMany() error {
	if s.count <= len(s.args) {
		return nil
	}
	return proxy.Refuse(policy.ArgumentCount, "got "+strconv.Itoa(s.count)+" args; at most "+strconv.Itoa(s.most)+" are allowed")
}

// keep appends an argument, where it may be one and there is room for it. What the policy does not allow is counted alone.
func (s *statement) keep(i int, value []byte) error {
	if err := checkArg(i, value); err != nil {
		return err
	}
	if s.count++; s.most > 0 && i >= s.most {
		return nil
	}
	if len(s.args) == cap(s.args) {
		if err := s.growArgs(max(2*cap(s.args), 8)); err != nil {
			return err
		}
	}
	s.args = append(s.args, argOf(value))
	return nil
}

// growArgs has args reach further. What they take is counted with the body from where it is as long as a body that counts.
func (s *statement) growArgs(to int) error {
	if to*argSize > keptBody {
		if err := s.of.reserveArgs(to * argSize); err != nil {
			return err
		}
	}
	s.args = append(make([]policy.Arg, 0, to), s.args...)
	return nil
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
