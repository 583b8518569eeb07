package rest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/tenantgate/tenantgate/proxy"
)

// appendBody appends the request's body to dst. fasthttp has read its first 8 KiB at most,
// so that nobody without credentials makes the service hold more.
func (r *request) appendBody(dst []byte) ([]byte, error) {
	if r.asking {
		return dst, errSendBody
	}
	stream := r.http.Request.BodyStream()
	if stream == nil {
		r.bodyRead = true
		return dst, nil
	}
	limit := r.server.cfg.MaxBodyBytes
	declared := max(r.http.Request.Header.ContentLength(), 0) // negative where it is not known
	r.conn.move(handling, receiving)
	body, err := appendAll(slices.Grow(dst, min(declared, limit)+bytes.MinRead), stream, limit)
	if !r.conn.move(receiving, handling) {
		return body, brokenBody(errEvicted)
	}
	switch {
	case err != nil:
		return body, brokenBody(err)
	case len(body) > limit:
		return body, r.tooLarge()
	}
	r.bodyRead = true
	return body, nil
}

// appendAll appends what there is to read to an empty dst, up to a byte beyond the limit.
func appendAll(dst []byte, from io.Reader, limit int) ([]byte, error) {
	for len(dst) <= limit {
		dst = slices.Grow(dst, bytes.MinRead)
		n, err := from.Read(dst[len(dst):min(cap(dst), limit+1)])
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
