package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// answer reads an answer of HTTP/1.1 and throws it away: with a client that parses more,
// the load would take most of the machine. ok tells a 200 from a refusal, 429 or 503, which
// is an error where refusals are not expected, as every other answer is.
func answer(r *bufio.Reader, refusals bool) (ok bool, err error) {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	ok = bytes.HasPrefix(status, []byte("HTTP/1.1 200"))
	refused := refusals && (bytes.HasPrefix(status, []byte("HTTP/1.1 429")) || bytes.HasPrefix(status, []byte("HTTP/1.1 503")))
	bad := ""
	if !ok && !refused {
		bad = string(bytes.TrimSpace(status))
	}
	length, err := headers(r)
	switch {
	case err != nil:
		return false, err
	case bad != "":
		text, _ := io.ReadAll(io.LimitReader(r, int64(max(length, 0))))
		return false, fmt.Errorf("the front answers %s: %s", bad, text)
	case length >= 0:
		_, err = r.Discard(length)
		return ok, err
	}
	return ok, chunks(r)
}

// headers reads up to the body and gives its length; -1: it comes in chunks.
func headers(r *bufio.Reader) (length int, err error) {
	length = -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return length, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

// chunks reads a body in chunks (RFC 9112, section 7.1), without trailers.
func chunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := r.Discard(int(size) + 2); err != nil || size == 0 {
			return err
		}
	}
}

// request is the bytes of a POST.
func request(path, token string, body []byte) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, token, len(body), body)
}
