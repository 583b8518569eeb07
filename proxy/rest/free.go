package rest

import (
	"context"
	"time"
)

// A request that is answered without a statement or a look-up is *free*: it takes a share of nothing but of the
// processors. What it took is counted for its connection's holder, or for its network as long as nobody is known
// (proxy.Throttle). Who took more than a share has free requests answered later. The pause comes before the answer is
// written, and so before the connection's next request is read; a request that has something run never waits, though it
// may come through the same connection of a balancer's, or from the same address.

// serving is what it takes to read a request and to write its answer, beside 1 ns for each byte.
const serving = 4 * time.Microsecond

// mostPause is the longest pause before one answer. It is less than what an account may owe: 256 connections of one
// network then have 256 answers a second, and the service ends as soon.
const mostPause = time.Second

// isFree tells whether the request had nothing done, once it was answered: not in an attempt before the last, either.
func (r *request) isFree() bool { return !r.ranOnce && !r.conn.lookedUp.Load() }

// apart leaves what began at start out of what the request took: it was waited for, or is paid for elsewhere.
func (r *request) apart(start time.Time) { r.waited += time.Since(start) }

// pause has a free request wait with its answer where its account took more than its share. The place is
// given back before, and so is the room of the body and the args, which are forgotten. The answer is not written yet, so its buffer stays, and with it the connection, which Evict may end; the
// drain ends the pause.
func (r *request) pause(took time.Duration) {
	if !r.isFree() {
		return
	}
	size := r.headSize + r.bodySize + len(r.http.Response.Body())
	took = max(took-r.waited, 0) + serving + time.Duration(size)
	owes := r.server.cfg.Throttle.Spend(r.conn.asker(), took)
	if owes <= 0 {
		return
	}
	r.server.cfg.Recorder.Short("messages", "server")
	r.conn.place.Release()
	r.statement = r.statement.emptied() // else its args outlive their room
	r.giveBack()
	r.conn.sleep(r.server.pauses, min(owes, mostPause))
}

// sleep waits until the span is over, the context ends or the connection is cut.
func (c *conn) sleep(ctx context.Context, span time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	c.endWait.Store(&cancel)
	defer c.endWait.Store(nil)
	if phase(c.phase.Load()) != evicted { // else it was cut before there was something to end
		<-ctx.Done()
	}
}
