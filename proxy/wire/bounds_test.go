package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// The gate is asked before every statement who the client is; one whose key was revoked is
// ended.
func TestHolder(t *testing.T) {
	w := greeted(t)
	w.gate.inactive = true
	w.is(w.query(all), "ERROR 42501 I")
	w.is(w.pipe(step(all)...), "ERROR 42501 I")
	w.gate.inactive = false
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	stands, asked := true, w.gate.held
	w.gate.stands = func() bool { return stands }
	for range 3 {
		w.is(w.query(all), "columns() row() <SELECT 1> I")
	}
	if n := w.gate.held - asked; n != 1 {
		t.Errorf("asked %d times for what stands", n)
	}
	stands = false
	w.gate.holder = proxy.Refuse(proxy.UpstreamUnavailable, "later")
	w.is(w.query(all), "ERROR 08006 I")
	w.gate.holder = proxy.Refuse(proxy.Unauthorized, "the key is not valid any more")
	w.is(w.query("SELECT version()"), "FATAL 28P01 end")
	if n := w.tally.of("rejected server_inactive wire"); n != 2 {
		t.Errorf("%d rejected", n)
	}
}

// A place is taken for the first statement of a transaction, and each takes one off the budget.
func TestBudget(t *testing.T) {
	w := greeted(t)
	check := func(admitted, paced int) {
		t.Helper()
		if w.gate.admitted != admitted || w.gate.paced != paced {
			t.Errorf("admitted %d, paced %d, want %d and %d", w.gate.admitted, w.gate.paced, admitted, paced)
		}
		w.gate.admitted, w.gate.paced = 0, 0
	}
	w.query(all)
	check(1, 0)
	w.pipe(step(point, "x")...)
	check(1, 0)
	w.pipe(slices.Concat(step(point, "x"), step(point, "y"))...)
	check(1, 1)
	w.pipe(&pgproto3.Parse{Name: "s", Query: point})
	check(1, 0)
	bound := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{nil}}, &pgproto3.Execute{}}
	w.pipe(slices.Concat(bound, bound, bound)...)
	check(1, 2)
	w.query("BEGIN")
	check(0, 0)
	w.query(all)
	w.query(all)
	check(1, 1)
	w.query("COMMIT")
	check(0, 0)
	w.gate.budget = 2
	w.is(w.pipe(slices.Concat(bound, bound, bound)...), "bound row() <SELECT 1> bound row() <SELECT 1> ERROR 53400 I")
	w.is(w.query("BEGIN"), "<BEGIN> T")
	w.is(w.query(all), "ERROR 53400 E")
	w.is(w.query(all), "ERROR 25P02 E") // to wait would help nothing
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
}

// A cancel request ends the statement that runs, and the session lives on.
func TestCancelled(t *testing.T) {
	w := greeted(t)
	w.client.cancelRunning() // nothing runs
	running := make(chan struct{}, 1)
	w.link.before = func(ctx context.Context, sql string) {
		if strings.Contains(sql, "content") {
			running <- struct{}{}
			<-ctx.Done()
		}
	}
	w.send(&pgproto3.Query{String: "SELECT content FROM messages"})
	<-running
	w.client.cancelRunning()
	w.is(w.answers(), "ERROR 57014 I")
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	w.send(&pgproto3.Query{String: "SELECT content FROM messages"})
	<-running
	w.cancel(errShutdown)
	w.is(w.answers(), "FATAL 57P01 end")
}

// What a client may keep here is bounded.
func TestStatementsAreBounded(t *testing.T) {
	w := greeted(t)
	var messages []pgproto3.FrontendMessage
	for i := range maxStatements {
		messages = append(messages, &pgproto3.Parse{Name: fmt.Sprint("s", i), Query: all})
	}
	if got := w.pipe(messages...); strings.Contains(got, "ERROR") {
		t.Fatal(got)
	}
	w.is(w.pipe(&pgproto3.Parse{Name: "more", Query: all}), "ERROR 54000 I")
	w.is(w.pipe(&pgproto3.Close{ObjectType: 'S', Name: "s0"}, &pgproto3.Parse{Name: "more", Query: all}), "closed parsed I")
	w.query("DISCARD ALL")
	refused := false
	for i := range maxStatements {
		text := fmt.Sprintf("SELECT id FROM messages -- %d %s", i, strings.Repeat("x", 5000))
		refused = refused || strings.Contains(w.pipe(&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: text}), "54000")
	}
	if !refused {
		t.Error("bytes are not bounded")
	}
	w = greeted(t)
	messages = []pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: all}}
	for i := range maxPortals + 1 {
		messages = append(messages, &pgproto3.Bind{PreparedStatement: "s", DestinationPortal: fmt.Sprint("p", i)})
	}
	if got := w.pipe(messages...); strings.Count(got, "bound") != maxPortals || !strings.HasSuffix(got, "ERROR 54000 I") {
		t.Error(got[len(got)-40:])
	}
}

