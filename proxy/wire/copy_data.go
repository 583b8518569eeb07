package wire

import (
	"context"
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// takeAll takes in all data, and gives back what that took even where the link panics.
func (c *copying) takeAll() error {
	defer func() { c.over = true }()
	defer c.letGo()
	defer c.s.leave()
	return c.consume()
}

// consume takes in all data up to its end.
func (c *copying) consume() error {
	ended := false
	for {
		kind, body, err := c.listen()
		if err != nil {
			return err
		}
		switch kind {
		case frame.CopyData:
			if ended {
				continue
			}
			if err := c.hold(body); err != nil {
				return err
			}
		case frame.CopyDone:
			if !ended {
				_, _, err = c.insertAll(c.data, true)
			}
			return err
		case frame.CopyFail:
			scan := frame.NewScan(body)
			return pgError(canceled, "COPY from stdin failed: "+printable(view(scan.Text())))
		case frame.Flush, frame.Sync:
			continue
		case frame.Terminate:
			return errGone
		default:
			return errUnknownMessage
		}
		if c.data, ended, err = c.insertAll(c.data, false); err != nil {
			return err
		}
		if c.data == nil {
			c.letGo()
		}
		if len(c.data) > c.s.c.server.cfg.MaxMessageBytes {
			return &proxy.Error{Code: proxy.BodyTooLarge, Message: "a row of COPY data is too long"}
		}
	}
}

// listen waits for the client's next message, and ends when a cancel request comes: no
// statement runs meanwhile that it could end.
func (c *copying) listen() (kind byte, body []byte, err error) {
	client := c.s.c
	client.stopped = &c.stopped
	c.follow()
	kind, body, err = c.s.next(proxy.Open)
	client.stopped = nil
	if c.stopped.Load() && (err == nil && kind == frame.CopyData || errors.Is(err, errCancelled)) {
		return 0, nil, errCopyCancelled()
	}
	return kind, body, err
}

// follow has a cancel request stop the COPY, while it waits for data or decodes them. What
// runs in the database is followed by the exchange.
func (c *copying) follow() { c.s.c.running.Store(&c.end) }

// stop is what a cancel request does, on its own goroutine.
func (c *copying) stop(cause error) {
	if cause == errCancelled { //nolint:errorlint // that the client is gone is read
		c.stopped.Store(true) // before it is woken
		c.s.c.wake()
	}
}

// send has the link insert the rows that were collected.
func (c *copying) send() error {
	err := c.s.exchange(false)
	c.follow()
	if err == nil && errors.Is(context.Cause(c.s.present.ctx), errCancelled) { // it came as the last row was done
		return errCopyCancelled()
	}
	return err
}

func errCopyCancelled() *proxy.Error { return pgError(canceled, errCancelled.Error()) }

// hold keeps data until it makes up a row. What is long counts against the budget for long
// messages, and so do the values of the row, which are as long.
func (c *copying) hold(body []byte) error {
	need := len(c.data) + len(body)
	if need > cap(c.data) {
		size := max(need, 2*cap(c.data))
		taken := 0
		if size > longBuffer {
			taken = 2 * size
		}
		if c.s.c.server.buffers.long.Take(c.s.c.account(), taken) != nil {
			return &proxy.Error{Code: proxy.Overloaded, SQLState: errNoMemory.state, Message: errNoMemory.message, Hint: errNoMemory.hint}
		}
		longer := append(make([]byte, 0, size), c.data...)
		c.letGo()
		c.data, c.held = longer, taken
	}
	c.data = append(c.data, body...)
	return nil
}

// letGo gives back what the data takes.
func (c *copying) letGo() {
	c.s.c.server.buffers.long.Give(c.s.c.account(), c.held)
	c.data, c.held = nil, 0
}

// tail moves what is left of the data to the front of its memory, or lets go of that.
func tail(data []byte, at int) []byte {
	if at == len(data) && cap(data) > 4*maxMemory {
		return nil
	}
	return data[:copy(data, data[at:])]
}
