package upstream

import (
	"runtime"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a connection that is used all the time is handed on to pgxpool all the same, which
// looks after its age, and one that is idle soon.
func TestShelfIsCleared(t *testing.T) {
	b := setup(t, Config{MaxConns: 2}, "")
	out := func() int32 { return b.pool.pool.Stat().AcquiredConns() }
	first := b.pool.pool.Stat().AcquireCount()
	for end := time.Now().Add(3 * shelfTime); time.Now().Before(end); {
		b.must(sel("SELECT 1"))
		if s := b.pool.Stat(); s.Acquired != 0 || s.Idle != 1 {
			t.Fatalf("got %+v", s)
		}
	}
	if n := b.pool.pool.Stat().AcquireCount() - first; n < 3 || n > 5 {
		t.Errorf("asked pgxpool %d times in three times %s", n, shelfTime)
	}
	b.eventually("pgxpool has it back", func() bool { return out() == 0 })
}

// Ensure whoever waited for its turn to begin for nearly as long as it may has the time to take a free connection.
func TestLateForAConnection(t *testing.T) {
	b := setup(t, Config{MaxConns: 4}, "")
	for range 3 {
		l, err := b.pool.acquire(t.Context(), proxy.Account{Server: "s"}, b.pool.cfg.AcquireTimeout-time.Microsecond, false)
		if err != nil {
			t.Fatal(err)
		}
		l.session.close() // the next one is new
		b.pool.release(l, proxy.Account{Server: "s"})
	}
}

// Ensure a connection that somebody left in a transaction is not lent again.
func TestOpenTransactionIsNotShelved(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	l, err := b.pool.acquire(t.Context(), proxy.Account{Server: "s"}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	b.pool.release(l, proxy.Account{Server: "s"})
	if n := b.pool.shelf.len(); n != 0 {
		t.Errorf("%d on the shelf", n)
	}
	b.must(sel("SELECT 1"))
}

// Ensure a connection that lies on the shelf is not looked at by who had it before: whether its next
// holder gives it up decides when that one's turn comes back, and no other. It needs the race detector.
func TestShelvedIsTheNextHolders(t *testing.T) {
	b := setup(t, Config{MaxConns: 2}, "")
	first, next := proxy.Account{Server: "first"}, proxy.Account{Server: "next"}
	l, err := b.pool.acquire(t.Context(), first, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.pool.turns.Take(t.Context(), next, 0); err != nil {
		t.Fatal(err)
	}
	released := make(chan struct{})
	go func() {
		defer close(released)
		b.pool.release(l, first)
	}()
	taken, ok := b.pool.shelf.pop(false)
	for !ok {
		runtime.Gosched()
		taken, ok = b.pool.shelf.pop(false)
	}
	b.pool.leased.Add(1)
	taken.session.giveUp()
	<-released
	b.pool.release(taken, next)
	for _, a := range []proxy.Account{first, next} {
		if err := b.pool.turns.Take(t.Context(), a, 20*time.Second); err != nil {
			t.Errorf("the turn of %s is not back: %v", a.Server, err)
		}
	}
}

// Ensure a statement's deadline does not stay on a connection that does something else.
func TestDeadlineIsTakenOff(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	st := sel("SELECT 1")
	st.limits.StatementTimeout = time.Millisecond
	for name, own := range map[string]func() (lease, error){
		"own": func() (lease, error) { return b.pool.acquireOwn(t.Context()) },
		"handed on": func() (lease, error) {
			b.pool.shelf.clear(time.Now())
			return b.pool.acquire(t.Context(), ownTurn, 0, false)
		},
	} {
		b.must(sel("SELECT 1"))
		_, _ = b.query(st)
		l, err := own()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.conn.Exec(t.Context(), "SELECT pg_sleep(3.5)"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.pool.release(l, ownTurn)
	}
}

// Ensure a connection that is in hand while all are replaced is not used again.
func TestReplacedInHand(t *testing.T) {
	b := setup(t, Config{MaxConns: 2}, "")
	old := map[uint32]bool{}
	var held []lease
	for range 2 {
		l, err := b.pool.acquire(t.Context(), ownTurn, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		held, old[l.session.conn.PID()] = append(held, l), true
	}
	b.pool.reset(classReadOnly)
	b.pool.shelf.clear(time.Now().Add(-time.Hour)) // what is cleared later changes nothing
	for _, l := range held {
		b.pool.release(l, ownTurn)
	}
	l, err := b.pool.acquire(t.Context(), ownTurn, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if old[l.session.conn.PID()] {
		t.Error("a connection to the server that was left is used again")
	}
	b.pool.release(l, ownTurn)
}

// Ensure who waits for pgxpool, because a connection takes leave, gets the next that comes
// back, though others come and go.
func TestShelfServesWhoWaits(t *testing.T) {
	b := setup(t, Config{MaxConns: 2, AcquireTimeout: 400 * time.Millisecond}, "")
	leaves, err := b.pool.acquire(t.Context(), ownTurn, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.pool.acquire(t.Context(), ownTurn, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	b.pool.turns.Give(ownTurn) // as after a release, while pgxpool counts the connection that takes leave
	done := make(chan error, 1)
	go func() {
		l, err := b.pool.acquire(t.Context(), proxy.Account{Server: "waits"}, 0, false)
		if err == nil {
			b.pool.release(l, proxy.Account{Server: "waits"})
		}
		done <- err
	}()
	b.eventually("somebody waits", func() bool { return b.pool.shelf.asking.Load() == 1 })
	b.pool.release(other, ownTurn)
	for range 5 {
		b.must(sel("SELECT 1"))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.pool.leased.Add(-1)
	leaves.handOn()
}
