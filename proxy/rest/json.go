package rest

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantgate/tenantgate/proxy"
)

// member is a member that a body may have. read takes exactly its value off the
// decoder; a *proxy.Error says that the value is JSON of another shape.
type member struct {
	name string
	read func(*jsontext.Decoder) error
}

// readObject reads a body that is one JSON object of these members: I-JSON, RFC 7493,
// so UTF-8 without repeated names. What is not JSON is told before what is of the
// wrong shape, wherever the two stand.
func readObject(body []byte, members ...member) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body))
	if decoder.PeekKind() != '{' {
		return notObject(decoder, body)
	}
	shape, err := readMembers(decoder, members)
	if err != nil {
		return invalidJSON(err)
	}
	if err := atEnd(decoder); err != nil {
		return err
	}
	return shape
}

func readMembers(decoder *jsontext.Decoder, members []member) (shape, err error) {
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		fault := readMember(decoder, name.String(), members)
		var refused *proxy.Error
		if fault != nil && !errors.As(fault, &refused) {
			return nil, fault
		}
		if shape == nil {
			shape = fault
		}
	}
	_, err = decoder.ReadToken()
	return shape, err
}

func readMember(decoder *jsontext.Decoder, name string, members []member) error {
	for _, member := range members {
		if member.name == name {
			return member.read(decoder)
		}
	}
	if err := decoder.SkipValue(); err != nil {
		return err
	}
	for _, member := range members {
		if strings.EqualFold(member.name, name) {
			return invalid("member " + quoted(name) + " must be spelled " + quoted(member.name))
		}
	}
	return invalid("member " + quoted(name) + " is unknown; the body may have " + listed(members))
}

func notObject(decoder *jsontext.Decoder, body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return proxy.Refuse(proxy.InvalidJSON, "the body is empty; send a JSON object")
	}
	if err := decoder.SkipValue(); err != nil {
		return invalidJSON(err)
	}
	if err := atEnd(decoder); err != nil {
		return err
	}
	return invalid("the body must be a JSON object")
}

func atEnd(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return proxy.Refuse(proxy.InvalidJSON, "the body goes on after its JSON object, at byte "+strconv.FormatInt(decoder.InputOffset(), 10))
	}
	return nil
}

// invalidJSON says where a body stops being JSON, in words that hold nothing of it
// but a repeated name.
func invalidJSON(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return proxy.Refuse(proxy.InvalidJSON, "the body ends in the middle of its JSON")
	case !errors.As(err, &syntax):
		return proxy.Refuse(proxy.InvalidJSON, "the body is not JSON")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return proxy.Refuse(proxy.InvalidJSON, "member "+quoted(syntax.JSONPointer.LastToken())+" is given twice")
	}
	return proxy.Refuse(proxy.InvalidJSON, "the body is not JSON in UTF-8: error at byte "+strconv.FormatInt(syntax.ByteOffset, 10))
}

func invalid(message string) error { return proxy.Refuse(proxy.InvalidRequest, message) }

// quoted shows a name that the caller sent; of a very long one, the beginning.
func quoted(name string) string {
	const shown = 40
	if runes := []rune(name); len(runes) > shown {
		name = string(runes[:shown]) + "…"
	}
	return strconv.Quote(name)
}

func listed(members []member) string {
	names := make([]string, len(members))
	for i, member := range members {
		names[i] = quoted(member.name)
	}
	return strings.Join(names, " and ")
}

// appendString appends text as a JSON string. Bytes that are no UTF-8 become U+FFFD:
// the error that AppendQuote reports says no more than that.
func appendString(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// appendOptional appends text, or null where there is none.
func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	return appendString(dst, *text)
}
