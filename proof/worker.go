package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// place is a copy of a server's databases, with a session on each. Whatever runs there is
// rolled back, so one run after the other can use it.
type place struct {
	server   string
	shared   *session
	own      *session
	shuffled *session
	baseline map[int]string // what the check of each table says of the others' rows, untouched
	url      string         // of the shared database
	kept     map[int]sides  // of the listener's world: what the rows of each table are, untouched
}

// worker runs statements of one server.
type worker struct {
	*place
	role     string
	signed   signed
	policies map[policy.ScopeMode]*policy.Policy
	tamper   func(sql string) string
	listener *listener // nil: statements are sent as it would send them
}

func (w *World) newWorker(ctx context.Context, cfg Config, server int) (*worker, error) {
	walls := cfg.Walls
	p, err := w.place(ctx, server)
	if err != nil {
		return nil, err
	}
	k := &worker{place: p, role: w.role(), signed: signed{p.server, w.key.Sign(p.server)}}
	if walls == Engine || walls == Nothing {
		k.role, k.signed = w.freeRole(), signed{}
	}
	if k.policies, err = compile(ctx, p.url, walls, policy.Generic); err != nil || walls != Listener {
		return k, err
	}
	if err = p.keep(ctx); err == nil {
		k.listener, err = w.listen(ctx, behind{server: p.server, url: p.url, walls: walls, tamper: cfg.pose})
	}
	if err != nil {
		return k, err
	}
	if k.listener.client, err = logIn(ctx, k.listener.addr, p.server); err != nil {
		err = errors.Join(err, k.listener.stop())
	}
	return k, err
}

// leave ends what is the worker's own, and gives its place to who comes next; none where
// others' rows may have been changed for good.
func (k *worker) leave(ctx context.Context, cfg Config) []*place {
	if k.listener != nil {
		_ = k.listener.stop()
	}
	if cfg.pose == nil {
		return []*place{k.place}
	}
	for _, s := range []*session{k.shared, k.own, k.shuffled} {
		s.close(ctx)
	}
	return nil
}

// place gives a place that nobody works at, or a new one.
func (w *World) place(ctx context.Context, server int) (*place, error) {
	for i, p := range w.idle {
		if p.server == Servers[server] {
			w.idle = slices.Delete(w.idle, i, i+1)
			return p, nil
		}
	}
	p := &place{server: Servers[server], baseline: map[int]string{}}
	for _, open := range []struct {
		kind database
		into **session
	}{{shared, &p.shared}, {own, &p.own}, {shuffled, &p.shuffled}} {
		url, err := w.create(ctx, fmt.Sprintf("%s_copy%d", open.kind.of(server), len(w.made)), w.name+"_"+open.kind.of(server))
		if err != nil {
			return nil, err
		}
		whose := ""
		if open.kind == shared {
			whose, p.url = p.server, url
		}
		if *open.into, err = openSession(ctx, url, whose); err != nil {
			return nil, err
		}
	}
	return p, p.measure(ctx)
}

// measure notes what the others' rows are told as before anything is written.
func (p *place) measure(ctx context.Context) error {
	all := make([]int, len(statement.Tables()))
	for i := range all {
		all[i] = i
	}
	a, err := p.shared.run(ctx, request{sql: "SELECT", checks: all})
	if err != nil {
		return err
	}
	for i := range all {
		p.baseline[i] = a.others[i]
	}
	return nil
}

// tidy removes what rolled-back transactions left.
func (p *place) tidy(ctx context.Context) error {
	var names []string
	for _, t := range statement.Tables() {
		names = append(names, qualified(t))
	}
	for _, s := range []*session{p.shared, p.own, p.shuffled} {
		if err := s.upkeep(ctx, "VACUUM (ANALYZE) "+strings.Join(names, ", ")); err != nil {
			return fmt.Errorf("tidying up: %w", err)
		}
	}
	return nil
}

// outcome is what one statement came to.
type outcome struct {
	refused   refusal
	why       string // the engine's words
	fault     Fault
	wrote     bool
	compared  bool
	limited   bool // refused without need, at a known limit
	unsettled bool // the own database itself answers in different ways
	slow      bool
	state     string
	gate      request
	shared    answer
	own       answer
}