// A pipeline without an end is run in pieces, and its memory is bounded.
func TestPipelinesAreCut(t *testing.T) {
	w := greeted(t)
	w.pipe(&pgproto3.Parse{Name: "s", Query: point})
	w.link.did()
	var messages []pgproto3.FrontendMessage
	for range 100 {
		messages = append(messages, &pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("x")}}, &pgproto3.Execute{})
	}
	if got := w.pipe(messages...); strings.Count(got, "bound row() <SELECT 1>") != 100 {
		t.Error(got)
	}
	ran := strings.Split(w.link.did(), "; ")
	if len(ran) != 4 {
		t.Errorf("%d exchanges", len(ran))
	}
	long := &pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte(strings.Repeat("x", 100_000))}}
	short := &pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("y")}}
	w.is(w.pipe(long, &pgproto3.Execute{}, short, &pgproto3.Execute{}, long, &pgproto3.Execute{}),
		"bound row() <SELECT 1> bound row() <SELECT 1> bound row() <SELECT 1> I")
	if ran := w.link.did(); strings.Count(ran, "x") < 200_000 || strings.Count(ran, "y") != 2 { // one is sync's
		t.Errorf("%d x, %d y", strings.Count(ran, "x"), strings.Count(ran, "y"))
	}
}

// What nobody sends ends the session.
func TestUnknownMessages(t *testing.T) {
	for _, kind := range "\x00abc!p@ZRW" {
		if kind == 'c' {
			continue
		}
		w := greeted(t)
		_, _ = w.conn.Write([]byte{byte(kind), 0, 0, 0, 4})
		w.is(w.answers(), "FATAL 08P01 end")
	}
	for _, message := range []string{"P\x00\x00\x00\x05x", "B\x00\x00\x00\x04", "D\x00\x00\x00\x06S\x01", "E\x00\x00\x00\x05\x00", "C\x00\x00\x00\x04", "S\x00\x00\x00\x05x", "H\x00\x00\x00\x05x", "Q\x00\x00\x00\x05x",
		"B\x00\x00\x00\x0c\x00\x00\x00\x00\xff\xff\x00\x00"} {
		w := greeted(t)
		_, _ = w.conn.Write([]byte(message))
		w.is(w.answers(), "FATAL 08P01 end")
	}
	w := greeted(t)
	w.send(&pgproto3.FunctionCall{})
	w.is(w.answers(), "ERROR 0A000 I")
	w.send(&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{})
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	w.is(w.query(strings.Repeat(" ", maxScript)+"SELECT 1"), "ERROR 54000 I")
	w.is(w.query("SELECT '\xff'"), "ERROR 22021 I")
	w.is(w.pipe(step("SELECT '\xff'")...), "ERROR 22021 I")
}

// However a long text is made, it is cut in time that grows with its length alone.
func TestLongTexts(t *testing.T) {
	w := greeted(t)
	for _, piece := range []string{";", "/* */;", "SELECT 1;", "SELECT (1", "SELECT 'a", "--;\n;"} {
		start := time.Now()
		got := w.query(strings.Repeat(piece, maxScript/4/len(piece)))
		if took := time.Since(start); took > 4*time.Second || !strings.HasSuffix(got, " I") {
			t.Errorf("%q took %v: %.100s", piece, took, got)
		}
	}
}

// The gate's word on a prepared statement is asked for again when it is bound.
func TestAsksAgain(t *testing.T) {
	w := greeted(t)
	w.pipe(&pgproto3.Parse{Name: "s", Query: point})
	before := w.gate.checked
	w.pipe(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{nil}}, &pgproto3.Execute{})
	if w.gate.checked != before+1 {
		t.Errorf("asked %d times", w.gate.checked-before)
	}
	before = w.gate.checked
	w.pipe(step(point, "x")...)
	if w.gate.checked != before+1 {
		t.Errorf("asked %d times", w.gate.checked-before)
	}
	w.gate.mu.Lock()
	w.gate.policy, w.gate.kept = &policy.Policy{}, map[string]*policy.Approved{}
	w.gate.mu.Unlock()
	got := w.pipe(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{nil}}, &pgproto3.Execute{})
	if !strings.HasPrefix(got, "ERROR") {
		t.Error(got)
	}
}

// A client can have its idle transactions end sooner, not later.
func TestOwnIdleTimeout(t *testing.T) {
	w := greeted(t)
	w.query("SET idle_in_transaction_session_timeout = 80")
	start := time.Now()
	w.query("BEGIN")
	w.is(w.answers(), "FATAL 25P03 end")
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

// An idle session ends after its time; in a transaction after a shorter one.
func TestIdleInTransaction(t *testing.T) {
	w := greeted(t)
	w.client.server.cfg.TransactionIdleTimeout = 50 * time.Millisecond
	time.Sleep(100 * time.Millisecond)
	w.query("BEGIN")
	w.query(all)
	w.link.did()
	w.is(w.answers(), "FATAL 25P03 end")
	<-w.ended
	w.ended <- nil
	w.is(w.link.did(), "rolled back")
}

// Who sends a message byte by byte holds no transaction open by that.
func TestSlowMessageInTransaction(t *testing.T) {
	w := greeted(t)
	w.client.server.cfg.TransactionIdleTimeout = 300 * time.Millisecond
	w.query("BEGIN")
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for _, b := range []byte("Q\x00\x00\x01\x00" + strings.Repeat(" ", 251)) {
			_, _ = w.conn.Write([]byte{b})
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	start := time.Now()
	w.is(w.answers(), "FATAL 25P03 end")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	slow := greeted(t) // without a transaction, there is no hurry
	slow.client.server.cfg.TransactionIdleTimeout = 50 * time.Millisecond
	for _, b := range []byte("Q\x00\x00\x00\x0eSELECT 1;\x00") {
		_, _ = slow.conn.Write([]byte{b})
		time.Sleep(10 * time.Millisecond)
	}
	slow.is(slow.answers(), "columns() row() <SELECT 1> I")
}
