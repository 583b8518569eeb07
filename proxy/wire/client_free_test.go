package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// opening has a session begin with messages, then a client that sends others as often as it is to, until it had to pause.
type opening struct {
	net.Conn
	first []byte
	tally *tally
}

func (o *opening) Read(p []byte) (int, error) {
	if n := copy(p, o.first); n > 0 {
		o.first = o.first[n:]
		return n, nil
	}
	if o.tally.of(paused) > 0 {
		return 0, io.EOF
	}
	return o.Conn.Read(p)
}

const paused = "short of messages: server"

// pausesIn tells how often a client has to pause that sends messages over and over, where a server has its share of so many
// processors.
func pausesIn(t *testing.T, link *rounds, first, messages []byte, processors, budget, times int) int {
	t.Helper()
	s, c := replayed(t, link, messages, times)
	counts := &tally{counts: map[string]int{}}
	c.server.cfg.Recorder = counts
	c.server.throttle = proxy.NewThrottle(processors, proxy.DefaultProjectShare) // not the machine's, so that it decides nothing
	c.conn = &opening{Conn: c.conn, first: first, tally: counts}
	c.in.From = c
	gate := s.gate.(*deciding)
	gate.budget, gate.waits, gate.asked = budget, max(link.took, link.refresh), func() { time.Sleep(link.holder) }
	if err := s.run(t.Context()); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return counts.of(paused)
}

// neverPauses fails where a client has to pause that does as in pausesIn. By its clock only waits take time, and what is
// counted for reading: on a busy machine the session's own work takes as long as a wait.
func neverPauses(t *testing.T, link *rounds, first, messages []byte, budget, times int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		if pausesIn(t, link, first, messages, 2, budget, times) > 0 {
			t.Error("the client had to pause")
		}
	})
}

// rounds is a link that does nothing, in transactions, and takes its time for it. It knows all descriptions.
type rounds struct {
	quiet
	took, holder, refresh time.Duration // to run, and of the gate, to tell the holder and to read the schema again
}

func (r *rounds) Run(_ context.Context, x *proxy.Exchange, _ *frame.Writer) (proxy.State, error) {
	time.Sleep(r.took)
	x.Unsent = len(x.Steps) > 0 && !slices.ContainsFunc(x.Steps, func(s proxy.Step) bool {
		return s.Verb != proxy.Say && s.Verb != proxy.Copied && s.Verb != proxy.Describe && s.Verb != proxy.DescribePortal
	})
	if r.refresh > 0 {
		x.Done = 0
		return proxy.Idle, &proxy.Error{Code: proxy.SerializationFailure, Cause: proxy.ErrSchemaChanged}
	}
	x.Done = len(x.Steps)
	if x.Commit {
		return proxy.Idle, nil
	}
	return proxy.Open, nil
}

// pieces are the data of a long row without its end.
func pieces(n int) (all []pgproto3.FrontendMessage) {
	for range n {
		all = append(all, &pgproto3.CopyData{Data: bytes.Repeat([]byte("x"), 8<<10)})
	}
	return all
}

func query(text string) pgproto3.FrontendMessage { return &pgproto3.Query{String: text} }

