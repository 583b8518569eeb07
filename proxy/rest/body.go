package rest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/tenantgate/tenantgate/proxy"
)

// appendBody appends the request's body to an empty dst. fasthttp has read its first 8 KiB at
// most, so that nobody without credentials makes the service hold more.
func (r *request) appendBody(dst []byte) ([]byte, error) {
	if r.asking {
		return dst, errSendBody
	}
	stream := r.http.Request.BodyStream()
	if stream == nil {
		r.bodyRead = true
		return dst, nil
	}
	r.conn.move(handling, receiving)
	r.conn.intake = intake{}
	body, err := r.appendAll(dst, stream)
	in := r.conn.intake
	r.conn.intake.most = 0
	r.waited += in.waited // what is left is the work on chunks
	r.bodySize = max(len(body), in.came)
	if !r.conn.move(receiving, handling) {
		return body, brokenBody(errEvicted)
	}
	var told *proxy.Error
	switch {
	case errors.As(err, &told):
		return body, told
	case err != nil && in.over():
		return body, invalid("the body has more framing than content; send it in larger chunks, without extensions")
	case err != nil && r.server.base.Err() != nil:
		return body, refuseShutdown(err)
	case err != nil:
		return body, brokenBody(err)
	case len(body) > r.server.cfg.MaxBodyBytes:
		return body, r.tooLarge()
	}
	if r.bodyRead = true; r.http.Request.Header.ContentLength() < 0 {
		forgetHead(&r.http.Request.Header) // it has what came behind the chunks, as many lines as that were
	}
	return body, nil
}

// readAtOnce is how many bytes are read of a body before it is looked at how much came for them.
const readAtOnce = 32 << 10

// appendAll appends what there is to read, up to a byte beyond the limit.
func (r *request) appendAll(dst []byte, from io.Reader) ([]byte, error) {
	limit := r.server.cfg.MaxBodyBytes
	for len(dst) <= limit {
		if cap(dst)-len(dst) < bytes.MinRead {
			var err error
			if dst, err = r.growBody(dst); err != nil {
				return dst, err
			}
		}
		upTo := min(cap(dst), limit+1, len(dst)+readAtOnce)
		r.conn.intake.allow(upTo)
		n, err := from.Read(dst[len(dst):upTo])
		dst = dst[:len(dst)+n]
		switch err {
		case nil:
		case io.EOF:
			return dst, nil
		default:
			return dst, err
		}
	}
	return dst, nil
}

// growBody makes room for more of a body: all that is declared where that is usual, else twice as
// much as has come, so that nobody gets memory for announcing it.
func (r *request) growBody(dst []byte) ([]byte, error) {
	size := max(r.http.Request.Header.ContentLength(), 0) // negative where it is not known
	size = min(max(min(size, keptBody-bytes.MinRead), 2*len(dst)), r.server.cfg.MaxBodyBytes+1) + bytes.MinRead
	if size > keptBody {
		if err := r.reserve(size); err != nil {
			return dst, err
		}
	}
	return slices.Grow(dst, size-len(dst)), nil
}

// reserve has the request hold n bytes of the room of bodies for its body, instead of what it did.
func (r *request) reserve(n int) error {
	if err := r.conn.opened.long.take(r.sender, n-r.ofBody); err != nil {
		return err
	}
	r.ofBody = n
	return nil
}

// reserveArgs has the request hold n bytes of that room for its args, beside its body's.
func (r *request) reserveArgs(n int) error {
	if err := r.conn.opened.long.take(r.sender, n-r.ofArgs); err != nil {
		return err
	}
	r.ofArgs = n
	return nil
}

// giveBack gives back what the request holds of that.
func (r *request) giveBack() {
	if held := r.ofBody + r.ofArgs; held > 0 {
		r.conn.opened.long.give(r.sender, held)
		r.ofBody, r.ofArgs = 0, 0
	}
}

// brokenBody says why a body did not arrive.
func brokenBody(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return proxy.Refuse(proxy.InvalidRequest, "the request did not arrive whole in time")
	}
	return proxy.Refuse(proxy.InvalidRequest, "the body ended early or its chunks are malformed")
}

// settled makes sure that the next bytes on the connection are a new request's: a
// body that nobody read is taken off if it is short enough to be here already.
// Otherwise it reports false, and the connection has to be closed.
func (r *request) settled() bool {
	stream := r.http.Request.BodyStream()
	if stream == nil || r.bodyRead {
		return true
	}
	const prefetched = 8 << 10 // fasthttp waits for this much before it calls the handler
	if declared := r.http.Request.Header.ContentLength(); declared < 0 || declared > prefetched {
		return false
	}
	_, err := io.Copy(io.Discard, io.LimitReader(stream, prefetched+1))
	return err == nil
}
