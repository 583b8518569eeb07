package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A row of COPY data is memory of all clients' budget, while it comes in pieces too.
func TestCopyDataIsBounded(t *testing.T) {
	w := greeted(t)
	b := &w.client.server.buffers
	w.is(w.copied(copyFiles, "a\tb\t", strings.Repeat("c", 100_000), strings.Repeat("c", 100_000)+"\n"), "copyin0 [0 0 0] <COPY 1> I")
	w.query(all)
	if n := b.long.Load(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
	w.send(&pgproto3.Query{String: copyFiles}, &pgproto3.CopyData{Data: []byte("a\tb\t" + strings.Repeat("c", 10_000))})
	for range 9 {
		w.send(&pgproto3.CopyData{Data: []byte(strings.Repeat("c", 10_000))})
	}
	until(t, func() bool { return b.long.Load() >= 200_000 })
	w.send(&pgproto3.CopyFail{})
	w.answers()
	b.budget = 150_000
	pieces := strings.SplitAfter(strings.Repeat(strings.Repeat("c", 10_000)+"|", 10), "|")
	w.is(w.copied(copyFiles, pieces...), "copyin0 [0 0 0] ERROR 53200 I")
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	if n := b.long.Load(); n != 0 {
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