// Ensure a client pauses that sends messages without end which cost nothing.
func TestFreeMessagesPause(t *testing.T) {
	closes := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("x")}}}
	for range 60 {
		closes = append(closes, &pgproto3.Close{ObjectType: 'P', Name: "none"})
	}
	described := []pgproto3.FrontendMessage{closes[0]}
	for range 60 {
		described = append(described, &pgproto3.Describe{ObjectType: 'P'})
	}
	parsed := encoded(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Sync{})
	describe := &pgproto3.Describe{ObjectType: 'S', Name: "s"}
	in := encoded(query("COPY conversations (id, title) FROM STDIN"))
	failing := append([]pgproto3.FrontendMessage{query("COPY conversations (id, title) FROM STDIN")}, pieces(16)...)
	failing = append(failing, &pgproto3.CopyFail{})
	for name, c := range map[string]struct{ first, messages []byte }{
		"sync":             {nil, encoded(&pgproto3.Sync{})},
		"flush":            {nil, encoded(&pgproto3.Flush{})},
		"stray copy data":  {nil, encoded(&pgproto3.CopyData{Data: []byte("x")})},
		"stray copy done":  {nil, encoded(&pgproto3.CopyDone{})},
		"left out":         {encoded(&pgproto3.Execute{Portal: "none"}), encoded(&pgproto3.Bind{})},
		"empty":            {nil, encoded(query(";"))},
		"begin and commit": {nil, encoded(query("BEGIN"), query("COMMIT"))},
		"prepared begin":   {nil, encoded(append(step("BEGIN"), &pgproto3.Sync{})...)},
		"one statement":    {nil, append(encoded(query(all)), bytes.Repeat(encoded(&pgproto3.Sync{}), 200)...)},
		"over the budget":  {nil, encoded(query("SELECT 1"))},
		"close":            {nil, encoded(&pgproto3.Close{ObjectType: 'P', Name: "none"})},
		"describe":         {parsed, encoded(describe)},
		"describe and end": {parsed, encoded(describe, &pgproto3.Sync{})},
		"many describes":   {parsed, encoded(append(described, &pgproto3.Sync{})...)},
		"many closes":      {parsed, encoded(append(closes, &pgproto3.Sync{})...)},
		"copy of nothing":  {in, encoded(&pgproto3.CopyData{})},
		"flush in a copy":  {in, encoded(&pgproto3.Flush{})},
		"bytes of a row":   {in, encoded(&pgproto3.CopyData{Data: []byte("x")})},
		"row without end":  {in, encoded(&pgproto3.CopyData{Data: bytes.Repeat([]byte("x"), 8<<10)})},
		"copies that fail": {nil, encoded(failing...)},
		"script":           {nil, encoded(query(strings.Repeat("BEGIN;COMMIT;", 400)))},
		"blanks":           {nil, encoded(query(strings.Repeat(" ;", 5000) + all))},
		"paid script":      {nil, encoded(query(strings.Repeat("BEGIN;COMMIT;", 400) + all))},
		"data after a dot": {append(in, encoded(&pgproto3.CopyData{Data: []byte("\\.\n")})...), encoded(&pgproto3.CopyData{Data: []byte("x\ty\n")})},
	} {
		budget := 1 << 30
		if name == "over the budget" {
			budget = 0
		}
		if pausesIn(t, &rounds{}, c.first, c.messages, 1, budget, 3_000_000/len(c.messages)) == 0 { // one processor: with the race detector, what is not charged takes most of the time
			t.Errorf("%s: the client never had to pause", name)
		}
	}
}

// Ensure whoever has the database do something does not pause, however fast.
func TestStatementsDoNotPause(t *testing.T) {
	var many []pgproto3.FrontendMessage
	for range 500 {
		many = append(many, &pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("x")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{})
	}
	parsed := encoded(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Sync{})
	in := encoded(query("COPY conversations (id, title) FROM STDIN"))
	left := append(encoded(append([]pgproto3.FrontendMessage{&pgproto3.Execute{Portal: "none"}}, many[:330]...)...), encoded(&pgproto3.Sync{})...)
	row := append(append([]pgproto3.FrontendMessage{&pgproto3.CopyData{Data: []byte("x\t")}}, pieces(63)...), &pgproto3.CopyData{Data: []byte("\n")})
	for name, c := range map[string]struct {
		first, messages []byte
		times           int
		took            time.Duration // by the link
	}{
		"simple":         {nil, encoded(query(all)), 5000, 0},
		"transaction":    {nil, encoded(query("BEGIN"), query(all), query("COMMIT")), 3000, 0},
		"extended":       {nil, encoded(append(step(point, "x"), &pgproto3.Sync{})...), 3000, 0},
		"settings":       {nil, encoded(query(strings.Repeat("SET extra_float_digits = 1;", 15) + all)), 2000, 0},
		"pipeline":       {parsed, encoded(append(many, &pgproto3.Sync{})...), 20, 0},
		"copy":           {in, encoded(&pgproto3.CopyData{Data: []byte("x\ty\n")}), 20_000, 0},
		"slow":           {nil, encoded(query("BEGIN"), query(all), query("COMMIT")), 20, 10 * time.Millisecond},
		"after an error": {left, encoded(query(all)), 40, 10 * time.Millisecond},
		"slow script":    {nil, encoded(query(strings.Repeat("SET extra_float_digits = 1;", 25) + all)), 15, 200 * time.Millisecond},
		"long rows":      {in, encoded(row...), 20, 0},
	} {
		t.Run(name, func(t *testing.T) { neverPauses(t, &rounds{took: c.took}, c.first, c.messages, 1<<30, c.times) })
	}
}

// Ensure few statements take back what a long run of free messages has counted up, and one no more than a fixed number.
func TestStatementsEndTheRun(t *testing.T) {
	first := bytes.Repeat(encoded(&pgproto3.Sync{}), 500)
	for statements, want := range map[int]int{0: 2 * maxFree, 1: maxFree, 2: 0, 3: 0} {
		messages := append(bytes.Clone(first), bytes.Repeat(encoded(query(all)), statements)...)
		s, c := replayed(t, &rounds{}, messages, 1)
		c.server.throttle = nil
		if err := s.run(t.Context()); !errors.Is(err, io.EOF) || s.free.run != want {
			t.Errorf("after %d statements: %d, %v", statements, s.free.run, err)
		}
	}
}

