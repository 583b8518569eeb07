package wire

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a statement that is run again with its constants takes nothing back that was told
// done, and tells nothing twice.
func TestRealAgain(t *testing.T) {
	const refused = "SELECT array['{}'::json] = array[body::json] FROM notes WHERE 1 = 1" // by Postgres, when it runs
	w, admin := onPostgres(t)
	if _, err := admin.Exec(t.Context(), "UPDATE notes SET body = '1'"); err != nil {
		t.Fatal(err)
	}
	w.is(w.query(refused), "columns(?column?:16) ERROR 42883 I")
	count := func() (n int) {
		if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 7").Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	w.send(step("INSERT INTO notes (id) VALUES (7)")...)
	w.is(w.query(refused), "parsed bound <INSERT 0 1> columns(?column?:16) ERROR 42883 I")
	if n := count(); n != 0 {
		t.Errorf("%d rows of what has failed", n)
	}
}

// Ensure the one statement of a Query message that a changed schema turned back is decided on and run once more, and that
// what cannot be repeated here is told to the client: it has other statements beside it, a transaction around it, or a
// description that the client was given before.
func TestQueryOfChangedSchema(t *testing.T) {
	const text = "SELECT id FROM messages WHERE id = 'm1'"
	changed := &proxy.Error{Code: proxy.SerializationFailure, Cause: proxy.ErrSchemaChanged}
	inSteps := []pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Bind{DestinationPortal: "of-steps"}, &pgproto3.Execute{Portal: "of-steps"}}
	for name, c := range map[string]struct {
		before, text string
		pipe         []pgproto3.FrontendMessage
		unsynced     []pgproto3.FrontendMessage // before the text
		unchanged    bool                       // the schema, as the gate reads it
		stays        bool                       // it changes once more, whenever the statement is run
		want         string
		runs         int
	}{
		"alone":            {text: text, want: "columns() row() <SELECT 1> I", runs: 2},
		"changed twice":    {text: text, stays: true, want: "ERROR 40001 I", runs: 2},
		"not changed":      {text: text, unchanged: true, want: "ERROR 40001 I", runs: 1},
		"of several":       {text: "SELECT 1; " + text, want: "columns() row() <SELECT 1> ERROR 40001 I", runs: 1},
		"in a transaction": {before: "BEGIN", text: text, want: "ERROR 40001 E", runs: 1},
		"for reading":      {unsynced: step("SET TRANSACTION READ ONLY"), text: text, want: "parsed bound WARNING 25P01 <SET> ERROR 40001 I", runs: 2},
		"in steps":         {pipe: inSteps, want: "parsed bound ERROR 40001 I", runs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := greeted(t)
			if c.before != "" {
				w.query(c.before)
			}
			w.link.fails = map[string]*proxy.Error{"messages": changed, "of-steps": changed}
			var began time.Time
			w.link.before = func(context.Context, string) { began = time.Now() }
			w.gate.changed = func(since time.Time) bool {
				if c.pipe == nil && since.After(began) {
					t.Error("a change while the statement ran would not count")
				}
				if !c.stays {
					w.link.fails = nil
				}
				return !c.unchanged
			}
			paid := w.gate.admitted + w.gate.paced
			w.link.did()
			if c.unsynced != nil {
				w.send(c.unsynced...)
			}
			var got string
			if c.pipe != nil {
				got = w.pipe(c.pipe...)
			} else {
				got = w.query(c.text)
			}
			w.is(got, c.want)
			if ran := w.link.did(); strings.Count(ran, ";")+1 != c.runs {
				t.Errorf("%s, want %d runs", ran, c.runs)
			}
			if n := w.gate.admitted + w.gate.paced - paid; c.runs == 2 && c.unsynced == nil && n != 1 {
				t.Errorf("paid %d times", n)
			}
			if n := w.tally.of("statement select " + string(proxy.SerializationFailure)); n != strings.Count(c.want, "ERROR") {
				t.Errorf("%d counted as failed", n)
			}
		})
	}
}

