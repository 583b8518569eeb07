package proxy

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// ungranted are the columns of a table that policies open to readers and that the statement role may not SELECT: * leaves
// them out, and who adds a column to a table with grants on its columns may not know it.
type ungranted struct{ table, columns, policies string }

// ungranted gives the tables that have such columns, in the order of the schema.
func (p *Policies) ungranted(schema policy.Schema) (all []ungranted) {
	for _, t := range schema.Tables {
		var columns, names []string
		for _, c := range t.Columns {
			opening := p.opening(t, c)
			if !c.Unreadable || len(opening) == 0 {
				continue
			}
			columns = append(columns, c.Name)
			for _, name := range opening {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if len(columns) > 0 {
			all = append(all, ungranted{t.Schema + "." + t.Name, strings.Join(columns, ", "), strings.Join(names, ", ")})
		}
	}
	return all
}

// opening names the policies that let statements read a column.
func (p *Policies) opening(t policy.Table, c policy.Column) (names []string) {
	for _, file := range p.config.Files {
		if section := file.Section(policy.TableName{Schema: t.Schema, Name: t.Name}); section != nil && section.Reads(c.Name) {
			names = append(names, file.Name)
		}
	}
	return names
}

// logUngranted logs the ungranted columns of each table where they have changed.
func (p *Policies) logUngranted(old, next *snapshot) {
	var before []ungranted
	if old != nil {
		before = old.ungranted
	}
	for _, u := range next.ungranted {
		if !slices.Contains(before, u) {
			p.config.Log.Warn("columns are not granted to the statement role: * leaves them out, and statements that name them are refused; "+
				"grant SELECT on them, for which tenantgate doctor prints the SQL, or hide them in each of these policies with read: false",
				"table", u.table, "columns", u.columns, "policies", u.policies)
		}
	}
	for _, u := range before {
		if !slices.ContainsFunc(next.ungranted, func(n ungranted) bool { return n.table == u.table }) {
			p.config.Log.Info("no column of a table lacks a grant any more", "table", u.table, "were", u.columns)
		}
	}
}