// Ensure a text that has the database do something is charged for the parts that cost nothing only if they are many.
func TestFewPartsAreFree(t *testing.T) {
	for parts, charged := range map[int]bool{maxFree: false, maxFree + 1: true} {
		s, _ := replayed(t, quiet{}, nil, 0)
		s.free = freeMessages{run: maxFree, parts: parts, since: time.Now().Add(-time.Second)}
		s.sent++
		if took := s.debt(); took > 0 != charged {
			t.Errorf("%d parts: %v", parts, took)
		}
	}
}

// Ensure nobody pays with a pause for a wait: for a place that it was refused then, for the look-up of its key, for the
// schema.
func TestWaitsAreNotPausedFor(t *testing.T) {
	const long = 40 * time.Millisecond // so that a busy machine does not matter
	script := encoded(query(strings.Repeat("SET extra_float_digits = 1;", 25) + all))
	for name, c := range map[string]struct {
		link     rounds
		messages []byte
		budget   int
	}{
		"place":  {rounds{took: long}, encoded(query("SELECT 1")), 0},
		"key":    {rounds{holder: long}, encoded(query("BEGIN"), query("COMMIT")), 1 << 30},
		"schema": {rounds{refresh: 3 * long}, script, 1 << 30}, // the script takes a while itself
	} {
		t.Run(name, func(t *testing.T) { neverPauses(t, &c.link, nil, c.messages, c.budget, 25) })
	}
}

// Ensure the time that the link takes counts where it answers what it knows, without a wait.
func TestTimeOfWhatIsKnownCounts(t *testing.T) {
	parsed := encoded(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Sync{})
	describe := encoded(&pgproto3.Describe{ObjectType: 'S', Name: "s"}, &pgproto3.Flush{})
	if pausesIn(t, &rounds{took: 10 * time.Millisecond}, parsed, describe, 2, 1<<30, 25) == 0 {
		t.Error("the client never had to pause")
	}
}

// Ensure a pause ends with the transaction, the COPY and the service.
func TestPausesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(s *session, cancel func())
		want error
	}{
		"transaction": {func(s *session, _ func()) { s.c.over.Store(s.c.opened.Load()) }, nil},
		"copy":        {func(s *session, _ func()) { s.c.stopped.Store(true) }, nil},
		"service":     {func(_ *session, cancel func()) { cancel() }, errShutdown},
		"drain":       {func(s *session, _ func()) { s.c.server.drain.Store(draining) }, errShutdown},
	} {
		s, _ := replayed(t, quiet{}, nil, 0)
		base, cancel := context.WithCancel(t.Context())
		copied := &copying{s: s}
		s.base, s.c.stopped = base, &copied.stopped
		s.c.opened.Store(1)
		start := time.Now()
		time.AfterFunc(10*time.Millisecond, func() { c.end(s, cancel) })
		err := s.pause(6*time.Second, proxy.Idle)
		if took := time.Since(start); took < 10*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s: the pause took %v", name, took)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: the pause gave %v", name, err)
		}
		cancel()
	}
}

// Ensure a pause within a transaction goes on while the service drains, as the transaction may, up to the drain time's end.
func TestPauseWithinTransaction(t *testing.T) {
	s, _ := replayed(t, quiet{}, nil, 0)
	s.base = t.Context()
	s.c.server.drain.Store(draining)
	start := time.Now()
	if err := s.pause(100*time.Millisecond, proxy.Open); err != nil || time.Since(start) < 100*time.Millisecond {
		t.Error("the drain has ended the pause:", err)
	}
	s.c.server.drain.Store(overdrawn)
	if err := s.pause(6*time.Second, proxy.Open); !errors.Is(err, errShutdown) || time.Since(start) > 5*time.Second {
		t.Error("the end has not ended the pause:", err)
	}
}

// Ensure a client that never lets its session wait is ended as the service drains, where it has nothing open: its messages do
// not end where what was read does.
func TestDrainEndsWhoNeverRunsDry(t *testing.T) {
	messages := bytes.Repeat(encoded(&pgproto3.CopyData{Data: make([]byte, 9000)}), 1000)
	s, c := replayed(t, &rounds{}, messages[:len(messages)-1], 1)
	c.server.cfg.Recorder = &drainer{tally{counts: map[string]int{}}, c.server}
	c.server.throttle = proxy.NewThrottle(1, 1) // so that it pauses, however the machine shares its time out
	if err := s.run(t.Context()); !errors.Is(err, errShutdown) {
		t.Errorf("it ended by %v", err)
	}
}

// drainer has the service drain as soon as somebody pauses.
type drainer struct {
	tally
	server *Server
}

func (d *drainer) Short(string, string) { d.server.drain.Store(draining) }
