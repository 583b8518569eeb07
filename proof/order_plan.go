package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// openPlans makes the copy of a side in which plans are made: as answers are asked for, indexes
// grow, and of what, their sizes show.
func (w *World) openPlans(ctx context.Context, t *twin, name string, p *prober) error {
	url, err := w.create(ctx, strings.TrimPrefix(name, w.name+"_")+"_plans", w.name+"_"+t.kind.of(slices.Index(Servers, p.server)))
	if err != nil {
		return err
	}
	sql := uncorrelated
	if p.cfg.Blind {
		sql += blind
	}
	if err := w.exec(ctx, url, sql); err != nil {
		return err
	}
	t.plans, err = openSession(ctx, url, p.server)
	return err
}

// plan is what EXPLAIN says of a statement, or the error that Postgres has for it instead.
type plan struct {
	text string
	made bool // it is a plan and no error
}

// planned gives the plan that Postgres makes of a probe on a side for any value, with its costs: a difference
// that no answer shows yet shows there. It is the zero value for a probe that is refused.
func (t *twin) planned(ctx context.Context, q probing, server string) (plan, error) {
	text, _ := q.NativeText(server)
	dialect, mode := policy.Postgres, policy.Inject
	if q.path == REST {
		text, _ = q.Text(server)
		dialect, mode = policy.REST, q.Mode
	}
	d := t.rest[mode].Decide(text, dialect)
	if d.Verdict != policy.Allow {
		return plan{}, nil
	}
	return t.plan(ctx, d.Approved, server)
}

// plan gives the plan of what was approved.
func (t *twin) plan(ctx context.Context, a *policy.Approved, server string) (plan, error) {
	explained, failed, err := explain(ctx, t.plans.conn, a, "SET LOCAL plan_cache_mode = force_generic_plan", gated{t.role, server, t.signature})
	if failed != nil {
		return plan{text: failed.Message}, err
	}
	return plan{text: explained.sequence(), made: err == nil}, err
}

// gated is as whom tenantgate sends a statement.
type gated struct{ role, server, signature string }

// explain has Postgres plan what was approved as it runs it for a server, in a transaction with further settings, and gives what EXPLAIN
// says or the error that Postgres has for the statement.
func explain(ctx context.Context, conn *pgconn.PgConn, a *policy.Approved, settings string, as gated) (explained answer, failed *pgconn.PgError, err error) {
	if _, err := simple(ctx, conn, fmt.Sprintf("BEGIN; %s; SET LOCAL search_path = %s; SET LOCAL ROLE %s; SELECT set_config('%s', '%s', true), set_config('%s', '%s', true)",
		settings, gatePath, as.role, wall.Setting, as.server, wall.Signature, as.signature)); err != nil {
		return explained, nil, fmt.Errorf("preparing to plan: %w", err)
	}
	if _, err = conn.Prepare(ctx, probeName, a.Rewritten(), a.Declared()); err == nil {
		explained, err = simple(ctx, conn, "EXPLAIN EXECUTE "+probeName+nulls(a.NumParams()))
	}
	if errors.As(err, &failed) {
		err = nil
	}
	return explained, failed, errors.Join(err, rollback(ctx, conn), conn.Deallocate(ctx, probeName))
}

const probeName = "probe"

// nulls are the arguments of EXECUTE: the plan does not know them.
func nulls(n int) string {
	if n == 0 {
		return ""
	}
	return "(NULL" + strings.Repeat(", NULL", n-1) + ")"
}

// uncorrelated takes from the statistics how far values go up in the order of rows, which is no
// matter of a statement's values: where a table keeps its statistics, a plan for any value shows it.
const uncorrelated = uncorrelate + ";"

// unplaced takes it of scope columns, since where the rows of one server lie is outside the promise.
const unplaced = uncorrelate + ` AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = starelid AND a.attnum = staattnum AND a.attname ` + scopeColumns + `);`

const uncorrelate = `UPDATE pg_statistic SET stakind1 = coalesce(nullif(stakind1, 3), 0), stakind2 = coalesce(nullif(stakind2, 3), 0), stakind3 = coalesce(nullif(stakind3, 3), 0),
	stakind4 = coalesce(nullif(stakind4, 3), 0), stakind5 = coalesce(nullif(stakind5, 3), 0) WHERE 3 IN (stakind1, stakind2, stakind3, stakind4, stakind5)`
