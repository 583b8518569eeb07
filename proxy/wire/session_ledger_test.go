package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// with has the clients of w's server keep n bytes together.
func (w *sitting) with(n int) *ledger {
	l := w.client.server.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = proxy.NewHoldings(n, 100)
	return l
}

// taken is how much all clients are counted for.
func (l *ledger) taken() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held.Taken()
}

// parses prepares n statements of a text, as many at a time as a pipeline has, and gives how many were refused.
func (w *sitting) parses(n int, text func(i int) string) (refused int) {
	w.t.Helper()
	for i := range n {
		got := w.pipe(&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: text(i)})
		if got != "parsed I" && got != "ERROR 54000 I" {
			w.t.Fatal(got)
		}
		refused += strings.Count(got, "54000")
	}
	return refused
}

// Ensure what all clients keep is bounded, counts for what it takes, and is given back however it ends.
func TestKeptIsBounded(t *testing.T) {
	long := func(i int) string {
		return fmt.Sprintf("SELECT id FROM messages -- %d %s", i, strings.Repeat("x", 5000))
	}
	for name, c := range map[string]struct {
		text func(int) string
		room int // bytes
		fit  int // statements, at most
	}{
		"long texts": {long, 512 << 10, 50}, "one long text": {func(int) string { return long(0) }, 32 << 10, 180},
		"BEGIN": {func(int) string { return "BEGIN" }, 64 << 10, 320}, "one query": {func(int) string { return all }, 64 << 10, 320},
	} {
		t.Run(name, func(t *testing.T) {
			w := greeted(t)
			l, start := w.with(c.room), time.Now()
			if refused := w.parses(700, c.text); refused < 700-c.fit || w.tally.of("short of statements: server") == 0 {
				t.Errorf("%d of 700 were refused: %v", refused, w.tally.counts)
			}
			if strings.Contains(w.log.String(), "statement failed") || strings.Count(w.log.String(), "statement refused") > 20*(2+int(time.Since(start).Seconds())) { // see proxy.LinesLog
				t.Error("the log has more lines in a second than it may on what was refused at no cost")
			}
			if n := l.taken(); n > c.room || n < c.room/3 {
				t.Errorf("%d bytes are counted", n)
			}
			w.is(w.query(all), "columns() row() <SELECT 1> I")
			w.is(w.pipe(step(all)...), "parsed bound row() <SELECT 1> I")
			w.is(w.query("DEALLOCATE ALL"), "<DEALLOCATE ALL> I")
			w.nothingKept(l)
			w.parses(30, c.text)
			w.is(w.query("DISCARD ALL"), "<DISCARD ALL> I")
			w.nothingKept(l)
			w.parses(30, c.text)
			for i := range 30 {
				w.is(w.pipe(&pgproto3.Close{ObjectType: 'S', Name: fmt.Sprint("s", i)}), "closed I")
			}
			w.nothingKept(l)
			w.parses(100, c.text)
			w.close()
			w.nothingKept(l)
		})
	}
}

func (w *sitting) nothingKept(l *ledger) {
	w.t.Helper()
	if n := l.taken(); n != 0 || len(l.shared) != 0 {
		w.t.Errorf("%d bytes and %d decisions are counted", n, len(l.shared))
	}
}

// Ensure a client that keeps little has room though others have taken all.
func TestFewStatementsAreNeverRefused(t *testing.T) {
	w := greeted(t)
	w.with(1)
	if n := w.parses(3, func(i int) string { return fmt.Sprintf("SELECT id FROM messages LIMIT %d", i+1) }); n != 0 {
		t.Errorf("%d of 3 were refused", n)
	}
	for range 100 {
		w.is(w.pipe(step(point, "x")...), "parsed bound row() <SELECT 1> I")
	}
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s1", DestinationPortal: "p"}), "bound I")
}

