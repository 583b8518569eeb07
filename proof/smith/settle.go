package smith

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"
)

// compare holds an answer against those of the server's own database.
func (r *replay) compare(ctx context.Context, statement string, got answer) error {
	first, err := r.own.run(ctx, statement)
	if err != nil {
		return fmt.Errorf("the server's own database: %w", err)
	}
	if !got.equal(first) && got.columns != first.columns {
		if first, err = r.own.described(ctx, statement, first); err != nil {
			return fmt.Errorf("the server's own database: %w", err)
		}
	}
	if got.equal(first) {
		r.report.Compared++
		return nil
	}
	for _, settle := range []func(context.Context, string, answer, answer) (bool, error){r.repeated, r.varied, r.unlimited, r.pinned, r.behind} {
		settled, err := settle(ctx, statement, got, first)
		if err != nil {
			return fmt.Errorf("the server's own database: %w", err)
		}
		if settled {
			r.report.Unsettled++
			return nil
		}
	}
	r.report.Compared++
	r.mismatch(got, first, statement)
	return nil
}

// repeated tells whether the server's own database answers in more than one way: with its rows
// in another order, or asked again.
func (r *replay) repeated(ctx context.Context, statement string, _, first answer) (bool, error) {
	for _, again := range []*client{r.other, r.own, r.other, r.own} {
		second, err := again.run(ctx, statement)
		if err != nil {
			return false, err
		}
		if first.state == cancelled || second.state == cancelled || !first.equal(second) {
			return true, nil
		}
	}
	return false, nil
}

// varied tells whether the server's own database gives the answer with another plan.
func (r *replay) varied(ctx context.Context, statement string, got, _ answer) (bool, error) {
	for _, turn := range r.cfg.Variants {
		for _, c := range []*client{r.other, r.own} {
			a, err := c.with(ctx, turn, statement)
			if err != nil || a.equal(got) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// again runs a statement at the gate for one that came through it.
func (r *replay) again(ctx context.Context, statement string) (answer, error) {
	got, err := r.gate.run(ctx, statement)
	if err != nil {
		return got, err
	}
	return got, r.restore(ctx)
}

// limit is a LIMIT that is no other's OFFSET's. sqlsmith orders nothing, so which rows it takes
// is the plan's choice.
var limit = regexp.MustCompile(`\blimit \d+(\s*(?:\)|$))`)

// drawn is a value that is another one in each row and run.
var drawn = regexp.MustCompile(`\b(?:pg_catalog\.)?gen_random_uuid\(\)`)

// steady puts two constants by turns in the place of values that are drawn.
func steady(statement string) string {
	n := 0
	return drawn.ReplaceAllStringFunc(statement, func(string) string {
		n++
		return [2]string{"cast('ffffffff-ffff-ffff-ffff-ffffffffffff' as uuid)", "cast('00000000-0000-0000-0000-000000000000' as uuid)"}[n%2]
	})
}

// unlimited tells whether the answers are the same without LIMITs. Which rows a LIMIT takes of those that a drawn value admits can
// be the same rows of one plan each time, and others of another; without one that value alone would make two answers.
func (r *replay) unlimited(ctx context.Context, statement string, _, _ answer) (bool, error) {
	without := limit.ReplaceAllString(statement, "$1")
	if without == statement || r.gate == nil {
		return false, nil
	}
	without = steady(without)
	got, err := r.again(ctx, without)
	if err != nil || got.state != "" {
		return false, err
	}
	own, err := r.own.run(ctx, without)
	return got.equal(own), err
}

// chosen is a sub-query that takes the value of some row. sqlsmith orders nothing, so which
// one that is depends on where the table's rows lie.
var chosen = regexp.MustCompile(`\(select (\w+) from (\w+\.\w+) limit 1 offset \d+\s*\)`)

// pinned tells whether the answers are the same where each such sub-query takes a row with the
// value that the gate's has, or else are those of the walls in front of the server's rows alone.
func (r *replay) pinned(ctx context.Context, statement string, _, _ answer) (bool, error) {
	if r.gate == nil || !chosen.MatchString(statement) {
		return false, nil
	}
	known := true
	same := chosen.ReplaceAllStringFunc(statement, func(query string) string {
		value, ok := r.gate.literal(ctx, query)
		known = known && ok
		of := chosen.FindStringSubmatch(query)
		return fmt.Sprintf("(select %s from %s where cast(%[1]s as text) is not distinct from %[3]s limit 1)", of[1], of[2], value)
	})
	if !known {
		return false, nil
	}
	got, err := r.again(ctx, same)
	if err != nil {
		return false, err
	}
	own, err := r.own.run(ctx, same)
	if err != nil || got.equal(own) {
		return err == nil, err
	}
	return r.behind(ctx, same, got, own)
}

// literal gives what a query of one value answers as a constant of SQL, unless it is refused. A
// connection that is lost is noticed when it is used next.
func (c *client) literal(ctx context.Context, query string) (constant string, ok bool) {
	results, err := c.conn.Exec(ctx, "SELECT quote_nullable(cast("+query+" as text))").ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		return "", false
	}
	return string(results[0].Rows[0][0]), true
}

// described gives an answer the columns that a Describe of the statement tells, as tenantgate asks.
// In the simple protocol Postgres tells those of the plan, where a constant that is gone can
// leave char(6) of what was any bpchar.
func (c *client) described(ctx context.Context, statement string, a answer) (answer, error) {
	d, err := c.conn.Prepare(ctx, "", statement, nil)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Severity != "FATAL":
		return a, nil
	case err == nil:
		a.columns = columns(d.Fields)
	}
	return a, err
}

// with runs a statement under a setting, which is made and undone.
func (c *client) with(ctx context.Context, turn [2]string, statement string) (answer, error) {
	if a, err := c.ask(ctx, turn[0]); err != nil || a.state != "" {
		return a, errors.Join(err, failed(turn[0], a))
	}
	a, err := c.run(ctx, statement)
	if err != nil {
		return a, err
	}
	undone, err := c.ask(ctx, turn[1])
	return a, errors.Join(err, failed(turn[1], undone))
}
