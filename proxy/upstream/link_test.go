package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

const linkPolicy = `
apiVersion: tenantgate/v1
kind: Policy
metadata: {name: test}
statement: {kinds: [select, insert, update, delete]}
scope: {column: server_id, mode: inject}
tables:
  notes: {scoped: true}
limits: {statementTimeout: 2s, maxRows: none, maxResultBytes: none}
`

const linkSchema = `
CREATE TABLE notes (server_id text, id int, body text, UNIQUE (server_id, id));
INSERT INTO notes VALUES ('mine', 1, 'a'), ('mine', 2, 'b'), ('other', 1, 'canary')`

// linked is a client of a database, as package wire has one.
type linked struct {
	*bench
	policy *policy.Policy
	link   *Link
	out    frame.Writer
	sent   bytes.Buffer
}

func link(t *testing.T, cfg Config) *linked {
	t.Helper()
	l := &linked{bench: setup(t, cfg, linkSchema)}
	l.decidesBy(linkPolicy)
	l.link = l.pool.Link(proxy.Account{Server: "mine"})
	l.out.To = &l.sent
	t.Cleanup(l.link.Rollback)
	return l
}

// decidesBy compiles the policy that is decided by, with more types than the usual ones.
func (l *linked) decidesBy(rules string, types ...string) {
	l.t.Helper()
	file, err := policy.Parse([]byte(rules))
	if err != nil {
		l.t.Fatal(err)
	}
	schema, err := l.pool.Schema(l.t.Context(), file.TableNames())
	if err != nil {
		l.t.Fatal(err)
	}
	l.policy, err = policy.Compile(file, schema, policy.Sets{Functions: map[string][]string{"@test": {"random"}}, Types: append(types, "int4", "text", "int8", "date"), Operators: strings.Fields("= < > + - * / ||")})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *linked) approve(text string, types ...uint32) *policy.Approved {
	l.t.Helper()
	d := l.policy.Decide(text, policy.Postgres, types...)
	if d.Verdict != policy.Allow {
		l.t.Fatalf("%.200s: %+v", text, d.Refusal)
	}
	return d.Approved
}

// begin gives what opens a transaction.
func (l *linked) begin(text string) policy.Bound {
	l.t.Helper()
	return l.bound(l.approve(text))
}

func (l *linked) bound(a *policy.Approved, args ...string) policy.Bound {
	l.t.Helper()
	var values []policy.Arg
	for _, arg := range args {
		values = append(values, policy.Arg{Kind: policy.String, Text: arg})
	}
	b, reason := a.Bind("mine", values)
	if reason != nil {
		l.t.Fatalf("%+v", reason)
	}
	return b
}

// simple is a step as of a Query message.
func (l *linked) simple(text string) proxy.Step {
	l.t.Helper()
	return proxy.Step{Verb: proxy.Simple, Bound: l.bound(l.approve(text))}
}

// extended are the steps of Parse, Describe, Bind, Describe and Execute.
func (l *linked) extended(text string, args ...string) []proxy.Step {
	l.t.Helper()
	return l.typed(nil, text, args...)
}

func (l *linked) typed(types []uint32, text string, args ...string) []proxy.Step {
	l.t.Helper()
	a := l.approve(text, types...)
	p, b := &proxy.Prepared{Approved: a}, l.bound(a, args...)
	return []proxy.Step{
		{Verb: proxy.Prepare, Prepared: p}, {Verb: proxy.Describe, Prepared: p}, {Verb: proxy.Bind, Prepared: p, Bound: b},
		{Verb: proxy.DescribePortal, Prepared: p, Approved: a}, {Verb: proxy.Execute, Approved: a},
	}
}

// describe runs the first two of extended's steps.
func (l *linked) describe(steps []proxy.Step) {
	l.t.Helper()
	if got, _, err := l.run(proxy.Exchange{Steps: steps[:2], Commit: true}); err != nil {
		l.t.Fatal(got, err)
	}
}

// takeOne has another server take a connection of the pool, within a transaction.
func (l *linked) takeOne() {
	l.t.Helper()
	b, reason := l.approve("SELECT id FROM notes").Bind("other", nil)
	if reason != nil {
		l.t.Fatal(reason)
	}
	if _, err := l.another().link.Run(context.Background(), &proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Simple, Bound: b}}}, &l.out); err != nil {
		l.t.Fatal(err)
	}
	l.out.Buf = l.out.Buf[:0]
}

// run does steps, and gives what the client gets for them, a line for each message.
func (l *linked) run(x proxy.Exchange) (string, proxy.State, error) {
	l.t.Helper()
	state, err := l.link.Run(context.Background(), &x, &l.out)
	if flushed := l.out.Flush(); flushed != nil {
		l.t.Fatal(flushed)
	}
	defer l.sent.Reset()
	return messages(l.t, l.sent.Bytes()), state, err
}

// messages tells what a client gets.
func messages(t testing.TB, b []byte) string {
	t.Helper()
	var lines []string
	front := pgproto3.NewFrontend(bytes.NewReader(b), nil)
	for front.ReadBufferLen() > 0 || len(lines) == 0 || true {
		m, err := front.Receive()
		if err != nil {
			break
		}
		lines = append(lines, line(t, m))
	}
	return strings.Join(lines, "\n")
}

