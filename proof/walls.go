package proof

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

// Walls says which of the walls stand.
type Walls string

// The walls that are tried together.
const (
	All      Walls = "all"      // the policy engine, its rewrite, and the database
	Engine   Walls = "engine"   // the policy engine and its rewrite, as a role that may do everything
	Database Walls = "database" // the database alone: statements pass through unread
	Nothing  Walls = "nothing"  // none, to see the proof fail
	Listener Walls = "listener" // all, behind the front end for Postgres' protocol: every byte that it sends is looked at
)

// The search paths of the two sides. The engine qualifies the names of tables and types.
const (
	gatePath  = "pg_catalog, public, pg_temp"
	plainPath = "public, shop"
)

// walled tells whether row-level security stands behind the engine.
func (w Walls) walled() bool { return w == All || w == Listener }

// modes are the scope modes in which statements are made.
func (w Walls) modes() []policy.ScopeMode {
	if w == Database || w == Nothing {
		return []policy.ScopeMode{statement.None}
	}
	if w == Listener {
		return []policy.ScopeMode{policy.Inject, policy.Require}
	}
	return []policy.ScopeMode{policy.Require, policy.Once, policy.Inject}
}

// policyFile is the proof's policy: the tables of package statement, in a scope mode.
func policyFile(mode policy.ScopeMode) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: tenantgate/v1
kind: Policy
metadata: {name: proof}
statement: {kinds: [select, insert, update, delete]}
scope: {column: server_id, mode: %s}
functions: {allow: ["@builtin-safe"]}
tables:
`, mode)
	for _, t := range statement.Tables() {
		if t.ScopeType == "" {
			fmt.Fprintf(&b, "  %q: {scoped: false, access: [select]}\n", t.Schema+"."+t.Name)
			continue
		}
		var columns []string
		for _, c := range t.Columns {
			if c.Hidden {
				columns = append(columns, fmt.Sprintf("%q: {read: false}", c.Name))
			}
			if c.Fixed {
				columns = append(columns, fmt.Sprintf("%q: {write: false}", c.Name))
			}
		}
		fmt.Fprintf(&b, "  %q: {scoped: true, column: %q, columns: {%s}}\n", t.Schema+"."+t.Name, t.Scope(), strings.Join(columns, ", "))
	}
	return b.String()
}

// compile gives the policies for a shared database, by their scope mode. planner says whether the
// planner sees values.
func compile(ctx context.Context, url string, walls Walls, planner policy.Planner) (map[policy.ScopeMode]*policy.Policy, error) {
	pool, err := upstream.Open(ctx, upstream.Config{URL: url, MaxConns: 1, SearchPath: gatePath})
	if err != nil {
		return nil, fmt.Errorf("opening a pool: %w", err)
	}
	defer pool.Close()
	compiled := map[policy.ScopeMode]*policy.Policy{}
	for _, mode := range walls.modes() {
		if mode == statement.None {
			continue
		}
		file, err := policy.Parse([]byte(policyFile(mode)))
		if err != nil {
			return nil, fmt.Errorf("parsing the proof's policy: %w", err)
		}
		file.Planner = planner
		schema, err := pool.Schema(ctx, file.TableNames())
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		for i := range schema.Tables {
			schema.Tables[i].Walled = walls.walled()
		}
		if compiled[mode], err = policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(), Extensions: policies.Extensions()}); err != nil {
			return nil, fmt.Errorf("compiling the proof's policy: %w", err)
		}
	}
	return compiled, nil
}

// refusal is why a statement was not admitted; "" for one that was.
type refusal = policy.Code

// gate gives what is sent to the shared database for a statement, the way the walls have it.
func (w *worker) gate(st statement.Statement) (r request, code refusal, why string) {
	r = request{role: w.role, signed: w.signed, path: gatePath}
	if p := w.policies[st.Mode]; p != nil {
		text, args := st.Text(w.server)
		decision := p.Decide(text, policy.REST)
		if decision.Verdict != policy.Allow {
			return r, decision.Refusal.Code, decision.Refusal.Message
		}
		code, why = r.bind(decision.Approved, w.server, args)
		return r, code, why
	}
	r.path = ""
	text, args := st.PlainText(w.server)
	r.sql, r.params = text, wires(args)
	return r, "", ""
}

// bind has the request run what was admitted, with its arguments.
func (r *request) bind(a *policy.Approved, server string, args []policy.Arg) (code refusal, why string) {
	bound, reason := a.Bind(server, args)
	if reason != nil {
		return reason.Code, reason.Message
	}
	r.sql, r.types, r.overridden = bound.SQL(), a.Declared(), bound.Overridden() > 0
	for _, p := range bound.Params() {
		r.params = append(r.params, wire(p.Value))
	}
	return "", ""
}

// plain gives what a plain driver sends to the server's own database.
func (w *worker) plain(st statement.Statement) request {
	text, args := st.PlainText(w.server)
	return request{sql: text, params: wires(args)}
}

func wires(args []policy.Arg) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = wire(a)
	}
	return out
}

// wire is an argument in Postgres' text format.
func wire(a policy.Arg) []byte {
	if a.Kind == policy.Null {
		return nil
	}
	return []byte(a.Text)
}
