package rest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantgate/tenantgate/proxy"
)

// object is what a body becomes.
type object interface {
	// names are the members that it may have: two or more, which nobody changes.
	names() []string
	// read takes exactly the value of one of those off the decoder; a *proxy.Error says
	// that the value is JSON of another shape.
	read(name string, decoder *jsontext.Decoder) error
}

// reader reads one body after the other. What it gives is copied.
type reader struct {
	body    []byte
	source  bytes.Buffer // the body, as the decoder takes it without a copy
	decoder jsontext.Decoder
}

// readObject reads the request's body into an object.
func (r *request) readObject(into object) (err error) {
	readers := &r.server.readers
	reader := readers.Get().(*reader)
	defer func() {
		if cap(reader.body) <= keptBody {
			readers.Put(reader)
		}
	}()
	if reader.body, err = r.appendBody(reader.body[:0]); err != nil {
		return err
	}
	return reader.read(into)
}

// read reads a body that is one JSON object of known members: I-JSON, RFC 7493, so UTF-8
// without repeated names. What is not JSON is told before what is of the wrong shape,
// wherever the two stand.
func (r *reader) read(into object) error {
	r.source = *bytes.NewBuffer(r.body)
	decoder := &r.decoder
	decoder.Reset(&r.source)
	if decoder.PeekKind() != '{' {
		return notObject(decoder, r.body)
	}
	shape, err := readMembers(decoder, into)
	if err != nil {
		return invalidJSON(err)
	}
	if err := atEnd(decoder); err != nil {
		return err
	}
	return shape
}

func readMembers(decoder *jsontext.Decoder, into object) (shape, err error) {
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		fault := readMember(decoder, name, into)
		if fault == nil {
			continue
		}
		if _, refused := errors.AsType[*proxy.Error](fault); !refused {
			return nil, fault
		}
		if shape == nil {
			shape = fault
		}
	}
	_, err = decoder.ReadToken()
	return shape, err
}

func readMember(decoder *jsontext.Decoder, token jsontext.Token, into object) error {
	names := into.names()
	if i := slices.Index(names, token.String()); i >= 0 {
		return into.read(names[i], decoder)
	}
	name := token.String() // the token is gone with the next one
	if err := decoder.SkipValue(); err != nil {
		return err
	}
	for _, known := range names {
		if strings.EqualFold(known, name) {
			return invalid("member " + quoted(name) + " must be spelled " + quoted(known))
		}
	}
	return invalid("member " + quoted(name) + " is unknown; the body may have " + listed(names))
}

// listed names members as a sentence does.
func listed(names []string) string {
	last := len(names) - 1
	return `"` + strings.Join(names[:last], `", "`) + `" and ` + quoted(names[last])
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
