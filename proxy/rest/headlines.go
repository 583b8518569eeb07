package rest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/valyala/fasthttp"
)

// Bounds of a head. fasthttp makes an object of each header line, 120 bytes of a line of four, and one of each name in
// Trailer, and keeps them with the connection and then in a pool. Apache takes as many lines.
const (
	maxHeaderLines  = 100
	maxHeaderCommas = 1000 // in all of them
)

var errLong = errors.New("the head has too many lines")

// longHead says so to the client.
func longHead() error {
	return invalid(fmt.Sprintf("the request has more than %d header lines, or %d commas in them", maxHeaderLines, maxHeaderCommas))
}

// headLines counts the lines of heads in what a client sends, before fasthttp reads them. Where a body ends is not known
// here. But a head begins with a line that ends in a version of HTTP, and no JSON has such a line: in a string there is no
// line feed. The zero value is ready for use.
type headLines struct {
	end           [len(version) + 1]byte // of the line that comes: all that tells what it is
	length        int                    // of that
	within        bool                   // a head
	lines, commas int                    // of it
}

// version is how the first line of a head ends, with any digits.
const (
	version     = versionName + "1.1"
	versionName = "HTTP/"
)

// count counts what came. It tells how many bytes of it may be read: not all where a head has too many lines.
func (h *headLines) count(came []byte) (n int, long bool) {
	for n < len(came) {
		line, _, ended := bytes.Cut(came[n:], []byte("\n"))
		n += len(line)
		if h.within && ended && h.length == 0 && len(line) > 1 { // it came whole, and does not end the head
			h.commas += bytes.Count(line, []byte(","))
			h.lines++
		} else {
			if h.add(line); !ended {
				break
			}
			h.endLine()
		}
		n++
		if h.lines > maxHeaderLines || h.commas > maxHeaderCommas {
			return n, true
		}
		if !h.within {
			n += noHead(came[n:])
		}
	}
	return n, false
}

// noHead tells how much of what came is whole lines of which none can be the first of a head.
func noHead(came []byte) int {
	for from := 0; ; from += len(versionName) {
		at := bytes.Index(came[from:], []byte(versionName))
		if at < 0 {
			break
		}
		from += at
		if behind := came[min(from+len(version), len(came)):]; len(behind) < 2 || behind[0] == '\n' || string(behind[:2]) == "\r\n" {
			came = came[:from]
			break
		}
	}
	return bytes.LastIndexByte(came, '\n') + 1
}

// add adds to the line that comes.
func (h *headLines) add(part []byte) {
	if h.within {
		h.commas += bytes.Count(part, []byte(","))
	}
	part = part[max(0, len(part)-len(h.end)):]
	kept := h.end[max(0, h.length+len(part)-len(h.end)):h.length]
	h.length = copy(h.end[:], kept)
	h.length += copy(h.end[h.length:], part)
}

// endLine begins the next line.
func (h *headLines) endLine() {
	line := bytes.TrimSuffix(h.end[:h.length], []byte("\r"))
	h.length = 0
	switch {
	case len(line) == 0:
		h.within, h.lines, h.commas = false, 0, 0
	case h.within:
		h.lines++
	default:
		h.within = len(line) >= len(version) && bytes.HasPrefix(line[len(line)-len(version):], []byte(versionName))
	}
}

// forgetHead has fasthttp keep nothing of a head, whatever it made of it, but the method: an answer to HEAD has no body.
func forgetHead(h *fasthttp.RequestHeader) {
	method := h.Method()
	*h = fasthttp.RequestHeader{}
	h.SetMethodBytes(method)
}
