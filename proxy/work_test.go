package proxy

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// hand is a Work of which tests begin and end the jobs of each account in turn.
type hand struct {
	*Work
	held sync.Mutex
	jobs map[Account][]Job
}

func (h *hand) began(job Job) {
	h.held.Lock()
	defer h.held.Unlock()
	h.jobs[job.of] = append(h.jobs[job.of], job)
}

func (h *hand) start(a Account) { h.began(h.Start(a)) }

func (h *hand) enters(a Account, first bool) bool {
	job, may := h.enter(a, first)
	if may {
		h.began(job)
	}
	return may
}

func (h *hand) begin(ctx context.Context, a Account, patience time.Duration) error {
	job, _, err := h.Begin(ctx, a, patience)
	if err == nil {
		h.began(job)
	}
	return err
}

// end ends the account's oldest job.
func (h *hand) end(a Account) {
	h.held.Lock()
	defer h.held.Unlock()
	h.End(h.jobs[a][0])
	h.jobs[a] = h.jobs[a][1:]
}

// clocked is a Work whose time goes on by hand.
func clocked(connections int) (w *hand, pass func(time.Duration)) {
	w, now := &hand{Work: NewWork(connections), jobs: map[Account][]Job{}}, time.Unix(0, 0)
	w.now = func() time.Time { return now }
	return w, func(d time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		now = now.Add(d)
	}
}

// begins begins things for an account until it is held back, 50 at most, and tells how many.
func begins(w *hand, a Account) (n int) {
	for n < 50 && w.enters(a, false) {
		n++
	}
	return n
}

// works has an account work for so long that it is protected in full.
func works(w *hand, a Account, pass func(time.Duration)) {
	w.start(a)
	pass(350 * time.Millisecond)
	w.end(a)
}

// awaitHeldBack waits until n are held back.
func awaitHeldBack(t *testing.T, w *hand, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); w.HeldBack() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d are held back, not %d", w.HeldBack(), n)
		}
	}
}

// Ensure one server has at most a few things at work while others are active, and all it likes when
// it is alone, before and afterwards.
func TestWorkIsShared(t *testing.T) {
	w, pass := clocked(20)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	ask := func(a Account) {
		if !w.enters(a, false) {
			t.Errorf("%v is held back", a)
		}
		pass(20 * time.Millisecond)
		w.end(a)
	}
	if n := begins(w, busy); n != 50 {
		t.Errorf("alone it began %d", n)
	}
	for range 50 {
		w.end(busy)
	}
	works(w, quiet, pass)
	for range 50 {
		w.start(busy)
	}
	finish := func(n int) {
		for range n {
			if begins(w, busy) != 0 {
				t.Fatal("it is not held back")
			}
			w.end(busy)
		}
	}
	finish(46)
	if n := begins(w, busy); n != 1 {
		t.Errorf("beside another it began %d more than 4", n)
	}
	for range 40 {
		pass(50 * time.Millisecond)
		ask(quiet)
	}
	finish(3)
	w.end(busy) // beside two that last it may begin one
	w.end(busy)
	if n := begins(w, busy); n != 0 {
		t.Errorf("it began %d before it had its share", n)
	}
	pass(700 * time.Millisecond)
	ask(quiet)
	if n := begins(w, busy); n != 5 {
		t.Errorf("it began %d when it had its share", n)
	}
	if err := w.begin(t.Context(), busy, time.Millisecond); !errors.Is(err, ErrBusy) || !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
	pass(1100 * time.Millisecond)
	if n := begins(w, busy); n != 50 {
		t.Errorf("alone again it began %d", n)
	}
}

// Ensure a burst of one server beside active others is held back from its begin, and what goes
// on after its time counts.
func TestBurstsAreHeldBack(t *testing.T) {
	w, pass := clocked(20)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	works(w, quiet, pass)
	if n := begins(w, busy); n != 5 {
		t.Errorf("it began %d", n)
	}
	for range 3 {
		w.end(busy)
	}
	for range 3 {
		w.start(busy) // abandoned ones
	}
	if n := begins(w, busy); n != 0 {
		t.Errorf("beside three that go on it began %d", n)
	}
}