// Ensure named portals count, also those of closed statements, until the transaction ends.
func TestPortalsAreKept(t *testing.T) {
	w := greeted(t)
	l := w.with(256 << 10)
	w.is(w.query("BEGIN"), "<BEGIN> T")
	messages := []pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: "COMMIT"}}
	for i := range maxPortals {
		messages = append(messages, &pgproto3.Bind{PreparedStatement: "s", DestinationPortal: fmt.Sprint("p", i)})
	}
	messages = append(messages, &pgproto3.Close{ObjectType: 'S', Name: "s"})
	if got := w.pipe(messages...); !strings.HasSuffix(got, "ERROR 54000 E") || strings.Count(got, "bound") < 50 {
		t.Error(got)
	}
	if l.taken() < 128<<10 {
		t.Errorf("%d bytes are counted", l.taken())
	}
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.query("DEALLOCATE ALL"), "<DEALLOCATE ALL> I")
	w.nothingKept(l)
}

// Ensure what is prepared under a name costs, whatever it is, and that a transaction can be ended all the same.
func TestNamesCost(t *testing.T) {
	w := greeted(t)
	parse := func(text string) string { return w.pipe(&pgproto3.Parse{Name: text, Query: text}) }
	w.is(parse("BEGIN"), "parsed I")
	w.is(w.pipe(&pgproto3.Parse{Query: "BEGIN"}), "parsed I")
	if n := w.gate.admitted + w.gate.paced; n != 1 {
		t.Errorf("paid %d times", n)
	}
	w.is(w.query("BEGIN"), "<BEGIN> T")
	w.gate.mu.Lock()
	w.gate.budget = 0
	w.gate.mu.Unlock()
	w.is(parse("COMMIT"), "parsed T")
	w.is(w.query(all), "ERROR 53400 E")
	w.is(parse("ROLLBACK"), "parsed E")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "ROLLBACK"}, &pgproto3.Execute{}), "bound <ROLLBACK> I")
	w.is(parse("ABORT"), "ERROR 53400 I")
}

// Ensure unnamed statements whose successors came, which stay until their exchange was run, take little and count, and that
// an ordinary pipeline of them is one exchange.
func TestReplacedStatementsAreFew(t *testing.T) {
	w := greeted(t)
	l := w.with(1 << 20)
	pipeline := func(text func(i int) string) (most int) {
		var messages []pgproto3.FrontendMessage
		for i := range 60 {
			messages = append(messages, &pgproto3.Parse{Query: text(i)})
		}
		w.is(w.pipe(messages...), strings.Repeat("parsed ", 60)+"I")
		w.link.mu.Lock()
		defer w.link.mu.Unlock()
		for _, ran := range w.link.ran {
			most = max(most, strings.Count(ran, "parse"))
		}
		w.link.ran = nil
		return most
	}
	if n := pipeline(func(i int) string { return fmt.Sprintf("%s -- %d %s", all, i, strings.Repeat("x", 9000)) }); n > 8 {
		t.Errorf("%d long ones were held at once", n)
	}
	short := func(i int) string { return fmt.Sprintf("%s -- %d", all, i) }
	if n := pipeline(short); n < 30 {
		t.Errorf("%d short ones with their decisions were held at once", n)
	}
	w.nothingKept(l)
	w.with(1)
	if n := pipeline(short); n < 4 || n > 10 {
		t.Errorf("%d were held at once where there is no room", n)
	}
	w.with(1 << 20)
	if n := pipeline(func(int) string { return all }); n != 60 {
		t.Errorf("%d times the same were held at once", n)
	}
}

