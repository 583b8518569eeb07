package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

// Path is a way that a statement takes through tenantgate.
type Path string

// The paths. Behind each the upstream prepares statements, or does not.
const (
	REST     Path = "REST"     // Pool.Query
	Simple   Path = "simple"   // a Query message
	Several  Path = "several"  // one Query message with BEGIN, the statement and ROLLBACK
	Extended Path = "extended" // Parse, Bind, Execute
	Named    Path = "named"    // the same, of a named statement
	Cursor   Path = "cursor"   // DECLARE and FETCH
	Copy     Path = "copy"     // COPY (…) TO STDOUT
	Direct   Path = "direct"   // by the engine, unread
)

var paths = []Path{REST, REST, REST, Simple, Several, Extended, Extended, Named, Cursor, Copy}

func (p Path) takesArguments() bool { return p == REST || p == Extended || p == Named || p == Cursor }

// reads tells whether the path is one for queries alone.
func (p Path) reads() bool { return p == Cursor || p == Copy }

// asked is a statement with the path that it goes.
type asked struct {
	path     Path
	prepared bool
	mode     policy.ScopeMode // of REST
	plant    string           // an INSERT before it; "" for none
	text     string
	args     []policy.Arg
}

// run sends a probe on its path. Through the listener, what it does is rolled back.
func (t *twin) run(ctx context.Context, q probing, server string) (answer, error) {
	s := asked{path: q.path, prepared: q.prepared, mode: q.Mode}
	switch q.path {
	case REST:
		s.text, s.args = q.Text(server)
	case Direct:
		s.text, s.args = q.PlainText(server)
	default:
		s.text, s.args = q.NativeText(server)
		s.plant, _ = q.Plant.NativeText(server)
	}
	return t.ask(ctx, s, server)
}

// ask sends a statement on its path. One that waits for an earlier one to end, as on a busy machine, counts as one that took too long.
func (t *twin) ask(ctx context.Context, q asked, server string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := t.send(ctx, q, server)
	if a.unfinished() {
		return answer{state: cancelled}, rollback(ctx, t.client[q.prepared])
	}
	return a, err
}

func (t *twin) send(ctx context.Context, q asked, server string) (answer, error) {
	switch q.path {
	case REST:
		return t.query(ctx, q, server)
	case Direct:
		r := t.direct
		r.sql, r.params = q.text, wires(q.args)
		if r.checks = touched(q.text); !writes(q.text) {
			r.checks = nil
		}
		return t.admin.run(ctx, r)
	}
	c := t.client[q.prepared]
	if q.path == Several {
		script := strings.Join(slices.DeleteFunc([]string{"BEGIN", q.plant, q.text, "ROLLBACK"}, func(s string) bool { return s == "" }), ";")
		a, err := simple(ctx, c, script)
		if err == nil && a.state != "" {
			_, err = simple(ctx, c, "ROLLBACK")
		}
		return a, err
	}
	for _, sql := range []string{"BEGIN", q.plant} {
		if sql == "" {
			continue
		}
		if a, err := simple(ctx, c, sql); err != nil || a.state != "" {
			return a, errors.Join(fmt.Errorf("%s: %s %s", sql, a.state, a.message), err)
		}
	}
	a, err := through(ctx, c, q.path, q.text, wires(q.args))
	return a, errors.Join(err, rollback(ctx, c))
}

func rollback(ctx context.Context, c *pgconn.PgConn) error {
	_, err := simple(ctx, c, "ROLLBACK")
	return err
}

// query runs a statement as the service interface does.
func (t *twin) query(ctx context.Context, q asked, server string) (a answer, err error) {
	d := t.rest[q.mode].Decide(q.text, policy.REST)
	if d.Verdict != policy.Allow {
		a.code, a.message = d.Refusal.Code, d.Refusal.Message
		return a, nil
	}
	bound, reason := d.Approved.Bind(server, q.args)
	if reason != nil {
		a.code, a.message = reason.Code, reason.Message
		return a, nil
	}
	result, err := t.ways[q.prepared].pool.Query(ctx, "", bound, upstream.Encoding{}, nil)
	var refusal *proxy.Error
	if errors.As(err, &refusal) {
		a.code, a.state, a.message = refusal.Code, refusal.SQLState, refusal.Message
		if a.code == proxy.StatementTimeout {
			a.state = cancelled
		}
		return a, nil
	}
	a.rows = []string{string(result.Body)}
	return a, err //nolint:wrapcheck // every error of the pool's is the type above
}

// through sends a statement in an open transaction.
func through(ctx context.Context, c *pgconn.PgConn, path Path, text string, params [][]byte) (answer, error) {
	switch path {
	case Simple:
		return simple(ctx, c, text)
	case Named:
		if _, err := c.Prepare(ctx, "s", text, nil); err != nil {
			return failed(err)
		}
		a, err := extended(c.ExecPrepared(ctx, "s", params, nil, nil))
		return a, errors.Join(err, c.Deallocate(ctx, "s"))
	case Cursor:
		a, err := extended(c.ExecParams(ctx, "DECLARE c CURSOR FOR "+text, params, nil, nil, nil))
		for _, fetch := range []string{"FETCH 2 FROM c", "FETCH ALL FROM c"} {
			if err != nil || a.state != "" {
				return a, err
			}
			var more answer
			more, err = simple(ctx, c, fetch)
			more.rows = append(a.rows, more.rows...)
			a = more
		}
		return a, err
	case Copy:
		var out bytes.Buffer
		tag, err := c.CopyTo(ctx, &out, "COPY ("+text+") TO STDOUT")
		if err != nil {
			return failed(err)
		}
		return answer{rows: []string{out.String()}, tag: tag.String()}, nil
	}
	return extended(c.ExecParams(ctx, text, params, nil, nil, nil))
}

// extended reads what one statement answered.
func extended(r *pgconn.ResultReader) (a answer, err error) {
	err = a.read(r)
	if err != nil {
		return failed(err)
	}
	return a, nil
}

// simple sends a Query message and reads the answers to its statements.
func simple(ctx context.Context, c *pgconn.PgConn, text string) (a answer, err error) {
	results := c.Exec(ctx, text)
	for results.NextResult() {
		if err = a.read(results.ResultReader()); err != nil {
			break
		}
	}
	if err = errors.Join(err, results.Close()); err != nil {
		return failed(err)
	}
	return a, nil
}

// failed is the answer that an error of the listener's is; an error where it is none of these.
func failed(err error) (a answer, _ error) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return a, fmt.Errorf("%s: %w", time.Now().Format(time.TimeOnly), err)
	}
	return answer{state: pg.Code, code: refusal(pg.Detail), message: pg.Message}, nil
}
