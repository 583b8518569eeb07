package upstream

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// loggedText keeps what a pool logs.
type loggedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *loggedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take gives what was logged since it was last called.
func (l *loggedText) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// withLog is a Config that logs into what it gives.
func withLog() (Config, *loggedText) {
	log := &loggedText{}
	return Config{Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

// asPlain is SQL, before some more, by which every later connection to the database runs as a role with no rights but PUBLIC's.
func asPlain(sql string) string {
	role := pgtest.Name("plain")
	return "CREATE ROLE " + role + "; DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = " + role + "', current_database()); END $do$; SET check_function_bodies = off; " + sql
}

// statement is the case's, on a server of a project of its own.
func (c lackingCase) statement(project string) *statement {
	st := sel(c.named(c.sql))
	if strings.HasPrefix(c.sql, "INSERT") {
		st = write(policy.Insert, false, c.named(c.sql), str(theirs))
	}
	st.server, st.project, st.unapproved().tables = "srv_1", project, []policy.TableName{{Schema: "public", Name: c.named("$T")}}
	switch c.table {
	case "shut":
		st.unapproved().tables[0].Schema = "shut"
	case "several":
		st.unapproved().tables = append(st.unapproved().tables, policy.TableName{Schema: "public", Name: "orders_default"})
	}
	return st
}

func (c lackingCase) named(text string) string {
	return strings.ReplaceAll(text, "$T", "orders_"+c.table)
}

// logged tells whether a log holds the case's line and no other.
func (c lackingCase) logged(st *statement, log string, parameters bool) bool {
	if c.log == "" {
		return log == ""
	}
	want := c.named(c.log)
	if parameters && !strings.Contains(log, "context=") {
		want, _, _ = strings.Cut(want, " context=") // the function's line is neither the first nor the last
	}
	var tables []string
	for _, t := range st.unapproved().tables {
		tables = append(tables, t.Schema+"."+t.Name)
	}
	about := fmt.Sprintf("server=srv_1 project=%s kind=%s tables=%s sqlstate=%s", st.project, st.kind, strings.Join(tables, ","), c.state)
	return strings.Count(log, "\n") == 1 && strings.Contains(log, about) && strings.Contains(log, want) && strings.Contains(log, "error=") == strings.Contains(want, "error=")
}

// Ensure the caller of a statement that fails for what the database lacks gets the statement's table and what to
// ask for, and nothing else's name; and the operator gets Postgres' words as far as they hold no value.
func TestLacking(t *testing.T) {
	for name, ending := range map[string]string{"": "", "with parameters in errors": "DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_parameter_max_length_on_error = 100', current_database()); END $do$"} {
		cfg, log := withLog()
		b := setup(t, cfg, asPlain(lackingSchema+lackingTriggers()+ending))
		for i, c := range lackingCases() {
			st := c.statement(fmt.Sprint("prj_", i))
			for range 2 { // described, then known
				e, line := b.fail(st, policy.QueryFailed), log.take()
				if e.SQLState != c.state || e.Message != c.named(c.message) || e.Hint != c.hint || e.Retryable {
					t.Errorf("%s %s: %s %q, hint %q", c.table, name, e.SQLState, e.Message, e.Hint)
				}
				if strings.Contains(e.Error()+line, "secret") || strings.Contains(e.Message+e.Hint, "audit") {
					t.Errorf("%s %s: told %q, logged %q", c.table, name, e.Error(), line)
				}
				if !c.logged(st, line, name != "") {
					t.Errorf("%s %s: logged %s", c.table, name, line)
				}
			}
		}
	}
}

// Ensure what Postgres says is logged only where all that shows it to be names alone is there.
func TestLackingWords(t *testing.T) {
	const function = "PL/pgSQL function f() line 1 at SQL statement"
	for _, c := range []struct {
		state, routine, where string
		position              int32
		words, place          string
	}{
		{"42P01", "parserOpenTable", function, 8, "words", function},
		{"42P01", "parserOpenTable", function, 0, "", function},
		{"42P01", "parserOpenTable", "SQL statement \"SELECT query_to_xml('…')\"\n" + function, 8, "", function},
		{"42P01", "parserOpenTable", "PL/pgSQL function inline_code_block line 1 at SQL statement", 8, "", ""},
		{"42501", "aclcheck_error", "", 0, "words", ""},
		{"42501", "set_config_option", function, 0, "", function},
		{"42501", "pgfdw_report_error", "remote SQL command: SELECT\n" + function + "\nsecret", 0, "", ""},
		{"42501", "aclcheck_error", "SQL statement \"\n" + function + "\n\"\nunnamed portal with parameters: $1 = 'secret', $2 = NULL", 0, "words", ""},
	} {
		pg := pgError(c.state, "ERROR")
		pg.Message, pg.Routine, pg.Where, pg.InternalPosition = "words", c.routine, c.where, c.position
		if l := lackOf(pg); l.words != c.words || l.place != c.place {
			t.Errorf("%+v: got %q, %q", c, l.words, l.place)
		}
	}
}

// Ensure an error of which a part was cut off, so that nobody knows whose it is, is none of the statement's own.
func TestLackingCutOff(t *testing.T) {
	st, pg := sel("SELECT id FROM orders"), pgError("42501", "ERROR")
	st.unapproved().tables = []policy.TableName{{Schema: "public", Name: "orders"}}
	pg.Message, pg.Where = "permission denied for table orders", hidden
	for routine, want := range map[string]string{"": "Postgres refused the statement with SQLSTATE 42501", "aclcheck_error": behind + "orders" + noRight} {
		pg.Routine = routine
		if e := (&failure{err: pg}).explain(t.Context(), st); e.Message != want {
			t.Errorf("%q: %q", routine, e.Message)
		}
	}
}

// Ensure the lines are bounded for each project.
func TestLackingLinesAreBounded(t *testing.T) {
	cfg, log := withLog()
	b := setup(t, cfg, asPlain("CREATE TABLE mine (id int)"))
	for _, project := range []string{"a", "b"} {
		st := sel("SELECT id FROM mine")
		st.project = project
		for range 300 {
			b.fail(st, policy.QueryFailed)
		}
	}
	lines := log.take()
	b.eventually("it is logged what was left out", func() bool { lines += log.take(); return strings.Count(lines, "lines on failures were left out") >= 2 })
	for _, project := range []string{"a", "b"} {
		if n := strings.Count(lines, " project="+project+" "); n < 20 || n > 200 {
			t.Errorf("%d lines of 300 for %s", n, project)
		}
	}
}

// Ensure a client's link has the same, whatever of a statement it is that fails, and a constraint trigger that waits for the COMMIT is no table's.
func TestLinkLacking(t *testing.T) {
	cfg, log := withLog()
	l := &linked{bench: setup(t, cfg, asPlain(linkSchema+`; GRANT ALL ON notes TO PUBLIC; CREATE TABLE audit (); CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit DEFAULT VALUES; RETURN NEW; END $$;
		CREATE TRIGGER a BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION fire(); CREATE CONSTRAINT TRIGGER b AFTER UPDATE ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire()`))}
	l.decidesBy(linkPolicy)
	l.link = l.pool.Link(proxy.Account{Server: "mine", Project: "prj_1"})
	l.out.To = &l.sent
	t.Cleanup(l.link.Rollback)
	fails := func(x proxy.Exchange, message string) {
		t.Helper()
		_, _, err := l.run(x)
		e, line := refusal(t, err, policy.QueryFailed, message), log.take()
		if e.SQLState != "42501" || e.Message != message || !strings.Contains(line, "server=mine project=prj_1") || !strings.Contains(line, `error="permission denied for table audit"`) {
			t.Errorf("%s %q, logged %q", e.SQLState, e.Message, line)
		}
	}
	const put, change = "INSERT INTO notes (id) VALUES (7)", "UPDATE notes SET body = 'x'"
	fails(proxy.Exchange{Steps: []proxy.Step{l.simple(put)}, Commit: true}, behind+"notes"+noRight)
	fails(proxy.Exchange{Steps: l.extended(put), Commit: true}, behind+"notes"+noRight)
	fails(proxy.Exchange{Steps: []proxy.Step{l.simple(change)}, Commit: true}, strings.TrimSuffix(behind, "behind table ")+"in the database"+noRight)
	fails(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(change), l.simple("COMMIT")}}, strings.TrimSuffix(behind, "behind table ")+"in the database"+noRight)
	l.exec("REVOKE ALL ON notes FROM PUBLIC")
	_, _, err := l.run(proxy.Exchange{Steps: l.extended(put), Commit: true})
	if e := refusal(t, err, policy.QueryFailed, put); e.Message != "the service's database role lacks a grant on table notes that this INSERT needs" {
		t.Errorf("%q", e.Message)
	}
}
