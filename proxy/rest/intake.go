package rest

import (
	"errors"
	"time"
)

// intake is what came over a connection for a request's body while it is read.
type intake struct {
	most   int           // bytes that may come until more of the body is known; 0: no body is read
	came   int           // bytes, with the framing of chunks
	waited time.Duration // for them
}

// errFramed is of a body that comes in chunks which cost more than what is in them.
var errFramed = errors.New("the body has more framing than content")

// maxFraming is how many bytes the framing of a body's chunks may have, beside half of what is in them: to read a chunk
// takes 70 ns, however little it holds, and an extension, which nobody reads, has no end. So chunks of ten bytes are
// taken of any body, of one byte in small ones, and the chunks of 1 MiB take less than what counts of one message for
// its sender (proxy.Throttle).
const maxFraming = 16 << 10

// allow has as much come as a body takes, with its framing, until it has content bytes.
func (i *intake) allow(content int) { i.most = maxFraming + content + content/2 }

// over tells whether more came.
func (i *intake) over() bool { return i.most > 0 && i.came > i.most }

// read reads for a body, if one is read.
func (i *intake) read(p []byte, from func([]byte) (int, error)) (int, error) {
	switch {
	case i.most == 0:
		return from(p)
	case i.over():
		return 0, errFramed
	}
	began := time.Now()
	n, err := from(p)
	i.waited += time.Since(began)
	i.came += n
	return n, err
}
