package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// Watch judges, while the service runs, the tables that its policies name: what a statement
// comes to by naming one of them, and what a table tells.
type Watch struct{ query, policies string }

// NewWatch makes a Watch for all policies that are in force. sets are the function sets that
// they refer to.
func NewWatch(files []*policy.File, sets map[string][]string) (*Watch, error) {
	n, err := newNamed(files, sets)
	if err != nil {
		return nil, err
	}
	w := &Watch{}
	if w.policies, err = n.text(); err != nil {
		return nil, err
	}
	w.query = watchQuery()
	return w, nil
}

// watched are the checks of a Watch.
func watched() (checks []check) {
	for _, c := range slices.Concat(policyChecks, hiddenChecks, definerChecks, plannerChecks) {
		if c.served {
			checks = append(checks, c)
		}
	}
	return checks
}

// Watched gives the names that findings of a Watch can have.
func Watched() (names []string) {
	for _, c := range watched() {
		names = append(names, c.name)
	}
	return names
}

// watchQuery asks all checks at once: that Postgres plans the relations, which they share,
// takes longer than the answers.
func watchQuery() string {
	var parts []string
	for _, c := range watched() {
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS name, object, listed_oid::int8 AS \"table\", grade, needs FROM (%s) %s", c.name, c.sql, strings.ReplaceAll(c.name, "-", "_")))
	}
	all := strings.Join(parts, "\nUNION ALL\n")
	return with(all) + "SELECT coalesce(json_agg(found), '[]')::text FROM (" + all + ") found"
}

// Query gives what to ask the database, as the role that statements run as: one row of one
// text. Names must be those of pg_catalog where the schema is left out.
func (w *Watch) Query() (sql string, args []any) { return w.query, []any{"", w.policies} }

// Read reads the answer to Query.
func (w *Watch) Read(answer []byte) (findings []policy.Finding, err error) {
	var rows []struct {
		Name, Object, Grade, Needs string
		Table                      uint32
	}
	if err := json.Unmarshal(answer, &rows); err != nil {
		return nil, fmt.Errorf("reading what was found of the tables: %w", err)
	}
	for _, r := range rows {
		f := policy.Finding{Name: r.Name, Object: r.Object, Table: r.Table, Breach: r.Grade == Breach.String()}
		if !f.Breach && r.Grade != Tell.String() {
			continue
		}
		_ = json.Unmarshal([]byte(r.Needs), &f.Needs) // no list: nothing helps
		findings = append(findings, f)
	}
	slices.SortFunc(findings, func(a, b policy.Finding) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Object, b.Object))
	})
	return findings, nil
}