// Ensure a cancel request that comes while a statement is turned back, or while the schema is read, keeps it from running once
// more.
func TestCancelledBeforeItRunsAgain(t *testing.T) {
	turnedBack := &proxy.Error{Code: proxy.SerializationFailure, Retryable: true, Cause: proxy.ErrSchemaChanged}
	noColumn := &proxy.Error{Code: policy.QueryFailed, SQLState: "42703", Cause: proxy.ErrSchemaChanged} // which stays what the client is told
	for during, c := range map[string]struct {
		fails *proxy.Error
		want  string
	}{
		"the first run": {turnedBack, "57014"}, "the reading": {turnedBack, "57014"}, "the reading, of a column that is gone": {noColumn, "42703"},
		"the second decision": {turnedBack, "57014"},
	} {
		t.Run(during, func(t *testing.T) {
			w := greeted(t)
			w.link.fails = map[string]*proxy.Error{"messages": c.fails}
			decisions := 0
			w.link.before = func(ctx context.Context, _ string) {
				if during == "the first run" {
					w.client.cancelRunning()
				}
				if decisions == 2 && ctx.Err() == nil {
					t.Error("it runs once more")
				}
			}
			w.gate.changed = func(time.Time) bool {
				if strings.HasPrefix(during, "the reading") {
					w.client.cancelRunning()
				}
				return true
			}
			w.gate.says = func(string) error {
				if decisions++; decisions == 2 && during == "the second decision" {
					w.client.cancelRunning()
				}
				return nil
			}
			w.is(w.query("SELECT id FROM messages WHERE id = 'm1'"), "ERROR "+c.want+" I")
			if ran := w.link.did(); strings.Contains(ran, ";") && decisions < 2 {
				t.Error(ran)
			}
		})
	}
}

// Ensure JDBC's driver learns that it must prepare a statement anew: it looks at the routine.
func TestResultChangedIsTold(t *testing.T) {
	w := greeted(t)
	w.link.fails = map[string]*proxy.Error{"messages": {Code: policy.QueryFailed, SQLState: "0A000", Cause: fmt.Errorf("within: %w", proxy.ErrResultChanged)}}
	w.send(append(step("SELECT id FROM messages"), &pgproto3.Sync{})...)
	for {
		message, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if told, is := message.(*pgproto3.ErrorResponse); is {
			if told.Code != "0A000" || told.Routine != "RevalidateCachedQuery" {
				t.Errorf("told %s in %q", told.Code, told.Routine)
			}
			return
		}
	}
}

// Ensure an unnamed statement of which a Parse of the same text was left out stays what its client was told of.
func TestRealParseLeftOut(t *testing.T) {
	w, second, admin := twoOnPostgres(t, 2)
	const text = "SELECT id FROM notes WHERE body = 'none'"
	w.is(w.pipe(step(text)[:1]...), "parsed I")
	if _, err := admin.Exec(t.Context(), "ALTER TABLE notes ALTER id TYPE bigint"); err != nil {
		t.Fatal(err)
	}
	for range 3 { // it is refused until the schema was read
		second.pipe(step(text)...)
	}
	left := append([]pgproto3.FrontendMessage{&pgproto3.Parse{Name: "fails", Query: "SELECT 1 / (id - 1) FROM notes"}, &pgproto3.Bind{PreparedStatement: "fails"}, &pgproto3.Execute{}}, step(text)[0])
	w.is(w.pipe(left...), "parsed bound ERROR 22012 I")
	w.is(w.pipe(&pgproto3.Describe{ObjectType: 'S'}), "params[] columns(id:23) I")
}

// Ensure a COMMIT ends at once, without a Sync too: the connection is free then.
func TestRealCommitWithoutSync(t *testing.T) {
	w, second, _ := twoOnPostgres(t, 1)
	w.query("BEGIN")
	w.is(w.query("INSERT INTO notes (id) VALUES (2)"), "<INSERT 0 1> T")
	w.send(append(step("COMMIT"), &pgproto3.Flush{})...)
	for told := ""; told != "<COMMIT>"; {
		m, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		told = inWords(m)
	}
	second.is(second.query("SELECT count(*) FROM notes"), "columns(count:20) row(2) <SELECT 1> I")
	w.is(w.pipe(), "I")
}

