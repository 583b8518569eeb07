package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// filterCatalog is what the mode for filters must know of a database. Keys are oids, as a plan has them.
type filterCatalog struct {
	scope     map[string]string // of scoped tables: the number of the scope column
	wall      map[string]string // tables and views of wall 3
	leakproof map[string]string // functions that can't fail, with their names
	functions map[string]string // the names of all
}

func readFilterCatalog(ctx context.Context, conn *pgconn.PgConn) (c filterCatalog, err error) {
	for _, q := range []struct {
		into *map[string]string
		sql  string
	}{
		{&c.scope, `SELECT attrelid, attnum FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = attrelid
			WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'shop'::regnamespace) AND attname ` + scopeColumns},
		{&c.wall, `SELECT oid, relname FROM pg_class WHERE relnamespace = '` + wall.Schema + `'::regnamespace`},
		{&c.leakproof, `SELECT oid, proname FROM pg_proc WHERE proleakproof OR proname ~ '^numeric_(eq|ne|lt|le|gt|ge)$'`},
		{&c.functions, `SELECT oid, proname FROM pg_proc`},
	} {
		*q.into = map[string]string{}
		results, err := conn.Exec(ctx, q.sql).ReadAll()
		if err != nil {
			return c, fmt.Errorf("reading the catalog: %w", err)
		}
		for _, row := range results[0].Rows {
			(*q.into)[string(row[0])] = string(row[1])
		}
	}
	return c, nil
}

// equalities are the functions by which a scope column is compared with a server's id.
var equalities = []string{"texteq", "bpchareq", "uuid_eq", "int2eq", "int24eq", "int28eq", "int4eq", "int42eq", "int48eq", "int8eq", "int82eq", "int84eq"}

// texts are functions of texts that can't fail where Bind bounds what they are given.
var texts = []string{"concat", "lower", "upper", "btrim", "textcat"}

// filterPlan is a plan of Postgres' for an approved statement.
type filterPlan struct {
	catalog  *filterCatalog
	approved *policy.Approved
	tree     *treeNode
	asked    map[string]*treeNode // of a parameter that a sub-query gives when it is first asked for: the sub-query's plan
	equal    map[int]bool         // parameters that a condition, asked once before any row is read, compares with the server's id
}

func newFilterPlan(c *filterCatalog, a *policy.Approved, tree *treeNode) *filterPlan {
	p := &filterPlan{catalog: c, approved: a, tree: tree, asked: map[string]*treeNode{}, equal: map[int]bool{}}
	nodes(tree, func(n *treeNode) {
		for _, sub := range n.list("initPlan") {
			plan, _ := tree.list("subplans")[sub.(*treeNode).number("plan_id")-1].(*treeNode)
			for _, id := range sub.(*treeNode).list("setParam")[1:] { // the first one tells that it is a list of numbers
				p.asked[id.(string)] = plan
			}
		}
		for _, q := range n.list("resconstantqual") {
			l, r := p.equation(q)
			p.equate(l, r)
			p.equate(r, l)
		}
	})
	return p
}

// early gives the number of scans of scoped tables, and of each the conditions that are evaluated before the scope condition and may
// fail or take long.
func (p *filterPlan) early() (scans int, found []string) {
	tables := p.tree.list("rtable")
	nodes([]any{p.tree.child("planTree"), p.tree.list("subplans")}, func(n *treeNode) {
		at := n.number("scanrelid")
		if at == 0 || n.kind == "BITMAPINDEXSCAN" { // whose rows a bitmap scan reads
			return
		}
		table := tables[at-1].(*treeNode)
		scope := p.catalog.scope[table.text("relid")]
		if table.text("rtekind") != "0" || scope == "" {
			return
		}
		scans++
		r := &filterScan{p, n.text("scanrelid"), scope}
		index := slices.Concat(n.list("indexqualorig"), n.list("bitmapqualorig"))
		if slices.ContainsFunc(index, r.isConfined) {
			return // no other row is read
		}
		conditions := n.list("qual")
		end := slices.IndexFunc(conditions, r.isScoped)
		if end < 0 {
			found = append(found, "no scope condition: "+p.show(slices.Concat(index, conditions)))
			return
		}
		for _, c := range conditions[:end] {
			if !r.isHarmless(c) {
				found = append(found, p.show(c))
			}
		}
	})
	return scans, found
}

// equation gives what is compared, where it is by one of equalities.
func (p *filterPlan) equation(v any) (left, right *treeNode) {
	n := bare(v)
	if args := n.list("args"); n != nil && n.kind == "OPEXPR" && len(args) == 2 && slices.Contains(equalities, p.catalog.functions[n.text("opfuncid")]) {
		return bare(args[0]), bare(args[1])
	}
	return nil, nil
}

// equate notes a parameter that is compared with the server's id.
func (p *filterPlan) equate(n, id *treeNode) {
	if n.text("paramkind") == "0" && p.isServer(id) {
		p.equal[n.number("paramid")] = true
	}
}

// isServer tells a parameter that is the server's id: the engine's, or wall 3's.
func (p *filterPlan) isServer(n *treeNode) bool {
	switch n.text("paramkind") {
	case "0":
		id := n.number("paramid")
		return p.equal[id] || id <= p.approved.NumParams() && p.approved.ArgOf(id-1) == -1
	case "1":
		found := false
		nodes(p.asked[n.text("paramid")], func(n *treeNode) {
			if at := n.number("scanrelid"); at > 0 && !found {
				table := p.tree.list("rtable")[at-1].(*treeNode)
				found = p.catalog.wall[table.text("relid")] != ""
			}
		})
		return found
	}
	return false
}

// show writes a condition in short: v is a column, $ a parameter.
func (p *filterPlan) show(v any) string {
	if list, ok := v.([]any); ok {
		var all []string
		for _, c := range list {
			all = append(all, p.show(c))
		}
		return strings.Join(all, ", ")
	}
	n, _ := v.(*treeNode)
	n = bare(n)
	switch {
	case n == nil:
		return ""
	case n.kind == "VAR":
		return "v"
	case n.kind == "CONST":
		return "const"
	case n.kind == "PARAM" && p.asked[n.text("paramid")] != nil && n.text("paramkind") == "1":
		return "sub-query " + p.asked[n.text("paramid")].kind
	case n.kind == "PARAM":
		return "$"
	}
	name := strings.ToLower(n.kind) + " " + p.catalog.functions[n.text("opfuncid")+n.text("funcid")] + n.text("boolop")
	for _, field := range []string{"arg", "args", "elements", "expr", "result", "defresult", "testexpr"} {
		if values := n.fields[field]; len(values) > 0 {
			name += "(" + p.show(values[0]) + ")"
		}
	}
	return name
}
