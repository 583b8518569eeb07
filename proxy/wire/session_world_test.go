package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

const ownID = "0190b2a7-6f6e-7c3d-9b1a-3c5d7e9f1a2b"

// deciding is a gate with the policy that the listener has by default.
type deciding struct {
	mu       sync.Mutex
	policy   *policy.Policy
	kept     map[string]*policy.Approved
	holder   error // what Holder says, if not nil
	forgets  bool  // what it has decided
	within   bool  // a transaction, the last one was checked
	held     int   // times that it was asked
	stands   func() bool
	inactive bool
	budget   int           // statements that are left
	waits    time.Duration // how long Admit takes, and Refresh
	admitted int
	paced    int
	checked  int
	asked    func()                     // is called by Holder, if not nil
	changed  func(since time.Time) bool // what Refresh says of the schema; nil: false
	says     func(text string) error    // what Check says first, if not nil
}

func newDeciding(t testing.TB) *deciding {
	t.Helper()
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(file, schema, policy.Sets{
		Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &deciding{policy: p, kept: map[string]*policy.Approved{}, budget: 1 << 30}
}

func (*deciding) Verifier(context.Context, proxy.Account, string) (proxy.Verifier, error) {
	return proxy.Verifier{}, nil
}

func (g *deciding) Recheck(_ context.Context, id string, _ proxy.KeyID) (proxy.Session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked != nil {
		g.asked()
	}
	g.held++
	return proxy.Session{Server: proxy.Server{ID: id, Active: !g.inactive}, StillValid: g.stands}, g.holder
}

func (g *deciding) Admit(context.Context, proxy.Subject) (proxy.Place, error) {
	time.Sleep(g.waits)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted++
	return proxy.Place{}, g.spend()
}

func (g *deciding) Refresh(_ context.Context, since time.Time) (bool, error) {
	time.Sleep(g.waits)
	return g.changed != nil && g.changed(since), nil
}

func (g *deciding) Pace(proxy.Subject) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paced++
	return g.spend()
}

func (g *deciding) PolicyName(proxy.Subject) string { return "inject" }

func (g *deciding) spend() error {
	if g.budget--; g.budget < 0 {
		return proxy.Refuse(proxy.RateLimited, "slow down")
	}
	return nil
}

func (g *deciding) Check(_ context.Context, s proxy.Subject, text string) (*policy.Approved, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checked++
	g.within = s.InTransaction
	if g.says != nil {
		if err := g.says(text); err != nil {
			return nil, err
		}
	}
	if known := g.kept[text]; known != nil && len(s.Types) == 0 {
		return known, nil
	}
	text = strings.Clone(text)
	d := g.policy.Decide(text, s.Dialect, s.Types...)
	if d.Verdict != policy.Allow {
		return nil, proxy.FromRefusal(d.Refusal)
	}
	if len(s.Types) == 0 && !g.forgets {
		g.kept[text] = d.Approved
	}
	return d.Approved, nil
}

// scripted is a link that answers each step as if one row was there, and fails those whose
// text has a word that fails.
type scripted struct {
	mu     sync.Mutex
	ran    []string // what was run, in few words
	fails  map[string]*proxy.Error
	zones  string           // that is refused
	open   bool             // a transaction is
	bound  *policy.Approved // the last one
	named  bool             // it was begun by name
	before func(ctx context.Context, sql string)
	after  func() // all steps were done
}

func (l *scripted) Run(ctx context.Context, x *proxy.Exchange, out *frame.Writer) (proxy.State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var said []string
	if x.Begin.Valid() {
		said = append(said, "{"+x.Begin.SQL()+"}")
		if l.open {
			said = append(said, "BEGIN WITHIN ONE")
		}
		l.named = true
	}
	if x.Resettle || !l.open && len(x.Settings) > 0 {
		said = append(said, fmt.Sprintf("%v", x.Settings))
		for _, s := range x.Settings {
			if s.Value() == l.zones && s.Value() != "" {
				l.ran = append(l.ran, strings.Join(said, " "))
				return l.failed(pgError("22023", "Postgres refused the statement with SQLSTATE 22023"))
			}
		}
	}
	l.open = l.open || len(x.Steps) > 0
	for i := range x.Steps {
		x.Done = i
		step := &x.Steps[i]
		sql, isValid := "", step.Bound.Valid()
		if isValid {
			sql = step.Bound.SQL()
		}
		if step.Prepared != nil {
			sql = step.Prepared.Approved.Rewritten()
		}
		said = append(said, fmt.Sprint([...]string{"say", "parse", "describe", "bind", "describeportal", "execute", "closeportal", "simple", "quiet", "copied"}[step.Verb]))
		if l.before != nil {
			l.before(ctx, sql)
		}
		hasArgs := step.Verb == proxy.Bind || step.Verb == proxy.Simple || step.Verb == proxy.Quiet
		if hasArgs && len(step.Bound.Params()) > 0 {
			var values []string
			for _, p := range step.Bound.Params() {
				switch {
				case p.Index < 0:
				case p.Value.Kind == policy.Null:
					values = append(values, "null")
				default:
					values = append(values, strconv.Quote(p.Value.Text))
				}
			}
			said = append(said, fmt.Sprint(values))
		}
		for word, err := range l.fails {
			if strings.Contains(sql, word) || word == step.Portal && step.Verb == proxy.Execute {
				l.ran = append(l.ran, strings.Join(said, " ")+" failed")
				again := *err
				return l.failed(&again)
			}
		}
		if err := ctx.Err(); err != nil {
			l.ran = append(l.ran, strings.Join(said, " ")+" cancelled")
			return l.failed(&proxy.Error{Code: proxy.StatementTimeout, Message: "cancelled", Cause: context.Cause(ctx)})
		}
		l.answer(x, step, out)
	}
	x.Done = len(x.Steps)
	if l.after != nil {
		l.after()
	}
	if x.Commit {
		said = append(said, "sync")
		if !l.named {
			l.open = false
		}
	}
	l.ran = append(l.ran, strings.Join(said, " "))
	if l.open {
		return proxy.Open, nil
	}
	return proxy.Idle, nil
}

func (l *scripted) failed(err *proxy.Error) (proxy.State, error) {
	if l.named && l.open {
		return proxy.Failed, err
	}
	l.open, l.named = false, false
	return proxy.Idle, err
}

func (l *scripted) answer(x *proxy.Exchange, step *proxy.Step, out *frame.Writer) {
	row := func() {
		at := out.Open(frame.DataRow)
		out.Int16(0)
		out.Shut(at)
	}
	description := func() {
		at := out.Open(frame.RowDescription)
		out.Int16(0)
		out.Shut(at)
	}
	switch step.Verb {
	case proxy.Say:
		out.Raw(step.Text)
	case proxy.Copied:
		out.Complete(fmt.Sprint("COPY ", step.Before+x.Inserted))
	case proxy.Prepare:
		out.Empty(frame.ParseComplete)
	case proxy.Bind:
		l.bound = step.Bound.Approved()
		out.Empty(frame.BindComplete)
	case proxy.ClosePortal:
		out.Empty(frame.CloseComplete)
	case proxy.Describe:
		at := out.Open(frame.ParameterDescription)
		out.Int16(0)
		out.Shut(at)
		description()
	case proxy.DescribePortal:
		description()
	case proxy.Execute:
		row()
		out.Complete("SELECT 1")
	case proxy.Simple:
		if verb, _, _ := strings.Cut(step.Bound.SQL(), " "); step.Bound.Kind() == "" {
			switch verb = strings.ToUpper(verb); verb {
			case "COMMIT", "END", "ABORT":
				l.open, l.named = false, false
			case "ROLLBACK":
				if !strings.Contains(strings.ToUpper(step.Bound.SQL()), " TO ") {
					l.open, l.named = false, false
				}
			}
			out.Complete(verb)
			return
		}
		description()
		row()
		out.Complete("SELECT 1")
	case proxy.Quiet:
		x.Inserted++
		if step.Bound.SQL() == "COMMIT" {
			l.open, l.named = false, false
		}
	}
}

func (l *scripted) Rollback() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open || l.named {
		l.ran = append(l.ran, "rolled back")
	}
	l.open, l.named = false, false
}

