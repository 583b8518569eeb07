package doctor

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// accept makes notes of the findings that every policy which opens the table accepts, and takes
// what would mend them out of the script.
func (r *Report) accept(files []*policy.File, n *named) {
	for i := range r.Findings {
		f := &r.Findings[i]
		at := slices.IndexFunc(n.Tables, func(t *table) bool { return f.Table != "" && t.ident == f.Table })
		if at < 0 || f.Grade != Breach && f.Grade != Tell {
			continue
		}
		if reasons := accepted(files, n.Tables[at], *f); reasons != "" {
			f.Grade, f.SQL, f.Instead = Note, "", "Accepted: "+reasons
		}
	}
}

// accepted gives the reasons of the policies that open a table, "" where one of them has none.
func accepted(files []*policy.File, t *table, f Finding) string {
	var reasons []string
	for _, file := range files {
		for _, section := range file.Tables {
			if section.Schema != t.Schema || section.Name != t.Name || len(section.Access) == 0 {
				continue
			}
			reason, ok := section.Accepts(f.Check, f.Object)
			if !ok {
				return ""
			}
			reasons = append(reasons, "by the policy "+file.Name+": "+reason)
		}
	}
	return strings.Join(reasons, "; ")
}