func line(t testing.TB, m pgproto3.BackendMessage) string {
	t.Helper()
	switch m := m.(type) {
	case *pgproto3.DataRow:
		var cells []string
		for _, v := range m.Values {
			cells = append(cells, string(v))
		}
		return "row " + strings.Join(cells, "|")
	case *pgproto3.RowDescription:
		var names []string
		for _, f := range m.Fields {
			names = append(names, fmt.Sprintf("%s:%d:%d", f.Name, f.DataTypeOID, f.Format))
		}
		return "columns " + strings.Join(names, " ")
	case *pgproto3.CommandComplete:
		return "done " + string(m.CommandTag)
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("params ", m.ParameterOIDs)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var typed struct{ Type string }
	if err := json.Unmarshal(text, &typed); err != nil {
		t.Fatal(err)
	}
	return typed.Type
}

func (l *linked) want(x proxy.Exchange, state proxy.State, lines ...string) {
	l.t.Helper()
	got, now, err := l.run(x)
	if err != nil {
		l.t.Errorf("error: %v", err)
	}
	if want := strings.Join(lines, "\n"); got != want || now != state {
		l.t.Errorf("state %c, want %c; got\n%s\nwant\n%s", now, state, got, want)
	}
}

// Ensure a Query's statement answers what Postgres answers to a Query, rows of the server's
// own alone, and that the connection is free after it.
func TestLinkSimple(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	for range 3 {
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id, body FROM notes ORDER BY id")}, Commit: true}, proxy.Idle,
			"columns id:23:0 body:25:0", "row 1|a", "row 2|b", "done SELECT 2")
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("INSERT INTO notes (id, body) VALUES (3, 'c')"), l.simple("DELETE FROM notes WHERE id = 3 RETURNING server_id")}, Commit: true}, proxy.Idle,
		"done INSERT 0 1", "columns server_id:25:0", "row mine", "done DELETE 1")
	if n := l.pool.leased.Load(); n != 0 {
		t.Errorf("%d connections are held", n)
	}
}

// Ensure the extended protocol's messages are answered in their order, also where Postgres
// is not asked, and in the client's own numbering.
func TestLinkExtended(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	for range 3 {
		steps := l.extended("SELECT body, $2::int8 FROM notes WHERE id = $1", "2", "7")
		l.want(proxy.Exchange{Steps: steps, Commit: true}, proxy.Idle,
			"ParseComplete", "params [23 20]", "columns body:25:0 int8:20:0", "BindComplete", "columns body:25:0 int8:20:0", "row b|7", "done SELECT 1")
	}
	steps := l.typed([]uint32{20}, "SELECT body FROM notes WHERE id = $1", "2")
	steps[2].Formats, steps[3].Formats = []int16{1}, []int16{1}
	l.want(proxy.Exchange{Steps: steps, Commit: true}, proxy.Idle,
		"ParseComplete", "params [20]", "columns body:25:0", "BindComplete", "columns body:25:1", "row b", "done SELECT 1")
}

// Ensure a transaction over several exchanges is one, on one connection, and that nothing
// remains of what is rolled back, by whatever.
func TestLinkImplicit(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	add := l.simple("INSERT INTO notes (id) VALUES (9)")
	l.want(proxy.Exchange{Steps: []proxy.Step{add}}, proxy.Open, "done INSERT 0 1")
	l.link.Rollback()
	l.want(proxy.Exchange{Steps: []proxy.Step{add}}, proxy.Open, "done INSERT 0 1")
	got, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT 1/0 FROM notes")}})
	if code := sqlStateOf(err); code != "22012" || state != proxy.Idle || got != "columns ?column?:23:0" && got != "" {
		t.Errorf("%v, state %c: %s", err, state, got)
	}
	got, state, err = l.run(proxy.Exchange{Steps: []proxy.Step{add, l.simple("INSERT INTO notes (id) VALUES (1)"), add}, Commit: true})
	if code := sqlStateOf(err); code != "23505" || state != proxy.Idle || got != "done INSERT 0 1" {
		t.Errorf("%v, state %c: %s", err, state, got)
	}
	if n := l.one("SELECT count(*) FROM notes WHERE id = 9"); n != "0" {
		t.Errorf("%s rows remain", n)
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{add}}, proxy.Open, "done INSERT 0 1")
	l.want(proxy.Exchange{Commit: true, Steps: []proxy.Step{{Verb: proxy.Say, Text: []byte("n\x00\x00\x00\x04")}}}, proxy.Idle, "NoData")
	if n := l.one("SELECT count(*) FROM notes WHERE id = 9"); n != "1" {
		t.Errorf("%s rows were committed", n)
	}
}

// sqlStateOf is what a client would be told.
func sqlStateOf(err error) string {
	var told *proxy.Error
	if !errors.As(err, &told) {
		return ""
	}
	if told.SQLState == "" {
		return proxy.Codes[told.Code].SQLState
	}
	return told.SQLState
}

// Ensure a refusal of Postgres' points at the client's text and names its parameters.
func TestLinkErrors(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	a := l.approve("SELECT id FROM notes WHERE id = body")
	_, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Prepare, Prepared: &proxy.Prepared{Approved: a}}}, Commit: true})
	var told *proxy.Error
	if !errors.As(err, &told) || told.SQLState != "42883" || told.Position != 31 {
		t.Errorf("%+v", err)
	}
	_, _, err = l.run(proxy.Exchange{Steps: l.extended("SELECT id FROM notes WHERE id = $1", "x"), Commit: true})
	if !errors.As(err, &told) || told.Code != policy.InvalidArgument || !strings.HasPrefix(told.Message, "$1: ") {
		t.Errorf("%+v", err)
	}
}

// Ensure rows longer than any buffer pass, and many of them.
func TestLinkLongRows(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.exec("INSERT INTO notes SELECT 'mine', g + 100, repeat('x', CASE WHEN g % 1000 = 0 THEN 200000 ELSE 100 END) FROM generate_series(1, 20000) g")
	got, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id, body FROM notes WHERE id > 100 ORDER BY id")}, Commit: true})
	lines := strings.Split(got, "\n")
	if err != nil || state != proxy.Idle || len(lines) != 20002 || lines[20001] != "done SELECT 20000" || len(lines[1000]) < 200000 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}