// did gives what was run since it was asked last.
func (l *scripted) did() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ran := strings.Join(l.ran, "; ")
	l.ran = nil
	return ran
}

// tally counts what a recorder is told.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (*tally) Connection(string)             {}
func (*tally) Stage(string, float64)         {}
func (c *tally) Rejected(code, front string) { c.count("rejected " + code + " " + front) }
func (c *tally) Statement(kind, code string) { c.count("statement " + kind + " " + code) }
func (c *tally) Evicted(string, bool)        { c.count("evicted") }
func (c *tally) Short(what, whose string)    { c.count("short of " + what + ": " + whose) }
func (c *tally) TransactionEnded(why string) { c.count("transaction ended: " + why) }
func (c *tally) Overridden(n int)            { c.count(fmt.Sprintf("overridden %d", n)) }

func (c *tally) count(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[name]++
}

func (c *tally) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[name]
}

// sitting is one session and its client.
type sitting struct {
	t      testing.TB
	gate   *deciding
	link   *scripted
	tally  *tally
	log    *journal
	client *client
	conn   net.Conn
	front  *pgproto3.Frontend
	ended  chan error
	cancel context.CancelCauseFunc
}

// sit has a session serve a client that has authenticated.
func sit(t testing.TB, settings ...asked) *sitting {
	t.Helper()
	link := &scripted{fails: map[string]*proxy.Error{}}
	w := sitOn(t, newDeciding(t), link, settings)
	w.link = link
	return w
}

