package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// probing is a probe with the path that it goes.
type probing struct {
	statement.Probe
	number   int
	path     Path
	prepared bool
}

// probe gives the probe of a number.
func (p *prober) probe(number int) probing {
	r := rand.New(rand.NewPCG(p.cfg.Seed+4, uint64(number))) //nolint:gosec // chance, not secrecy
	values := statement.Values(r.IntN(2))                    //nolint:gosec // 0 or 1
	if p.cfg.Parameters {
		values = statement.Parameters
	}
	q := probing{number: number, path: paths[r.IntN(len(paths))], prepared: r.IntN(3) > 0}
	if p.cfg.Walls == Database {
		q.path = Direct
		q.Probe = p.generator.Probe(p.cfg.Seed, number, statement.None, values)
		return q
	}
	mode := policy.Inject
	if q.path == REST {
		mode = Engine.modes()[r.IntN(3)]
	}
	q.Probe = p.generator.Probe(p.cfg.Seed, number, mode, values)
	if q.path == REST && writes(q.text(p.server)) { // there, a statement is committed
		q.path, q.Probe = Extended, p.generator.Probe(p.cfg.Seed, number, policy.Inject, values)
	}
	_, args := q.NativeText(p.server)
	if len(args) > 0 && !q.path.takesArguments() || q.path.reads() && (writes(q.text(p.server)) || q.First() == "table") {
		q.path = Extended
	}
	return q
}

func (q probing) text(server string) string {
	text, _ := q.NativeText(server)
	return text
}

// probed is what came of a probe.
type probed struct {
	refused   string // the engine's code
	answers   [2]answer
	plans     [2]plan // where they are compared
	differs   bool
	unsettled bool
	slow      bool
	sized     bool // it differs where an index has more pages on one side than on the other
}

// try compares the answers of both sides. Rows of the server's own, inserted beside others' values, may
// split a page of an index on one side alone, and the planner knows the number of pages. Sizes are outside
// the promise: a probe that differs then is tried again with these indexes made anew.
func (p *prober) try(ctx context.Context, q probing) (o probed, err error) {
	for range 2 {
		if o, err = p.compare(ctx, q); err != nil || !o.differs {
			return o, err
		}
		uneven, err := p.uneven(ctx)
		if err != nil || len(uneven) == 0 {
			return o, err
		}
		for _, index := range uneven {
			if err := p.both(ctx, "REINDEX INDEX "+index); err != nil {
				return o, err
			}
		}
	}
	o.differs, o.sized = false, true
	return o, nil
}

// uneven gives the indexes that have another number of pages in D than in D'.
func (p *prober) uneven(ctx context.Context) (indexes []string, err error) {
	var sides [2]answer
	for side, t := range p.sides {
		if sides[side], err = t.admin.run(ctx, request{sql: `SELECT format('%I.%I', nspname, relname), pg_relation_size(c.oid)
			FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relkind = 'i' AND nspname IN ('public', 'shop') ORDER BY 1`}); err != nil {
			return nil, err
		}
	}
	for i, index := range sides[0].rows {
		if index != sides[1].rows[i] {
			name, _, _ := strings.Cut(index, " | ")
			_, name, _ = strings.Cut(name, ":") // row writes a value's length before it
			indexes = append(indexes, name)
		}
	}
	return indexes, nil
}

