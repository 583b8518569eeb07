package wire

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// failing is a link that panics as it runs.
type failing struct{ quiet }

func (failing) Run(context.Context, *proxy.Exchange, *frame.Writer) (proxy.State, error) {
	panic("run")
}

// Ensure what the data of a COPY takes is given back even where the link panics.
func TestCopyDataIsGivenBackInAPanic(t *testing.T) {
	s, c := replayed(t, failing{}, encoded(query("COPY conversations (id, title) FROM STDIN"),
		&pgproto3.CopyData{Data: []byte(strings.Repeat("x\ty\n", maxSteps) + strings.Repeat("x", 200_000))}), 1)
	c.server.cfg.MaxMessageBytes = 1 << 20
	if err := guarded(func() error { return s.run(t.Context()) }); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("it ended by %v", err)
	}
	c.giveBackReading()
	if held := c.server.buffers.long.Taken(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
	if c.running.Load() != nil {
		t.Error("a cancel request would reach it")
	}
}

// A row of COPY data is memory of all clients' budget, while it comes in pieces too.
func TestCopyDataIsBounded(t *testing.T) {
	w := greeted(t)
	b := &w.client.server.buffers
	w.is(w.copied(copyFiles, "a\tb\t", strings.Repeat("c", 100_000), strings.Repeat("c", 100_000)+"\n"), "copyin0 [0 0 0] <COPY 1> I")
	w.query(all)
	if n := b.long.Taken(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
	w.send(&pgproto3.Query{String: copyFiles}, &pgproto3.CopyData{Data: []byte("a\tb\t" + strings.Repeat("c", 10_000))})
	for range 9 {
		w.send(&pgproto3.CopyData{Data: []byte(strings.Repeat("c", 10_000))})
	}
	until(t, func() bool { return b.long.Taken() >= 200_000 })
	w.send(&pgproto3.CopyFail{})
	w.answers()
	until(t, func() bool { return b.long.Taken() == 0 })
	b.long = proxy.NewTally(150_000, 100)
	pieces := strings.SplitAfter(strings.Repeat(strings.Repeat("c", 10_000)+"|", 10), "|")
	w.is(w.copied(copyFiles, pieces...), "copyin0 [0 0 0] ERROR 53200 I")
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	if n := b.long.Taken(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}

// until waits for something to become true.
func until(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about")
		}
	}
}

// A cancel request ends a COPY that waits for data, in either protocol, and the session goes on.
func TestCopyIsCancelled(t *testing.T) {
	w := greeted(t)
	receive := func(want string) {
		t.Helper()
		_ = w.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		m, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		w.is(inWords(m), want)
	}
	waits := func() bool {
		return w.client.phase.Load() == uint32(transaction) && w.client.running.Load() != nil
	}
	for range 3 {
		w.send(&pgproto3.Query{String: copyFiles}, &pgproto3.CopyData{Data: []byte("a\tb\tc\n")})
		receive("copyin0 [0 0 0]")
		until(t, waits)
		w.client.cancelRunning()
		w.is(w.answers(), "ERROR 57014 COPY messages, line 1 I")
		w.is(w.link.did(), `quiet ["a" "b" "c"]; rolled back`)
		w.client.wake() // nobody waits any more
		w.send(&pgproto3.CopyData{Data: []byte("d")}, &pgproto3.CopyDone{})
		w.is(w.query(all), "columns() row() <SELECT 1> I")
		w.link.did()
	}
	for _, m := range append(step(copyFiles), &pgproto3.CopyData{Data: []byte("a")}) {
		w.send(m)
	}
	receive("parsed")
	receive("bound")
	receive("copyin0 [0 0 0]")
	until(t, waits)
	w.client.cancelRunning()
	receive("ERROR 57014")
	w.is(w.pipe(&pgproto3.CopyDone{}), "I")
	w.is(w.copied(copyFiles, "a\tb\tc\n"), "copyin0 [0 0 0] <COPY 1> I")
}

// A cancel request that comes while rows are decoded, or as some have just been inserted, is
// not lost.
func TestCopyIsCancelledBetween(t *testing.T) {
	rows := strings.Repeat("a\tb\tc\n", 150)
	w := greeted(t)
	asked := 0
	w.gate.asked = func() {
		if asked++; asked == 3 { // after the first 64 rows, before which it is asked twice
			w.client.cancelRunning()
		}
	}
	w.is(w.copied(copyFiles, rows), "copyin0 [0 0 0] ERROR 57014 COPY messages, line 65 I")
	w.is(w.query(all), "columns() row() <SELECT 1> I")

	w = greeted(t)
	w.link.after = w.client.cancelRunning
	w.is(w.copied(copyFiles, rows), "copyin0 [0 0 0] ERROR 57014 COPY messages, line 64 I")
	w.link.mu.Lock()
	w.link.after = nil
	w.link.mu.Unlock()
	w.is(w.copied(copyFiles, rows), "copyin0 [0 0 0] <COPY 150> I")
}