// try runs a statement on both sides. chance chooses the plan in the shared database.
func (k *worker) try(ctx context.Context, st statement.Statement, chance *rand.Rand) (outcome, error) {
	var o outcome
	if o.gate, o.refused, o.why = k.gate(st); k.listener != nil {
		o.gate, o.refused, o.why = k.decidedFor(st)
	}
	if o.refused == policy.Internal {
		o.fault = Defect
	}
	if o.refused != "" {
		return o, k.refused(ctx, st, &o, chance)
	}
	if o.gate.overridden && (st.Damage || st.Written) || st.Damage && assigns(o.gate.sql) {
		st.Loose = true // a plain database takes the id that was given
	}
	o.gate.settings = chosen(chance)
	if k.tamper != nil {
		o.gate.sql = k.tamper(o.gate.sql)
	}
	plain := k.plain(st)
	if o.wrote = writes(plain.sql); o.wrote {
		o.gate.checks = touched(plain.sql)
		plain.checks = o.gate.checks
	}
	var err error
	if o.shared, o.own, err = k.both(ctx, st, o.gate, plain, chance); err != nil {
		return o, fmt.Errorf("running %q: %w", plain.sql, err)
	}
	if k.policies == nil || k.policies[st.Mode] == nil {
		o.refused = unfit(o.shared.state, o.own.state)
	}
	var baseline []string
	for _, i := range o.gate.checks {
		if k.listener == nil {
			baseline = append(baseline, k.baseline[i])
		} else {
			baseline = append(baseline, k.kept[i].others)
		}
	}
	o.fault, o.compared, o.state = judge(st, o.shared, o.own, baseline), !st.Loose, o.shared.state
	o.limited = limited(o.shared, o.own)
	if o.refused == noRight && o.fault == Mismatch {
		o.fault = ""
	}
	o.slow = o.shared.state == cancelled || o.own.state == cancelled
	if o.fault == Mismatch || o.fault == Rows {
		o.unsettled, err = k.settle(ctx, st, plain, o)
		if o.unsettled {
			o.fault, o.compared = "", false
		}
	}
	return o, err
}

// assigns tells whether the engine put the server's id into the SET of an UPDATE.
func assigns(sql string) bool {
	_, set, found := strings.Cut(strings.ToUpper(sql), "SET ")
	set, _, _ = strings.Cut(set, " WHERE ")
	return found && scopeGiven.MatchString(set)
}

var scopeGiven = regexp.MustCompile(`= *\$\d+::"PG_CATALOG"`)

// unfit is the refusal of a text where no engine says so: it is no statement, or the role
// lacks a right.
func unfit(shared, own string) refusal {
	switch {
	case shared == noRight:
		return refusal(shared)
	case strings.HasPrefix(own, "42"):
		return refusal(own)
	}
	return ""
}

// noRight is the SQLSTATE for what the role must not do.
const noRight = "42501"

// both runs the two sides at the same time.
func (k *worker) both(ctx context.Context, st statement.Statement, gate, plain request, chance *rand.Rand) (d, own answer, err error) {
	done := make(chan error, 1)
	go func() {
		var err error
		own, err = k.own.run(ctx, plain)
		done <- err
	}()
	if k.listener != nil {
		d, err = k.throughListener(ctx, st, gate.checks, gate.checks == nil, chance)
	} else {
		d, err = k.shared.run(ctx, gate)
	}
	if ownErr := <-done; err == nil {
		err = ownErr
	}
	return d, own, err
}

// variant is the default settings with the i-th one turned.
func variant(i int) settings {
	s := defaultSettings()
	if i >= 0 {
		s[i] = planner[i].values[1]
	}
	return s
}

// chosen turns some of the planner's settings.
func chosen(r *rand.Rand) settings {
	s := defaultSettings()
	if r.IntN(100) < 30 {
		return s
	}
	for i, p := range planner {
		if r.IntN(100) < 30 {
			s[i] = p.values[r.IntN(len(p.values))]
		}
	}
	return s
}

// writes tells whether a text could change rows.
func writes(sql string) bool {
	lower := strings.ToLower(sql)
	for _, word := range []string{"insert", "update", "delete"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// cascades are the tables whose rows change with another table's.
var cascades = map[string][]string{
	"end_users": {"conversations", "files"}, "conversations": {"messages", "files"}, "items": {"orders"},
}

// touched gives the tables that a text could change: those that it names, and theirs. Never nil.
func touched(sql string) []int {
	lower := strings.ToLower(sql)
	found := []int{}
	for i, t := range statement.Tables() {
		hit := strings.Contains(lower, strings.ToLower(t.Name))
		for parent, children := range cascades {
			for _, child := range children {
				hit = hit || child == t.Name && strings.Contains(lower, parent)
			}
		}
		if hit && t.ScopeType != "" {
			found = append(found, i)
		}
	}
	return found
}