// compare runs a probe on both sides, and twice more where they differ: a statement whose answer differs
// from itself tells nothing. What a rolled-back transaction leaves in an index may change the answer, so
// that is removed before each further run, and the first one does not count where there is such.
func (p *prober) compare(ctx context.Context, q probing) (o probed, err error) {
	tables := p.written(q)
	for round := range 3 {
		if round > 0 {
			if err := restore(ctx, tables, p.sides[:]...); err != nil {
				return o, err
			}
		}
		for side, t := range p.sides {
			a, err := t.run(ctx, q, p.server)
			if err != nil {
				return o, fmt.Errorf("running %s: %w", q.text(p.server), err)
			}
			counts := round == 2 || round == 1 && len(tables) == 0
			if counts && a.sequence() != o.answers[side].sequence() {
				o.unsettled = true
			}
			o.answers[side] = a
			o.slow = o.slow || a.state == cancelled
			if !p.cfg.Plans {
				continue
			}
			if o.plans[side], err = t.planned(ctx, q, p.server); err != nil {
				return o, fmt.Errorf("planning %s: %w", q.text(p.server), err)
			}
		}
		if o.differs = o.answers[0].sequence() != o.answers[1].sequence() || o.plans[0] != o.plans[1]; !o.differs {
			break
		}
	}
	if c := o.answers[0].code; c != "" && !ofDatabase(string(c)) {
		o.refused = string(c)
	}
	if o.differs && !o.unsettled && !o.slow && o.plans[0] == o.plans[1] {
		if o.unsettled, err = exchanged(o.answers, func(side int) (answer, error) { return p.rerun(ctx, q, tables, side) }); err != nil {
			return o, fmt.Errorf("running %s again: %w", q.text(p.server), err)
		}
	}
	o.differs = o.differs && !o.unsettled && !o.slow
	return o, p.clean(ctx, tables)
}

// rounds is how often a statement whose answers differ runs again on each side: of two orders that
// are equally probable, a side misses one with a probability of 1 to 2^rounds.
const rounds = 32

// exchanged tells whether each side, asked again, gives the answer of the other too, as a statement in
// random order does. That an answer changes is not enough: Postgres may plan the first runs of a statement
// with its values and the later ones without, and then both sides come to one answer.
func exchanged(answers [2]answer, ask func(side int) (answer, error)) (bool, error) {
	var met [2]bool
	for range rounds {
		for side := range met {
			a, err := ask(side)
			if err != nil {
				return false, err
			}
			met[side] = met[side] || a.sequence() == answers[1-side].sequence()
		}
		if met[0] && met[1] {
			return true, nil
		}
	}
	return false, nil
}

// sequence is an answer as one text.
func (a answer) sequence() string {
	return strings.Join([]string{strings.Join(a.columns, "|"), strings.Join(a.rows, "\n"), a.tag, a.state, a.message}, "\n")
}

// rerun runs a probe, which writes these tables, on a side as if nothing had run before.
func (p *prober) rerun(ctx context.Context, q probing, tables []string, side int) (answer, error) {
	if err := restore(ctx, tables, p.sides[side]); err != nil {
		return answer{}, err
	}
	return p.sides[side].run(ctx, q, p.server)
}

// clean removes what rolled-back transactions left in tables, so that the sides stay alike.
func (p *prober) clean(ctx context.Context, tables []string) error {
	if len(tables) == 0 {
		return nil
	}
	return p.both(ctx, "VACUUM "+strings.Join(tables, ", "))
}

// restore removes on some sides what rolled-back transactions left, and makes the indexes anew: by pages that an earlier run
// split, a later one may differ.
func restore(ctx context.Context, tables []string, sides ...*twin) error {
	for _, table := range tables {
		for _, t := range sides {
			if err := t.admin.upkeep(ctx, "VACUUM "+table, "REINDEX TABLE "+table); err != nil {
				return err
			}
		}
	}
	return nil
}

// written gives the tables that a probe writes, each once.
func (p *prober) written(q probing) (tables []string) {
	if len(q.Plant.Tokens) > 0 && q.path != REST && q.path != Direct {
		tables = append(tables, qualified(q.Into))
	}
	if text := q.text(p.server); writes(text) {
		for _, i := range touched(text) {
			if name := qualified(statement.Tables()[i]); !slices.Contains(tables, name) {
				tables = append(tables, name)
			}
		}
	}
	return tables
}

// table finds the name of a table where it is none of a column.
var table = regexp.MustCompile(`(?i)\b(end_users|conversations|messages|files|items|orders|notes|events|tag list|profiles|countries)\b("?\.)?`)

// compares tells a statement that can compare columns of two tables: the planner compares their
// statistics, so that only their absence hides the values.
func compares(text string) bool {
	tables := 0
	for _, name := range table.FindAllString(text, -1) {
		if !strings.HasSuffix(name, ".") {
			tables++
		}
	}
	return tables > 1
}