// playing is a server that always has more to do, of statements that take so long, beside another.
type playing struct {
	length, spread time.Duration // each takes the length and up to the spread
	passed, had    time.Duration
	began          int
	until          []time.Duration // when the statements that run end
}

// beside plays ten seconds, in which the quiet server has one statement at work for a part of each 200 ms, and gives how
// many the busy one had at work on average in the last eight.
func (p *playing) beside(w *hand, pass func(time.Duration), busy, quiet Account, part time.Duration) float64 {
	return play(w, pass, map[Account]*playing{busy: p}, quiet, part)[busy]
}

// play is beside for more busy ones.
func play(w *hand, pass func(time.Duration), busy map[Account]*playing, quiet Account, part time.Duration) map[Account]float64 {
	const each = 200 * time.Millisecond
	for passed := time.Duration(0); passed < 10*time.Second; passed += time.Millisecond {
		switch passed % each {
		case 0:
			w.start(quiet)
		case part:
			w.end(quiet)
		}
		for a, p := range busy {
			p.goOn(w, a)
		}
		pass(time.Millisecond)
	}
	had := map[Account]float64{}
	for a, p := range busy {
		for range p.until {
			w.end(a)
		}
		had[a] = p.had.Seconds() / 8
	}
	return had
}

// goOn ends what has taken its time, begins what may begin, and counts it for a millisecond.
func (p *playing) goOn(w *hand, busy Account) {
	const most = 15
	p.until = slices.DeleteFunc(p.until, func(end time.Duration) bool {
		if end <= p.passed {
			w.end(busy)
		}
		return end <= p.passed
	})
	for len(p.until) < most && w.enters(busy, true) {
		p.until = append(p.until, p.passed+p.length+p.spread*time.Duration(p.began%most)/most)
		p.began++
	}
	if p.passed += time.Millisecond; p.passed > 2*time.Second {
		p.had += time.Duration(len(p.until)) * time.Millisecond
	}
}

// Ensure a server has nearly all that it can use beside one that hardly asks for anything, and ever less the more
// the other one asks for: beside one that asks for a lot its short statements have a few at once, its long ones
// its share on average. And that a server of a project of which others are held back has no burst.
func TestShareGoesByNeed(t *testing.T) {
	for _, c := range []struct {
		part, length time.Duration // of each 200 ms; of the busy server's statements
		least, most  float64
	}{
		{time.Millisecond, 20 * time.Millisecond, 14, 15},
		{10 * time.Millisecond, 20 * time.Millisecond, 2, 3.5},
		{60 * time.Millisecond, 20 * time.Millisecond, 0.3, 1.1},
		{60 * time.Millisecond, time.Millisecond, 1.9, 3},
	} {
		w, pass := clocked(20)
		busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
		line := w.join(busy) // it always has more to do
		if mean := (&playing{length: c.length}).beside(w, pass, busy, quiet, c.part); mean < c.least || mean > c.most {
			t.Errorf("%+v: it had %.2f at a time", c, mean)
		}
		works(w, quiet, pass)
		if n := begins(w, Account{"p", "another"}); n != 2 {
			t.Errorf("another began %d while one of its project is held back", n)
		}
		w.end(Account{"p", "another"})
		w.end(Account{"p", "another"})
		w.dequeue(busy, line)
		if n := begins(w, Account{"p", "third"}); n != 5 {
			t.Errorf("a third began %d in a burst", n)
		}
	}
}

// Ensure who runs a report can go on with short statements beside busy others, and with a burst of reports at most.
func TestReportHoldsNothingUp(t *testing.T) {
	w, pass := clocked(20)
	reports := Account{"p", "reports"}
	report, others := w.Start(reports), []Account{{"q", "one"}, {"r", "two"}, {"s", "three"}}
	goOn := func() {
		for _, a := range others {
			w.start(a)
		}
		pass(30 * time.Millisecond)
		for _, a := range others {
			w.end(a)
		}
		pass(70 * time.Millisecond)
	}
	for range 20 {
		goOn()
	}
	for range 50 {
		if job, may := w.enter(reports, false); may {
			pass(2 * time.Millisecond)
			w.End(job)
		} else {
			t.Fatal("a short statement is held back beside the report")
		}
		goOn()
	}
	last := []Job{report}
	for range 200 {
		if job, may := w.enter(reports, false); may {
			last = append(last, job)
		}
		goOn()
	}
	if len(last) > 1+w.burst {
		t.Errorf("%d run that last", len(last))
	}
	for _, job := range last {
		w.End(job)
	}
	if one := w.of[reports]; len(one.began) != 0 {
		t.Errorf("left: %v", one.began)
	}
}

