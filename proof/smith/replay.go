package smith

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// Config says what is replayed, and through what.
type Config struct {
	Gate       string                      // the URL of the server's client, in front of the shared database
	Own, Other string                      // URLs of the server's own database, and of one with its rows in another order; "" compares nothing
	Alone      string                      // the URL of the server's client at tenantgate in front of its rows alone, which has the plans of Gate; "" where there is none
	Restore    func(context.Context) error // gives the shared database back the sizes that those plans go by; nil where there is no Alone
	Variants   [][2]string                 // statements that turn one of the planner's settings, and turn it back
	Needles    []string                    // marks of others' rows, in lower case
	Statements []string
	Findings   int // of each kind that are kept
}

// Report is what came of it.
type Report struct {
	Tried, Admitted, Compared, Unsettled int
	States                               map[string]int // of what came through the gate; "" for success
	Kinds                                map[string]int // of mismatches
	Leaks, Mismatches, Lost              int
	Findings                             []string
}

// Replay runs the statements one after the other. An error is one that leaves nothing proven.
func Replay(ctx context.Context, cfg Config) (*Report, error) {
	r := &replay{cfg: cfg, report: &Report{States: map[string]int{}, Kinds: map[string]int{}}}
	defer r.close(ctx)
	for _, statement := range cfg.Statements {
		if err := ctx.Err(); err != nil {
			return r.report, err
		}
		if err := r.try(ctx, statement); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

type replay struct {
	cfg              Config
	report           *Report
	gate, own, other *client
	alone            *client // opened when it is asked first
}

// losses is how many connections may be lost before there is no point in going on.
const losses = 20

func (r *replay) try(ctx context.Context, statement string) error {
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.report.Tried++
	got, err := r.gate.run(ctx, statement)
	if needle := r.gate.seen.take(); needle != "" {
		r.find(&r.report.Leaks, "leak of "+needle, statement)
	}
	if err != nil {
		r.find(&r.report.Lost, "the connection was lost: "+err.Error(), statement)
		_ = r.gate.conn.Close(ctx)
		if r.gate = nil; r.report.Lost >= losses {
			return fmt.Errorf("%d connections were lost, the last by: %w", losses, err)
		}
		return nil
	}
	r.report.States[got.state]++
	if refused(got) {
		return nil
	}
	r.report.Admitted++
	if err := r.restore(ctx); err != nil {
		return err
	}
	if r.cfg.Own == "" || got.state == cancelled || sampled(statement) {
		return nil
	}
	return r.compare(ctx, statement, got)
}

// restore gives the shared database back its sizes after a statement that the gate let through.
func (r *replay) restore(ctx context.Context) error {
	if r.cfg.Restore == nil {
		return nil
	}
	if err := r.cfg.Restore(ctx); err != nil {
		return fmt.Errorf("the shared database's sizes: %w", err)
	}
	return nil
}

// mismatch counts an answer that is another, and keeps the first of its kind.
func (r *replay) mismatch(got, own answer, statement string) {
	r.report.Mismatches++
	kind := fmt.Sprintf("(%s %s, %s)", got.state, got.code, own.state)
	if r.report.Kinds[kind]++; r.report.Kinds[kind] <= r.cfg.Findings {
		r.report.Findings = append(r.report.Findings, fmt.Sprintf("%s gate: %s; own: %s\n%s", kind, got, own, statement))
	}
}

func (a answer) String() string {
	if a.state != "" {
		return a.state + " " + a.message
	}
	return fmt.Sprintf("%s [%s] %.200q", a.tag, a.columns, a.rows)
}

// find counts a fault and keeps the first of its kind.
func (r *replay) find(count *int, what, statement string) {
	if *count++; *count <= r.cfg.Findings {
		r.report.Findings = append(r.report.Findings, what+"\n"+statement)
	}
}

// connect opens what is not open.
func (r *replay) connect(ctx context.Context) (err error) {
	if r.gate == nil {
		if r.gate, err = open(ctx, r.cfg.Gate, r.cfg.Needles); err != nil {
			return fmt.Errorf("connecting to the gate: %w", err)
		}
	}
	if r.cfg.Own == "" || r.own != nil {
		return nil
	}
	if r.own, err = open(ctx, r.cfg.Own, nil); err != nil {
		return fmt.Errorf("connecting to the server's own database: %w", err)
	}
	if r.other, err = open(ctx, r.cfg.Other, nil); err != nil {
		return fmt.Errorf("connecting to the server's own database: %w", err)
	}
	return nil
}

func (r *replay) close(ctx context.Context) {
	for _, c := range []*client{r.gate, r.own, r.other, r.alone} {
		if c != nil && c.conn != nil {
			_ = c.conn.Close(context.WithoutCancel(ctx))
		}
	}
}

// cancelled is the SQLSTATE of a statement that took too long; that says nothing.
const cancelled = "57014"

// refusals are the codes of a policy, which judges before Postgres does. What the engine says
// in Postgres' place (query_failed, syntax_error) is compared like an answer.
var refusals = []policy.Code{
	policy.QueryTooLong, policy.StatementNotAllowed, policy.ConstructNotAllowed, policy.TableNotAllowed, policy.ColumnNotAllowed,
	policy.FunctionNotAllowed, policy.TypeNotAllowed, policy.MissingServerScope,
}

func refused(a answer) bool { return slices.Contains(refusals, policy.Code(a.code)) }

// sampled tells a statement that reads samples of tables, which are others each time.
func sampled(statement string) bool { return strings.Contains(statement, " tablesample ") }

// String tells the figures.
func (r *Report) String() string {
	return fmt.Sprintf("%d statements, %d admitted, %d compared, %d unsettled; %d leaks, %d mismatches, %d connections lost; SQLSTATEs %v; mismatches %v",
		r.Tried, r.Admitted, r.Compared, r.Unsettled, r.Leaks, r.Mismatches, r.Lost, r.States, r.Kinds)
}