// Ensure a pipeline of different statements is run in pieces of as many steps as there may be, and no smaller ones.
func TestPipelineIsCutByItsStepsAlone(t *testing.T) {
	w := greeted(t)
	w.link.did()
	var messages []pgproto3.FrontendMessage
	for i := range 100 {
		one := step(fmt.Sprintf("SELECT id, role, content FROM messages WHERE conversation_id = $1 ORDER BY id LIMIT %d", i+1), "x")
		messages = append(messages, one[0], one[1], &pgproto3.Describe{ObjectType: 'P'}, one[2])
	}
	w.is(w.pipe(messages...), strings.Repeat("parsed bound columns() row() <SELECT 1> ", 100)+"I")
	pieces := strings.Split(w.link.did(), "; ")
	if want := (4*100 + maxSteps - 1) / maxSteps; len(pieces) != want {
		t.Errorf("%d pieces, not %d: %q", len(pieces), want, pieces)
	}
}

// breaking is a link that panics as it rolls back.
type breaking struct{ rounds }

func (*breaking) Rollback() { panic("rollback") }

// Ensure a session gives back what it has, whatever becomes of its link.
func TestSessionGivesBackInAPanic(t *testing.T) {
	var messages []pgproto3.FrontendMessage
	for i := range 50 {
		messages = append(messages, &pgproto3.Parse{Name: fmt.Sprint(i), Query: point + strings.Repeat(" ", i)})
	}
	messages = append(messages, &pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "0", Parameters: [][]byte{[]byte("x")}}, &pgproto3.Flush{},
		&pgproto3.Parse{Query: point}, &pgproto3.Parse{Query: all})
	s, c := replayed(t, &breaking{}, encoded(messages...), 1)
	if err := guarded(func() error { return s.run(t.Context()) }); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("it ended by %v", err)
	}
	if n := c.server.ledger.taken(); n > 0 {
		t.Errorf("the ledger counts %d bytes", n)
	}
	if k := s.prepared.keeps; k.bytes != 0 || k.charged != 0 {
		t.Errorf("%d bytes are held, %d charged", k.bytes, k.charged)
	}
	if s.present == nil || s.present.ctx.Err() == nil {
		t.Error("its context goes on")
	}
}

// Ensure statements count the same, whether or not the gate knows their texts already: else whoever has used up the room
// for them could tell which texts others have sent.
func TestKeptTellsNothing(t *testing.T) {
	long := "SELECT id FROM messages WHERE content IN ('" + strings.Repeat("x', '", 500) + "')"
	replaced := slices.Repeat([]pgproto3.FrontendMessage{&pgproto3.Parse{Query: long}}, 30)
	counted := map[bool][3]int{}
	for _, forgets := range []bool{false, true} {
		w := greeted(t)
		w.gate.forgets = forgets
		l := w.with(64 << 20)
		for i := range 3 {
			w.pipe(&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: long})
		}
		named := l.taken()
		w.pipe(&pgproto3.Bind{PreparedStatement: "s1"}, &pgproto3.Execute{}) // it is decided on again
		bound := l.taken()
		w.link.did()
		w.send(replaced...)
		time.Sleep(100 * time.Millisecond)
		counted[forgets] = [3]int{named, bound, len(w.link.did())} // the last: of what was run at once
		w.pipe()
		w.close()
		w.nothingKept(l)
	}
	if counted[false] != counted[true] || counted[true][0] == 0 {
		t.Errorf("known: %v, unknown: %v", counted[false], counted[true])
	}
}

// Ensure a statement that was prepared runs as the policy of now says, and as it was decided on at first while that is the same.
func TestPreparedFollowsThePolicy(t *testing.T) {
	w := greeted(t)
	w.gate.forgets = true
	for name, text := range map[string]string{"short": all, "long": all + " -- " + strings.Repeat("x", 9000), "": all} {
		w.pipe(&pgproto3.Parse{Name: name, Query: text})
		bind := func() *policy.Approved {
			w.pipe(&pgproto3.Bind{PreparedStatement: name}, &pgproto3.Execute{})
			return w.link.bound
		}
		first := bind()
		if bind() != first {
			t.Errorf("%q: another decision of the same policy", name)
		}
		w.gate.policy = greeted(t).gate.policy
		if now := bind(); now.Origin() == first.Origin() {
			t.Errorf("%q: the decision of a policy that is gone", name)
		}
	}
}
