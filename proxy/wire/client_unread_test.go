package wire

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// watched has the server look at its clients as it does while it serves.
func watched(t *testing.T, s *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.watch(ctx); close(done) }()
	t.Cleanup(func() { stop(); <-done })
}

// Ensure a client that takes nothing of what a statement answers is given up, and nobody else: one that takes a little
// at a time while the statement waits, and one for whom nothing runs.
func TestUnreadIsGivenUp(t *testing.T) {
	counts := &tally{counts: map[string]int{}}
	start := func(t *testing.T, runs bool) (*client, *raw) {
		t.Helper()
		c, r := bare(t, func(c *Config) { c.Recorder = counts })
		watched(t, c.server)
		_ = c.socket.Conn.(*net.TCPConn).SetWriteBuffer(512 << 10)
		_ = r.Conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		_ = r.SetDeadline(time.Now().Add(5 * time.Second))
		c.patience.Store(int64(300 * time.Millisecond))
		if end := context.CancelCauseFunc(func(error) {}); runs {
			c.running.Store(&end)
		}
		return c, r
	}
	t.Run("takes nothing", func(t *testing.T) {
		c, _ := start(t, true)
		begin := time.Now()
		if _, err := c.Write(make([]byte, 64<<20)); !isTimeout(err) {
			t.Error(err)
		}
		if took := time.Since(begin); took < 300*time.Millisecond || took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := counts.of("transaction ended: unread"); n != 1 {
			t.Errorf("%d are counted", n)
		}
	})
	t.Run("takes a little", func(t *testing.T) {
		c, r := start(t, true)
		done := make(chan error, 1)
		go func() { _, err := c.Write(make([]byte, 4<<20)); done <- err }()
		for range 64 { // 1.6 s in all
			if _, err := io.ReadFull(r, make([]byte, 64<<10)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(25 * time.Millisecond)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing runs", func(t *testing.T) {
		c, r := start(t, false)
		time.AfterFunc(1200*time.Millisecond, func() { _, _ = io.CopyN(io.Discard, r, 16<<20) })
		if _, err := c.Write(make([]byte, 16<<20)); err != nil {
			t.Error(err)
		}
	})
	if n := counts.of("transaction ended: unread"); n != 1 {
		t.Errorf("%d are counted", n)
	}
}

// Ensure a client may take nothing for as long as the policy gives its statements, and a little longer.
func TestUnreadPatience(t *testing.T) {
	w := greeted(t)
	w.query("SET statement_timeout = 10")
	w.query(all)
	if got := time.Duration(w.client.patience.Load()); got != 5*time.Second+2*time.Second {
		t.Errorf("%v", got)
	}
}

// Ensure Postgres has its backend back, and the pool its connection, soon after a client took nothing for too long.
func TestRealUnread(t *testing.T) {
	w, second, admin := twoOnPostgres(t, 1)
	server := w.client.server
	if full := server.clients.add(w.client); full != nil {
		t.Fatal(full)
	}
	server.cfg.UnreadGrace = 300*time.Millisecond - 5*time.Second // the policy's limit, which would take long
	watched(t, server)
	waits := func(want int) {
		t.Helper()
		n := -1
		for end := time.Now().Add(3 * time.Second); n != want && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'").Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		if n != want {
			t.Errorf("%d backends wait for their clients, not %d", n, want)
		}
	}
	w.send(&pgproto3.Query{String: "SELECT repeat('x', 30000000)"})
	waits(1)
	begin := time.Now()
	second.is(second.query("SELECT body FROM notes"), "columns(body:25) row(a) <SELECT 1> I") // on the only connection
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the connection was back after %v", took)
	}
	waits(0)
}