// Ensure who waits for a connection has nothing at work, but begins no more than it may have at once.
func TestWaitingIsNoWork(t *testing.T) {
	w, pass := clocked(20)
	waits, quiet := Account{"p", "waits"}, Account{"q", "quiet"}
	for range 10 {
		w.start(waits)
		w.pause(waits, 1)
	}
	for range 6 {
		works(w, quiet, pass)
	}
	w.mu.Lock()
	heavy, wait := w.judge(waits, w.now())
	w.mu.Unlock()
	if heavy || !wait {
		t.Errorf("heavy %t, has to wait %t", heavy, wait)
	}
	for range 10 {
		w.pause(waits, -1)
	}
	for range 6 {
		works(w, quiet, pass)
	}
	w.mu.Lock()
	if heavy, _ = w.judge(waits, w.now()); !heavy {
		t.Error("what it has at work does not count")
	}
	w.mu.Unlock()
}

// Ensure a server beside which there is only this program itself is not held back either where most of what it has
// waits for a connection, and is beside another server.
func TestAloneIsNotHeldBackWhileItWaits(t *testing.T) {
	w, pass := clocked(20)
	waits := Account{"p", "waits"}
	mayBegin := func() bool {
		pass(time.Millisecond)
		w.mu.Lock()
		defer w.mu.Unlock()
		heavy, wait := w.judge(waits, w.now())
		return !heavy && !wait
	}
	for range 200 {
		w.start(waits)
		w.pause(waits, 1)
	}
	if !mayBegin() {
		t.Error("alone it is held back")
	}
	w.start(Account{})
	if !mayBegin() {
		t.Error("beside this program it is held back")
	}
	w.start(Account{"q", "quiet"})
	if mayBegin() {
		t.Error("beside another it is not held back")
	}
}

// Ensure the end of a statement that began within the share does not count as the end of one that began beyond.
func TestHeavyOnesEndThemselves(t *testing.T) {
	w, pass := clocked(20)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	light := []Job{w.Start(busy), w.Start(busy), w.Start(busy), w.Start(busy)}
	for range 300 { // whatever else it has is short
		job := w.Start(quiet)
		for range 5 {
			w.End(w.Start(busy))
		}
		pass(time.Millisecond)
		w.End(job)
		w.End(w.Start(busy))
	}
	w.End(light[0])
	w.End(light[1])
	w.End(light[2])
	job, may := w.enter(busy, true)
	if !may || !job.heavy {
		t.Fatal("it does not begin beyond its share", may, job)
	}
	w.End(light[3])
	if n := w.heavy["p"]; n != 1 {
		t.Errorf("%d run that began beyond the share", n)
	}
	w.End(job)
	if len(w.heavy) != 0 {
		t.Errorf("left: %v", w.heavy)
	}
}

// Ensure jobs of which nothing had to be done, such as a text that was described before, make no server's work look short.
func TestCancelledJobsTellNothing(t *testing.T) {
	for name, end := range map[string]func(*hand, Job){"ended": func(w *hand, j Job) { w.End(j) }, "cancelled": func(w *hand, j Job) { w.Cancel(j) }} {
		w, pass := clocked(20)
		busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
		for range 2 {
			w.start(busy)
		}
		for range 1000 {
			job := w.Start(quiet)
			pass(time.Millisecond)
			end(w, w.Start(busy))
			w.End(job)
		}
		if long := w.of[busy].takesLong(w.of[busy].average); long != (name == "cancelled") {
			t.Errorf("%s: it takes long: %v", name, long)
		}
		if n := w.of[busy].running; n != 2 {
			t.Errorf("%s: %d run", name, n)
		}
	}
}