// Ensure nothing of a client stays behind with the service.
func TestSessionsLeaveNothing(t *testing.T) {
	s := newSession(greeted(t).client)
	s.base = t.Context()
	followed := s.follow().ctx
	s.leave()
	if s.end(); followed.Err() == nil {
		t.Error("a context lives on in that of the service")
	}
}

// Ensure what was bound before does not run once the server is not active any more.
func TestHolderOfPortals(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	w.is(w.pipe(step(all)[:2]...), "parsed bound T")
	w.gate.inactive = true
	w.is(w.pipe(&pgproto3.Execute{}), "ERROR 42501 E")
	w.gate.inactive = false
	w.query("ROLLBACK")
	w.query("BEGIN")
	w.is(w.pipe(step(all)[:2]...), "parsed bound T")
	w.gate.holder = proxy.Refuse(proxy.Unauthorized, "the key is not valid any more")
	w.is(w.pipe(&pgproto3.Execute{}), "FATAL 28P01 end")
}

// Ensure what a client has sent and not ended does not run once the server is not active any more: it can wait with it for as long as
// it likes.
func TestHolderOfWhatIsCollected(t *testing.T) {
	for name, c := range map[string]struct {
		asked int // when the server is not active any more
		send  func(w *sitting) string
	}{
		"a pipeline":          {2, func(w *sitting) string { return w.pipe(step(all)...) }},
		"a pipeline, flushed": {3, func(w *sitting) string { return w.pipe(append(step(all), &pgproto3.Flush{})...) }},
		"a COPY":              {2, func(w *sitting) string { return w.copied(copyFiles, "a\tb\tc\n") }},
		"a COPY, all run":     {3, func(w *sitting) string { return w.copied(copyFiles, strings.Repeat("a\tb\tc\n", maxSteps)) }},
	} {
		for _, block := range []bool{false, true} {
			w, state, asked := greeted(t), "I", 0
			if block {
				w.query("BEGIN")
				state = "E"
			}
			w.link.did()
			w.gate.asked = func() {
				asked++
				w.gate.inactive = asked == c.asked
			}
			got := c.send(w)
			if strings.HasSuffix(got, " T") { // in a block a Sync commits nothing
				w.gate.inactive = true
				got = w.query("COMMIT")
			}
			did := w.link.did()
			if !strings.HasSuffix(got, "ERROR 42501 "+state) || strings.Contains(did, "sync") || !block && did != "" && !strings.HasSuffix(did, "rolled back") {
				t.Errorf("%s, in a block %v: %s %q", name, block, got, did)
			}
		}
	}
}

// Ensure a statement is run again where it is alone, and nowhere else: what was told done
// before would be undone with it.
func TestAgainAlone(t *testing.T) {
	const constant = "SELECT 5 FROM conversations"
	w := greeted(t)
	w.link.fails["$2"] = pgError("42804", "without its constant, $2 is the server") // else it has $1 alone
	w.is(w.query(constant), "columns() row() <SELECT 1> I")
	w.send(step(all)...)
	w.is(w.query(constant), "parsed bound row() <SELECT 1> ERROR 42804 I")
	w.query("BEGIN")
	w.is(w.query(constant), "ERROR 42804 E")
}

// Ensure a text is not run with its constants because there was no place to decide on it without them: each value would make another text
// of it, while there is too much to do already.
func TestOverloadedTextKeepsItsShape(t *testing.T) {
	w := greeted(t)
	asked := 0
	w.gate.says = func(string) error {
		if asked++; asked == 1 {
			return proxy.HeldBack(nil)
		}
		return nil
	}
	if got := w.query("SELECT content FROM messages WHERE id = 'secret'"); !strings.Contains(got, "ERROR 53300") || asked != 1 {
		t.Errorf("asked %d times: %s", asked, got)
	}
	if len(w.link.ran) != 0 {
		t.Error(w.link.ran)
	}
}
