package proof

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// reduce makes a differing statement as small as it can be while it differs.
func (p *prober) reduce(ctx context.Context, q probing, o probed) Difference {
	d := Difference{Original: q.text(p.server)}
	fails := func(try probing) bool {
		again, err := p.try(ctx, try)
		return err == nil && again.differs
	}
	if bare := q; len(q.Plant.Tokens) > 0 {
		if bare.Plant = (statement.Statement{}); fails(bare) {
			q = bare
		}
	}
	q.Statement = statement.Shrink(q.Statement, 400, func(try statement.Statement) bool {
		smaller := q
		if p.cfg.Parameters && quoted(try) > quoted(q.Statement) {
			return false
		}
		smaller.Statement = try
		return fails(smaller)
	})
	if again, err := p.try(ctx, q); err == nil && again.differs {
		o = again
	}
	d.probing, d.outcome, d.server = q, o, p.server
	d.Shows = p.shows(ctx, q)
	return d
}

// quoted counts the constants in quotes.
func quoted(st statement.Statement) (n int) {
	for _, t := range st.Tokens {
		if strings.HasPrefix(t.Text, "'") {
			n++
		}
	}
	return n
}

// shows gives the columns without whose statistics, of each alone, there is no difference.
func (p *prober) shows(ctx context.Context, q probing) (columns []string) {
	if p.cfg.Blind {
		return []string{"none: there are no statistics"}
	}
	var tables []*statement.Table
	for _, t := range statement.Tables() {
		if t.ScopeType != "" && regexp.MustCompile(`(?i)\b`+t.Name+`\b`).MatchString(q.text(p.server)) {
			tables = append(tables, t)
		}
	}
	same := func() bool {
		o, err := p.try(ctx, q)
		return err == nil && !o.differs && !o.slow && !o.unsettled
	}
	for _, t := range tables {
		if p.remember(ctx, t) != nil {
			return nil
		}
	}
	if same() {
		return []string{"none: plans that were kept differ"}
	}
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.Kind == statement.Scope {
				continue
			}
			err := p.forget(ctx, t, c.Name)
			if err == nil && same() {
				columns = append(columns, t.Name+"."+c.Name)
			}
			if err != nil || p.remember(ctx, t) != nil {
				return append(columns, "and perhaps more")
			}
		}
	}
	return columns
}

// forget takes a column's statistics from both sides; remember gathers the table's anew.
func (p *prober) forget(ctx context.Context, t *statement.Table, column string) error {
	return p.both(ctx, fmt.Sprintf(`DELETE FROM pg_statistic AS s USING pg_attribute AS a WHERE a.attrelid = s.starelid AND a.attnum = s.staattnum
		AND a.attname = %[2]s AND s.starelid IN (SELECT relid FROM pg_partition_tree('%[1]s') UNION SELECT '%[1]s'::regclass);
		UPDATE pg_class SET relname = relname WHERE oid = '%[1]s'::regclass`, qualified(t), literal(column)))
}

func (p *prober) remember(ctx context.Context, t *statement.Table) error {
	sql := fmt.Sprintf("ANALYZE %[1]s; UPDATE pg_class SET relname = relname WHERE oid = '%[1]s'::regclass;", qualified(t))
	if p.cfg.Plans {
		sql += uncorrelated
	}
	return p.both(ctx, sql)
}

func (p *prober) both(ctx context.Context, sql string) error {
	for _, t := range p.sides {
		if err := t.admin.upkeep(ctx, sql); err != nil {
			return err
		}
		if t.plans == nil {
			continue
		}
		if err := t.plans.upkeep(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
