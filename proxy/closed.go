package proxy

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// found is a finding of a table that some policy which opens it does not accept.
type found struct {
	table string
	policy.Finding
	policies []string // the names of those that do not accept it
}

// line describes it to an operator.
func (f found) line() string {
	if f.Name == policy.MisfitName {
		return "closed: " + f.table + ", by " + f.Name + ": " + f.Object + "; policy: " + f.policies[0]
	}
	what := "tells whether another server has a value: "
	if f.Breach {
		what = "closed: "
	}
	return what + f.table + ", by " + f.Name + " of " + f.Object + "; policies that do not accept it: " + strings.Join(f.policies, ", ")
}

// found gives what was found of the policies' tables, in the order of the schema.
func (p *Policies) found(schema policy.Schema) (all []found) {
	for _, t := range schema.Tables {
		for _, f := range t.Findings {
			if names := p.suffering(t, f); len(names) > 0 {
				all = append(all, found{t.Schema + "." + t.Name, f, names})
			}
		}
	}
	return all
}

// closedMisfits gives the tables that do not fit a policy, each with what is missing as its object.
func closedMisfits(file *policy.File, p *policy.Policy) (all []found) {
	for _, m := range p.Misfits() {
		all = append(all, found{
			table:    m.Table.Schema + "." + m.Table.Name,
			Finding:  policy.Finding{Name: policy.MisfitName, Object: m.Err.Error(), Breach: true},
			policies: []string{file.Name},
		})
	}
	return all
}

// unmatched is what a policy accepts of a table that does not have it.
type unmatched struct{ policy, table, finding, object string }

// unmatched gives what policies accept and the schema does not have.
func (p *Policies) unmatched(schema policy.Schema) (all []unmatched) {
	for _, file := range p.config.Files {
		for _, section := range file.Tables {
			for _, a := range section.Accept {
				if !has(schema, section.TableName, a) {
					all = append(all, unmatched{file.Name, section.Schema + "." + section.Name, a.Finding, a.Object})
				}
			}
		}
	}
	return all
}

// has tells whether the schema's table has what is accepted of it.
func has(schema policy.Schema, name policy.TableName, a policy.Acceptance) bool {
	t := schema.Table(name)
	return t != nil && slices.ContainsFunc(t.Findings, func(f policy.Finding) bool { return f.Name == a.Finding && f.Object == a.Object })
}

// suffering names the policies that open a table and do not accept what was found of it.
func (p *Policies) suffering(t policy.Table, f policy.Finding) (names []string) {
	for _, file := range p.config.Files {
		if suffers(file, t, f) {
			names = append(names, file.Name)
		}
	}
	return names
}

// suffers tells whether a policy opens a table and does not accept what was found of it.
func suffers(file *policy.File, t policy.Table, f policy.Finding) bool {
	section := file.Section(policy.TableName{Schema: t.Schema, Name: t.Name})
	if section == nil || len(section.Access) == 0 {
		return false
	}
	_, accepted := section.Accepts(f.Name, f.Object)
	return !accepted
}

// tablesBy gives the tables that are closed by each finding, or that tell by it, each once.
func tablesBy(all []found, breach bool) map[string][]string {
	tables := map[string][]string{}
	for _, f := range all {
		if f.Breach == breach && !slices.Contains(tables[f.Name], f.table) {
			tables[f.Name] = append(tables[f.Name], f.table)
		}
	}
	return tables
}

// Found names, a line each, the tables that are closed and those that tell.
func (p *Policies) Found() (lines []string) {
	for _, f := range p.current.Load().found {
		lines = append(lines, f.line())
	}
	return lines
}

// logFindings logs what closes tables and what they tell, when that has changed: what is new, and
// what is gone.
func (p *Policies) logFindings(old, next *snapshot) {
	var before []string
	if old != nil {
		before = linesOf(old.found)
	}
	for _, f := range next.found {
		switch {
		case slices.Contains(before, f.line()):
		case f.Name == policy.MisfitName:
			p.config.Log.Error("a table is closed: it does not match the policy; fix the policy and restart, or fix the table", "table", f.table, "finding", f.Name, "policy", f.policies[0], "error", f.Object)
		case f.Breach:
			p.config.Log.Error("a table is closed: a statement that names it could reach other servers' rows; tenantgate doctor prints how to fix it; or accept the finding in each of these policies", "table", f.table, "finding", f.Name, "object", f.Object, "policies", strings.Join(f.policies, ", "))
		default:
			p.config.Log.Warn("a table reveals whether another server has a value; tenantgate doctor prints how to fix it; or accept the finding in each of these policies", "table", f.table, "finding", f.Name, "object", f.Object, "policies", strings.Join(f.policies, ", "))
		}
	}
	for _, u := range next.unmatched {
		if old == nil || !slices.Contains(old.unmatched, u) {
			p.config.Log.Warn("a policy accepts a finding that the table does not have: it is misspelt or fixed, or row-level security protects the table",
				"policy", u.policy, "table", u.table, "finding", u.finding, "object", u.object)
		}
	}
	after := linesOf(next.found)
	for _, line := range before {
		if !slices.Contains(after, line) {
			p.config.Log.Info("a finding of a table was fixed or accepted", "was", line)
		}
	}
}

// linesOf gives a line for each.
func linesOf(all []found) []string {
	out := make([]string, len(all))
	for i, f := range all {
		out[i] = f.line()
	}
	return out
}
