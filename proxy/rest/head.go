package rest

import (
	"bytes"
	"errors"
	"fmt"
)

// field is a request header that the service reads.
type field uint8

const (
	fieldAuthorization field = iota
	fieldServerID
	fieldAPIKey
	fieldContentType
	fieldContentEncoding
	fieldContentLength
	fieldTransferEncoding
	fieldAccept
	fieldInt8
	fieldRequestID
	fieldOrigin
	fieldCORSMethod
	fieldCount
)

// head is what the service reads of a request's header block: views into it, valid
// until the handler returns.
type head struct {
	value [fieldCount][]byte
	seen  [fieldCount]bool
}

// The ways in which a header block is refused. fasthttp reads on over each of them.
var (
	errFolded     = errors.New("a header line must not begin with a space or a tab")
	errLineEnd    = errors.New("every header line must end with CR LF")
	errHeaderName = errors.New("every header line needs a name, without spaces, before its colon")
	errHeaderByte = errors.New("header lines must be ASCII")
	errEncoding   = errors.New("the only Transfer-Encoding is chunked")
	errFraming    = errors.New("Content-Length and Transfer-Encoding must not both be given")
)

// readHead reads the block from the first header line to the empty line. The first
// fault is returned, but the rest is still read: a request id serves the answer too.
func readHead(block []byte) (head, error) {
	var h head
	var fault error
	for len(block) > 0 {
		line, rest, ended := bytes.Cut(block, []byte("\n"))
		block = rest
		err := h.readLine(line)
		if !ended {
			err = errLineEnd
		}
		if err != nil && fault == nil {
			fault = err
		}
	}
	if fault == nil && h.seen[fieldTransferEncoding] && !bytes.EqualFold(h.value[fieldTransferEncoding], []byte("chunked")) {
		fault = errEncoding // fasthttp takes "identity" for no body, and what follows for the next request: RFC 9112 section 6.3
	}
	if fault == nil && h.seen[fieldContentLength] && h.seen[fieldTransferEncoding] {
		fault = errFraming
	}
	return h, fault
}

func (h *head) readLine(line []byte) error {
	line, ended := bytes.CutSuffix(line, []byte("\r"))
	switch {
	case !ended:
		return errLineEnd
	case len(line) == 0:
		return nil
	case line[0] == ' ' || line[0] == '\t':
		return errFolded
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || len(name) == 0 || bytes.ContainsAny(name, " \t") {
		return errHeaderName
	}
	if !isASCII(line) {
		return errHeaderByte
	}
	return h.set(name, bytes.Trim(value, " \t"))
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// set keeps a field that the service reads. All but Accept and the request id must
// come once: of two, a proxy in front may have gone by the other one.
func (h *head) set(name, value []byte) error {
	f, known := fieldOf(name)
	if !known {
		return nil
	}
	twice := h.seen[f]
	h.seen[f] = true
	switch {
	case !twice:
		h.value[f] = value
	case f == fieldAccept:
		h.value[f] = append(append(bytes.Clone(h.value[f]), ','), value...)
	case f == fieldRequestID:
		h.value[f] = nil
	default:
		return fmt.Errorf("header %s must not be given twice", name)
	}
	return nil
}

// fieldOf tells which field a name in any case is; ok is false for all others.
func fieldOf(name []byte) (f field, ok bool) {
	var lower [len("access-control-request-method")]byte
	if len(name) > len(lower) {
		return 0, false
	}
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	switch string(lower[:len(name)]) {
	case "authorization":
		return fieldAuthorization, true
	case "x-server-id":
		return fieldServerID, true
	case "x-api-key":
		return fieldAPIKey, true
	case "content-type":
		return fieldContentType, true
	case "content-encoding":
		return fieldContentEncoding, true
	case "content-length":
		return fieldContentLength, true
	case "transfer-encoding":
		return fieldTransferEncoding, true
	case "accept":
		return fieldAccept, true
	case "x-int8":
		return fieldInt8, true
	case "x-request-id":
		return fieldRequestID, true
	case "origin":
		return fieldOrigin, true
	case "access-control-request-method":
		return fieldCORSMethod, true
	}
	return 0, false
}
