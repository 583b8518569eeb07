package wire

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// canary is a value that must not come out in the log.
const canary = "c4n4ry"

// lines gives those of the log that are about statements.
func (j *journal) lines() []string {
	return slices.DeleteFunc(strings.Split(j.String(), "\n"), func(line string) bool { return !strings.Contains(line, `msg="statement `) })
}

// Ensure each error that a client is told has one line, which says what an operator looks for and holds no value.
func TestRealErrorsAreLogged(t *testing.T) {
	w, admin := onPostgres(t)
	w.query("SELECT 1") // before it is asked who the client is, no policy is known
	if _, err := admin.Exec(t.Context(), "ALTER TABLE notes ADD CONSTRAINT late UNIQUE (body) DEFERRABLE INITIALLY DEFERRED"); err != nil {
		t.Fatal(err)
	}
	query := func(text string) func() string { return func() string { return w.query(text) } }
	extended := func(text string, args ...string) func() string {
		return func() string { return w.pipe(step(text, args...)...) }
	}
	cast := "SELECT $1::text::int"
	for name, c := range map[string]struct {
		send        func() string
		attributes  string // behind the key
		fingerprint string // of which text; "" for none
	}{
		"a table that is not listed": {query("SELECT '" + canary + "' FROM secrets"), "refused code=table_not_allowed policy=inject rule=table sqlstate=42501 @ position=22", "SELECT ? FROM secrets"},
		"a value as a table":         {query(`SELECT 1 FROM "` + canary + `"`), "refused code=table_not_allowed policy=inject rule=table sqlstate=42501 @ position=15", `SELECT 1 FROM "` + canary + `"`},
		"a value as a column":        {query(`SELECT "` + canary + `" FROM notes`), "failed code=query_failed policy=inject sqlstate=42703 @ position=8", `SELECT "` + canary + `" FROM notes`},
		"a function":                 {extended("SELECT pg_read_file($1)", canary), "refused code=function_not_allowed policy=inject rule=function sqlstate=42501 @ position=8", "SELECT pg_read_file($1)"},
		"no SQL":                     {query("SELECT '" + canary + "' FRM notes n"), "refused code=syntax_error policy=inject rule=grammar sqlstate=42601 @ position=21", "SELECT ? FRM notes n"},
		"no end of a literal":        {query("SELECT '" + canary), "refused code=syntax_error policy=inject rule=grammar sqlstate=42601 position=8", ""},
		"a literal that fails":       {query("SELECT '" + canary + "'::text::int"), "failed code=query_failed policy=inject sqlstate=22P02 @", cast},
		"a parameter that fails":     {extended(cast, canary), "failed code=query_failed policy=inject sqlstate=22P02 @", cast},
		"a constraint":               {extended("INSERT INTO notes (id, body) VALUES (1, $1)", canary), "failed code=constraint_violation policy=inject sqlstate=23505 @", "INSERT INTO notes (id, body) VALUES (?)"},
		"a constraint at the commit": {query("INSERT INTO notes (id, body) VALUES (7, 'a')"), "failed code=constraint_violation policy=inject sqlstate=23505 @", "INSERT INTO notes (id, body) VALUES (?)"},
		"the second of a script":     {query("SELECT id FROM notes; SELECT '" + canary + "' FROM secrets"), "refused code=table_not_allowed policy=inject rule=table sqlstate=42501 @ position=44", "SELECT ? FROM secrets"},
		"a statement of no name":     {func() string { return w.pipe(&pgproto3.Bind{PreparedStatement: canary}) }, "failed code=query_failed policy=inject sqlstate=26000", ""},
		"too few parameters":         {extended("SELECT id FROM notes WHERE body = $1"), "refused code=argument_count policy=inject rule=argument sqlstate=08P01 @", "SELECT id FROM notes WHERE body = ?"},
		"a row of a COPY": {func() string {
			w.send(&pgproto3.Query{String: "COPY notes (id, body) FROM STDIN"}, &pgproto3.CopyData{Data: []byte(canary + "\tx\n" + strings.Repeat("2\ty\n", 500))}, &pgproto3.CopyDone{})
			return w.answers()
		}, "failed code=invalid_argument policy=inject rule=argument sqlstate=22P02 @", "COPY notes (id, body) FROM STDIN"},
	} {
		before := len(w.log.lines())
		told := c.send()
		lines := w.log.lines()[before:]
		if len(lines) != 1 || !strings.Contains(told, "ERROR") {
			t.Errorf("%s: told %s, and %d lines: %s", name, told, len(lines), strings.Join(lines, "\n"))
			continue
		}
		word, rest, _ := strings.Cut(strings.Replace(c.attributes, "@", "fingerprint="+policy.Fingerprint(c.fingerprint), 1), " ")
		want := `level=INFO msg="statement ` + word + `" server=` + ownID + ` project=shop remote=` + w.conn.LocalAddr().String() + ` key=4b0000000000 ` + rest
		if _, got, _ := strings.Cut(lines[0], " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	if strings.Contains(w.log.String(), canary) || strings.Contains(w.log.String(), "4b0000000000f") {
		t.Errorf("a value is in the log: %s", w.log)
	}
}

// Ensure what succeeds, and what a client sends behind an error, has no line.
func TestSuccessesAreNotLogged(t *testing.T) {
	w := greeted(t)
	w.query(all)
	w.query("BEGIN; SELECT id FROM messages; COMMIT")
	w.pipe(step(all)...)
	if lines := w.log.lines(); len(lines) != 0 {
		t.Errorf("%q", lines)
	}
	w.pipe(slices.Concat(step("SELECT 1 FROM secrets"), step("SELECT 2 FROM secrets"))...)
	w.is(w.query("SELECT id FROM messages; SELECT 1 FROM secrets; SELECT 1 FROM secrets"), "columns() row() <SELECT 1> ERROR 42501@40 I")
	if lines := w.log.lines(); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}

// Ensure a step that fails is the one that the line is about, whatever came behind it.
func TestLineIsAboutTheStepThatFailed(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = pgError("22012", "division by zero")
	w.pipe(slices.Concat(step("SELECT id FROM messages"), step(point, "x"), step("SELECT 1 FROM secrets"))...)
	lines := w.log.lines()
	if len(lines) != 1 || !strings.Contains(lines[0], "fingerprint="+policy.Fingerprint(point)) {
		t.Errorf("%q", lines)
	}
}

// Ensure a project has 20 lines in a second on refusals, as many on causes and one for each that counts the others, and that
// faults of tenantgate's own are never left out.
func TestLinesOnStatementsAreBounded(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "away", Cause: errGone}
	w.link.fails["files"] = &proxy.Error{Code: policy.Internal, Message: "a defect", Cause: errGone}
	for range 100 {
		w.query("SELECT 1 FROM secrets")
	}
	for range 50 {
		w.query("SELECT content FROM messages")
		w.query("SELECT id FROM files")
	}
	for end := time.Now().Add(5 * time.Second); strings.Count(w.log.String(), "left_out=") < 2 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	log := w.log.String()
	for _, part := range []string{"were left out\" lines=statements project=shop left_out=", "were left out\" lines=causes project=shop left_out="} {
		if !strings.Contains(log, part) {
			t.Errorf("there is no %s", part)
		}
	}
	if refused, warned, wrong := strings.Count(log, "statement refused"), strings.Count(log, "level=WARN"), strings.Count(log, "level=ERROR"); refused < 20 || refused > 60 ||
		warned < 20 || warned > 40 || wrong != 50 {
		t.Errorf("%d lines on refusals, %d on causes, %d on faults", refused, warned, wrong)
	}
}

// Ensure a client that the gate does not know now has a line that names no policy: whose it would be is not known.
func TestLineOfNoPolicy(t *testing.T) {
	w := greeted(t)
	w.gate.holder = &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the store is away", Cause: errGone}
	w.query("SELECT '" + canary + "'")
	lines := w.log.lines()
	if len(lines) != 1 || strings.Contains(lines[0], "policy=") || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "error=") || strings.Contains(lines[0], canary) {
		t.Errorf("%q", lines)
	}
}

// Ensure the line of a login that failed is what it was, and the only one.
func TestLineOfAFailedLogin(t *testing.T) {
	d := openDoor(t, nil)
	d.dial(t).login(shop, "sk_"+canary)
	d.logged(t, "Postgres client ended")
	want := regexp.MustCompile(`^time=\S+ level=INFO msg="Postgres client ended" server=` + shop + ` remote=127\.0\.0\.1:\d+ duration_us=\d+ outcome=unauthorized ` +
		`error="password authentication failed for user \\"` + shop + `\\""\n$`)
	if log := d.log.String(); !want.MatchString(log) {
		t.Errorf("%s", log)
	}
}