func sitOn(t testing.TB, gate *deciding, link Link, settings []asked) *sitting {
	t.Helper()
	w := &sitting{t: t, gate: gate, tally: &tally{counts: map[string]int{}}, log: &journal{}, ended: make(chan error, 1)}
	server, err := New(Config{
		Gate: w.gate, Open: func(proxy.Account) Link { return link }, Recorder: w.tally,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)), TLSMode: TLSDisable, ServerVersion: func() string { return "15.4" },
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if w.conn, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := server.newClient(accepted)
	c.serverID, c.projectID, c.key, c.asked, c.process, c.secret = ownID, "shop", proxy.KeyID{0x4b, 6: 0xff}, settings, 7, 9
	c.socket.left = -1
	c.phase.Store(uint32(active))
	c.lendBuffer()
	w.client = c
	ctx, cancel := context.WithCancelCause(t.Context())
	w.cancel = cancel
	w.front = pgproto3.NewFrontend(w.conn, w.conn)
	go func() {
		err := guarded(func() error { return newSession(c).run(ctx) })
		server.end(c, err)
		w.ended <- err
	}()
	t.Cleanup(w.close)
	return w
}

func (w *sitting) close() {
	_ = w.conn.Close()
	select {
	case err := <-w.ended:
		w.ended <- err
	case <-time.After(5 * time.Second):
		w.t.Error("the session did not end")
	}
}

// greeted takes in what the session begins with.
func greeted(t testing.TB, settings ...asked) *sitting {
	t.Helper()
	w := sit(t, settings...)
	w.answers()
	return w
}

// answers gives what comes up to a ReadyForQuery or the end, in few words.
func (w *sitting) answers() string {
	w.t.Helper()
	return w.until(1)
}

// until gives what comes up to the n-th ReadyForQuery.
func (w *sitting) until(n int) string {
	w.t.Helper()
	var all []string
	for n > 0 {
		_ = w.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		m, err := w.front.Receive()
		if err != nil {
			return strings.Join(append(all, "end"), " ")
		}
		all = append(all, inWords(m))
		if _, ready := m.(*pgproto3.ReadyForQuery); ready {
			n--
		}
	}
	return strings.Join(all, " ")
}

func inWords(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.ParseComplete:
		return "parsed"
	case *pgproto3.BindComplete:
		return "bound"
	case *pgproto3.CloseComplete:
		return "closed"
	case *pgproto3.NoData:
		return "nodata"
	case *pgproto3.EmptyQueryResponse:
		return "empty"
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("params", m.ParameterOIDs)
	case *pgproto3.RowDescription:
		var columns []string
		for _, f := range m.Fields {
			columns = append(columns, fmt.Sprintf("%s:%d", f.Name, f.DataTypeOID))
		}
		return "columns(" + strings.Join(columns, ",") + ")"
	case *pgproto3.DataRow:
		var values []string
		for _, v := range m.Values {
			values = append(values, string(v))
		}
		return "row(" + strings.Join(values, ",") + ")"
	case *pgproto3.CommandComplete:
		return "<" + string(m.CommandTag) + ">"
	case *pgproto3.ErrorResponse:
		text := m.Severity + " " + m.Code
		if m.Position != 0 {
			text += fmt.Sprint("@", m.Position)
		}
		if m.Where != "" {
			text += " " + m.Where
		}
		return text
	case *pgproto3.NoticeResponse:
		return m.Severity + " " + m.Code
	case *pgproto3.ParameterStatus:
		return m.Name + "=" + m.Value
	case *pgproto3.BackendKeyData:
		return fmt.Sprintf("key(%d)", m.ProcessID)
	case *pgproto3.ReadyForQuery:
		return string(m.TxStatus)
	case *pgproto3.CopyInResponse:
		return fmt.Sprint("copyin", m.OverallFormat, m.ColumnFormatCodes)
	}
	return fmt.Sprintf("%T", m)
}

// send sends messages at once.
func (w *sitting) send(messages ...pgproto3.FrontendMessage) {
	w.t.Helper()
	for _, m := range messages {
		w.front.Send(m)
	}
	if err := w.front.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

// query sends a Query and gives its answers.
func (w *sitting) query(text string) string {
	w.t.Helper()
	w.send(&pgproto3.Query{String: text})
	return w.answers()
}

// pipe sends messages and a Sync, and gives the answers.
func (w *sitting) pipe(messages ...pgproto3.FrontendMessage) string {
	w.t.Helper()
	w.send(append(messages, &pgproto3.Sync{})...)
	return w.answers()
}

// step sends Parse, Bind and Execute of a text without a name.
func step(text string, args ...string) []pgproto3.FrontendMessage {
	bind := &pgproto3.Bind{}
	for _, a := range args {
		bind.Parameters = append(bind.Parameters, []byte(a))
	}
	return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: text}, bind, &pgproto3.Execute{}}
}

func (w *sitting) is(got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("got  %s\nwant %s", got, want)
	}
}