// Ensure the servers of one project that have more than their share do not have a few each.
func TestHeavyServersOfAProjectShare(t *testing.T) {
	w, pass := clocked(20)
	one, two := Account{"p", "one"}, Account{"p", "two"}
	for n := range 300 {
		for range 5 {
			w.start(one)
			w.start(two)
		}
		pass(2 * time.Millisecond)
		quiet := Account{"p", strconv.Itoa(n)}
		if !w.enters(quiet, false) {
			t.Fatal("a quiet one is held back")
		}
		w.end(quiet)
		for range 5 {
			w.end(one)
			w.end(two)
		}
	}
	if n := begins(w, one) + begins(w, two); n != 2 {
		t.Errorf("they began %d together", n)
	}
	w.end(one)
	w.end(one)
	if n := begins(w, two); n != 2 {
		t.Errorf("the second began %d when the first had ended", n)
	}
}

// Ensure nobody is held back among servers that all ask for as much.
func TestEqualWorkIsNotHeldBack(t *testing.T) {
	w, pass := clocked(20)
	for range 100 {
		for server := range 10 {
			for range 4 {
				if !w.enters(Account{"p", strconv.Itoa(server)}, false) {
					t.Fatal("one of ten equals is held back")
				}
			}
		}
		pass(10 * time.Millisecond)
		for server := range 10 {
			for range 4 {
				w.end(Account{"p", strconv.Itoa(server)})
			}
		}
	}
}

// Ensure who is held back goes on when something of its own ends, or its caller does, and nothing
// stays of servers that are gone.
func TestHeldBackGoOn(t *testing.T) {
	w, pass := clocked(1)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	w.start(quiet)
	pass(350 * time.Millisecond)
	for range 9 {
		w.start(busy)
	}
	came := make(chan error)
	go func() { came <- w.begin(t.Context(), busy, time.Minute) }()
	awaitHeldBack(t, w, 1)
	for range 9 {
		w.end(busy)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
	for range 9 {
		w.start(busy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.begin(ctx, busy, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 10 {
		w.end(busy)
	}
	w.end(quiet)
	for range 3 {
		pass(1100 * time.Millisecond)
		w.start(Account{"r", "later"})
		w.end(Account{"r", "later"})
	}
	if len(w.of) != 1 || len(w.heavy) != 0 || len(w.lines) != 0 || w.HeldBack() != 0 || w.all.running != 0 {
		t.Errorf("left: %+v", w)
	}
}

// Ensure those of a project that are held back go on one after the other, in the order in which they came.
func TestHeldBackInLine(t *testing.T) {
	w, pass := clocked(1)
	busy := Account{"p", "busy"}
	for n := range 3 { // beside them it may have two at once, and one that lasts
		w.start(Account{"q", strconv.Itoa(n)})
	}
	for range 9 {
		w.start(busy)
	}
	pass(5 * time.Second)
	for range 6 {
		w.end(busy)
	}
	came := make(chan int)
	for n := range 20 {
		go func() {
			if err := w.begin(t.Context(), busy, time.Minute); err == nil {
				came <- n
			}
		}()
		awaitHeldBack(t, w, n+1)
	}
	for n := range 20 {
		w.end(busy)
		pass(5 * time.Second) // it has had its share
		if next := <-came; next != n {
			t.Fatalf("number %d went on, of those the first was %d", next, n)
		}
	}
}

// Ensure a server that has no more than its share goes on although one of its project is held back before it.
func TestHeldBackDelaysNoOther(t *testing.T) {
	w, pass := clocked(20)
	busy, other, quiet := Account{"p", "busy"}, Account{"p", "other"}, Account{"q", "quiet"}
	w.start(quiet)
	for range 9 {
		w.start(busy)
	}
	pass(5 * time.Second)
	for range 12 {
		w.start(other)
	}
	came := make(chan error, 1)
	defer w.dequeue(busy, w.join(busy))
	go func() { came <- w.begin(t.Context(), other, 5*time.Second) }()
	awaitHeldBack(t, w, 2)
	for range 12 {
		w.end(other)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
}

// Ensure the series for short times agrees with the exponential function.
func TestStays(t *testing.T) {
	for _, gone := range []time.Duration{0, time.Microsecond, 999 * time.Microsecond, time.Millisecond, lately, time.Hour} {
		if got, want := stays(gone), math.Exp(-gone.Seconds()/lately.Seconds()); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v, not %v", gone, got, want)
		}
	}
}
