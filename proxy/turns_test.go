package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// accountOf reads an account that is written as project/server; without a project the server
// has one of its own.
func accountOf(name string) Account {
	project, server, both := strings.Cut(name, "/")
	if !both {
		server = project
	}
	return Account{project, server}
}

// queue has somebody of each account wait for a turn, one after the other, and tells of each
// whose turn has come.
func queue(t *testing.T, turns *Turns, accounts ...string) <-chan string {
	t.Helper()
	came := make(chan string, len(accounts))
	for _, name := range accounts {
		before := turns.Waiting()
		go func() {
			if err := turns.Take(t.Context(), accountOf(name), time.Minute); err == nil {
				came <- name
			}
		}()
		for deadline := time.Now().Add(5 * time.Second); turns.Waiting() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not wait", name)
			}
		}
	}
	return came
}

// mustTake takes a turn for each.
func mustTake(t *testing.T, turns *Turns, accounts ...string) {
	t.Helper()
	for _, name := range accounts {
		if err := turns.Take(t.Context(), accountOf(name), 0); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// maxOf takes turns for an account until there is none, and tells how many there were and why
// no more.
func maxOf(t *testing.T, turns *Turns, name string) (n int, err error) {
	t.Helper()
	for ; err == nil; n++ {
		err = turns.Take(t.Context(), accountOf(name), 0)
	}
	return n - 1, err
}

// Ensure a turn goes to the server that holds the fewest, and among equals round the lines,
// however many of one server wait and since when; the same among the servers of one project.
func TestTurnsAreFair(t *testing.T) {
	for _, of := range []string{"", "p/"} {
		turns := NewTurns(3, 100)
		named := func(names ...string) (all []string) {
			for _, name := range names {
				all = append(all, of+name)
			}
			return all
		}
		mustTake(t, turns, named("hot", "hot", "other")...)
		came := queue(t, turns, named("hot", "hot", "hot", "hot", "quiet", "calm", "quiet")...)
		var got []string
		for _, gives := range named("hot", "hot", "other", "quiet", "calm", "quiet", "hot") {
			turns.Give(accountOf(gives))
			got = append(got, <-came)
		}
		if want := named("quiet", "calm", "hot", "quiet", "hot", "hot", "hot"); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// Ensure that among projects the one that holds the fewest is next, however many servers of
// another wait and hold none.
func TestTurnsGoToTheProjectWithTheFewest(t *testing.T) {
	turns := NewTurns(4, 100)
	mustTake(t, turns, "big/1", "big/2", "big/3", "small/1")
	came := queue(t, turns, "big/4", "big/5", "big/6", "small/1", "small/1")
	var got []string
	for _, gives := range []string{"big/1", "big/2", "big/3"} {
		turns.Give(accountOf(gives))
		got = append(got, <-came)
	}
	if want := []string{"small/1", "big/4", "big/5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Ensure neither one server nor one project holds all, each gets its own back, and what is kept
// for those that hold none is theirs at once.
func TestNobodyHoldsAll(t *testing.T) {
	turns := NewTurns(20, 75)
	for _, step := range []struct {
		account string
		n       int
		err     error
	}{
		{"big/hot", 12, ErrServerShare},
		{"big/hot2", 2, ErrProjectShare}, // the last one is for a server with none
		{"big/hot3", 1, ErrProjectShare},
		{"big/hot4", 0, ErrProjectShare},
		{"next/1", 3, ErrNoTurn}, // the last two are for projects with none
		{"third/1", 1, ErrNoTurn},
		{"fourth/1", 1, ErrNoTurn},
	} {
		if n, err := maxOf(t, turns, step.account); n != step.n || !errors.Is(err, step.err) || Whose(err) != Whose(step.err) || !errors.Is(err, ErrNoTurn) {
			t.Errorf("%s got %d, then %v; want %d, then %v", step.account, n, err, step.n, step.err)
		}
	}
	came := queue(t, turns, "big/hot", "big/hot4")
	for _, gives := range []string{"next/1", "third/1", "fourth/1"} {
		turns.Give(accountOf(gives)) // three are free: a project that has its share gets none of them
	}
	select {
	case name := <-came:
		t.Fatalf("%s holds more than its share", name)
	case <-time.After(20 * time.Millisecond):
	}
	turns.Give(accountOf("big/hot"))
	if name := <-came; name != "big/hot4" {
		t.Errorf("it was %s's turn", name)
	}
}

// Ensure the shares leave something to others wherever that can be.
func TestShares(t *testing.T) {
	for _, c := range []struct{ n, percent, project, server int }{
		{1, 75, 1, 1}, {2, 75, 2, 2}, {3, 75, 3, 3}, {4, 75, 3, 2}, {8, 75, 6, 5}, {16, 75, 12, 9}, {20, 75, 15, 12}, {24, 75, 18, 14},
		{20, 100, 20, 15}, {4, 100, 4, 3}, {20, 50, 10, 8}, {4, 1, 1, 1}, {20, 0, 15, 12}, {20, 101, 15, 12},
	} {
		if turns := NewTurns(c.n, c.percent); turns.MostOfProject() != c.project || turns.MostOfServer() != c.server {
			t.Errorf("of %d turns at %d %% a project may hold %d and a server %d, want %d and %d",
				c.n, c.percent, turns.MostOfProject(), turns.MostOfServer(), c.project, c.server)
		}
	}
}

// Ensure the last turn is kept for who holds none wherever one may not hold all, of projects and of the servers of
// one; and who is alone has its whole share.
func TestReserves(t *testing.T) {
	for _, c := range []struct{ n, project, server int }{{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 1, 1}, {5, 1, 1}, {6, 1, 1}, {7, 1, 1}, {8, 1, 1}, {16, 2, 1}, {20, 2, 1}} {
		turns := NewTurns(c.n, 75)
		if got := turns.shares; got.project.reserve != c.project || got.server.reserve != c.server {
			t.Errorf("of %d turns %d and %d are kept, want %d and %d", c.n, got.project.reserve, got.server.reserve, c.project, c.server)
		}
		if c.n > 8 {
			continue // who is beyond the reserve is another test's
		}
		if n, err := maxOf(t, turns, "p/a"); n != turns.MostOfServer() {
			t.Errorf("of %d turns a server got %d, then %v", c.n, n, err)
		}
		if n, _ := maxOf(t, turns, "p/b"); turns.MostOfServer() < turns.MostOfProject() && n != turns.MostOfProject()-turns.MostOfServer() {
			t.Errorf("of %d turns the second server got %d", c.n, n)
		}
		got := c.n - turns.MostOfProject()
		if n, _ := maxOf(t, turns, "q/a"); n != min(got, max(got-c.project, 1)) {
			t.Errorf("of %d turns the second project got %d", c.n, n)
		}
	}
	turns := NewTurns(6, 75)
	mustTake(t, turns, "a", "b", "a", "b", "a")
	if err := turns.Take(t.Context(), accountOf("b"), 0); err != ErrNoTurn { //nolint:errorlint // the others are it, too
		t.Errorf("two projects have all: %v", err)
	}
	mustTake(t, turns, "c")
}

// Ensure who waits counts against those that hold more: two more, or any where it holds none; among projects, and
// among the servers of one, also where the project has all that it may.
func TestContended(t *testing.T) {
	for _, c := range []struct {
		n      int
		holds  []string
		waits  string
		excess map[string]int
	}{
		{3, []string{"a", "a", "b"}, "c", map[string]int{"a": 2, "b": 1, "c": 0, "d": 0}},
		{3, []string{"a", "b", "c"}, "d", map[string]int{"a": 1, "b": 1, "c": 1, "d": 0}},
		{3, []string{"a", "a", "b"}, "b", map[string]int{"a": 0, "b": 0}},
		{4, []string{"p/1", "p/1", "p/2", "b"}, "b", map[string]int{"p/1": 2, "p/2": 2, "b": 0}},
		{4, []string{"p/1", "p/2", "p/3"}, "p/4", map[string]int{"p/1": 1, "p/2": 1, "p/3": 1, "p/4": 0}},
		{4, []string{"p/1", "p/2", "p/3", "q/1"}, "p/4", map[string]int{"p/1": 1, "q/1": 0}},
		{3, []string{"p/1", "p/2", "q/1"}, "r/1", map[string]int{"p/1": 2, "p/2": 2, "q/1": 1}},
	} {
		turns := NewTurns(c.n, 0)
		mustTake(t, turns, c.holds...)
		queue(t, turns, c.waits)
		for of, excess := range c.excess {
			if got := turns.Contended(accountOf(of)); got != excess {
				t.Errorf("%v hold, %s waits: %s has %d more, want %d", c.holds, c.waits, of, got, excess)
			}
		}
	}
}

// Ensure who waits in vain is told why, and leaves nothing behind.
func TestTurnsEnd(t *testing.T) {
	turns := NewTurns(1, 0)
	a, b := Account{"p", "a"}, Account{"p", "b"}
	mustTake(t, turns, "p/a")
	for of, want := range map[Account]error{{"q", "b"}: ErrNoTurn, b: ErrProjectShare, a: ErrServerShare} {
		if err := turns.Take(t.Context(), of, time.Millisecond); err != want { //nolint:errorlint // each is the other, too
			t.Errorf("%v: %v, want %v", of, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turns.Take(ctx, b, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	turns.Give(a)
	if turns.free != 1 || turns.waiting != 0 || len(turns.projects) != 0 {
		t.Errorf("left: %+v", turns)
	}
}

// Ensure that under any load no more turns are out than there are, or than one may hold; none
// is lost, and nothing is kept of servers that are gone; and who is patient gets one.
func TestTurnsUnderLoad(t *testing.T) {
	const n, each = 8, 200
	turns := NewTurns(n, 75)
	var out, most, took, over atomic.Int32
	var of [3]atomic.Int32 // projects
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for range each {
				project := rand.IntN(len(of))
				account := Account{strconv.Itoa(project), strconv.Itoa(i % (1 + rand.IntN(8)))}
				patience := time.Minute
				if i%2 == 0 {
					patience = time.Duration(rand.IntN(300)) * time.Microsecond
				}
				ctx, cancel := context.WithCancel(t.Context())
				if i%4 == 1 {
					time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, cancel)
				}
				err := turns.Take(ctx, account, patience)
				if cancel(); err != nil {
					continue
				}
				now := out.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				if int(of[project].Add(1)) > turns.MostOfProject() {
					over.Add(1)
				}
				took.Add(1)
				time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
				of[project].Add(-1)
				out.Add(-1)
				turns.Give(account)
			}
		})
	}
	wg.Wait()
	if most.Load() > n || over.Load() > 0 || turns.free != n || turns.waiting != 0 || len(turns.projects) != 0 || len(turns.spare) > spareShares {
		t.Errorf("%d at once, %d times too many of a project; left: %+v", most.Load(), over.Load(), turns)
	}
	for _, line := range turns.lines {
		if line.Len() > 0 {
			t.Error("somebody is still in line")
		}
	}
	if took.Load() < 10*each {
		t.Errorf("only %d got a turn", took.Load())
	}
}

// Ensure a turn that is free costs no memory.
func TestFreeTurnsAllocateNothing(t *testing.T) {
	turns := NewTurns(2, 0)
	a, b := Account{"p", "a"}, Account{"p", "b"}
	if n := testing.AllocsPerRun(100, func() {
		if turns.join(a, time.Minute) != nil || turns.join(b, time.Minute) != nil {
			t.Fatal("no turn")
		}
		turns.Give(a)
		turns.Give(b)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Ensure a turn that is waited for costs three places in lines, and seldom more: with the race detector, a pool forgets a quarter.
func TestTurnsReuseWhatWaits(t *testing.T) {
	turns := NewTurns(1, 0)
	a, b := Account{"p", "a"}, Account{"p", "b"}
	turns.join(a, time.Minute)
	if n := testing.AllocsPerRun(1000, func() {
		w := turns.join(b, time.Minute)
		turns.Give(a)
		<-w.turn
		turns.putBack(w)
		turns.Give(b)
		turns.join(a, time.Minute)
	}); n > 5 {
		t.Errorf("%v allocations", n)
	}
}
