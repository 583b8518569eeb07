package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// CheckAccepted fails where a policy accepts a finding by a name that no finding of a table has.
// Left alone such a line would accept nothing. The error is a *policy.FileError at the table,
// and lists the names.
func CheckAccepted(file *policy.File) error {
	known := Watched()
	for _, section := range file.Tables {
		for _, a := range section.Accept {
			if !slices.Contains(known, a.Finding) {
				return file.Mistake(section.At, "table %s.%s accepts the finding %q, and there is none of that name; a policy can accept %s",
					section.Schema, section.Name, a.Finding, strings.Join(slices.Sorted(slices.Values(known)), ", "))
			}
		}
	}
	return nil
}

// accept makes notes of the findings that every policy which opens the table accepts, and takes
// what would mend them out of the script.
func (r *Report) accept(files []*policy.File, n *named) {
	for i := range r.Findings {
		f := &r.Findings[i]
		at := slices.IndexFunc(n.Tables, func(t *table) bool { return f.Table != "" && t.ident == f.Table })
		if at < 0 || f.Grade != Breach && f.Grade != Tell {
			continue
		}
		reasons, lacking := accepted(files, n.Tables[at], *f)
		f.Lacking = lacking
		switch {
		case reasons == "":
		case len(lacking) == 0:
			f.Grade, f.SQL, f.Instead = Note, "", "Accepted "+reasons
		default:
			f.Instead = strings.TrimSpace("Accepted " + reasons + "; but not by " + strings.Join(lacking, ", ") + ": each policy that opens the table has to accept it. " + f.Instead)
		}
	}
}

// accepted gives the reasons of the policies that open a table, and the names of those of them
// that have none.
func accepted(files []*policy.File, t *table, f Finding) (reasons string, lacking []string) {
	var given []string
	for _, file := range files {
		for _, section := range file.Tables {
			if section.Schema != t.Schema || section.Name != t.Name || len(section.Access) == 0 {
				continue
			}
			reason, ok := section.Accepts(f.Check, f.Object)
			if !ok {
				lacking = append(lacking, file.Name)
				continue
			}
			given = append(given, "by the policy "+file.Name+": "+reason)
		}
	}
	return strings.Join(given, "; "), lacking
}

// unmatched are notes of what policies accept in vain: nothing was found of it, since it is misspelt
// or mended, or it is a risk.
func (r *Report) unmatched(files []*policy.File, n *named) (notes []Finding) {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.alone }) {
		return nil // nothing else was judged
	}
	for _, file := range files {
		for _, section := range file.Tables {
			for _, a := range section.Accept {
				note := Finding{Grade: Note, Check: "policy-accept", Object: a.Object, stage: stageRest,
					Says: fmt.Sprintf("the policy %s accepts %s of %s for the table %s.%s, ", file.Name, a.Finding, a.Object, section.Schema, section.Name)}
				switch {
				case r.risks(a):
					note.Says += "which is a risk: a policy can accept only a breach or a tell"
					note.Instead = "Take the line out of the policy: a risk closes no table. Mend it, or leave it as it is."
				case r.has(section, a, n):
					continue
				default:
					note.Says += "where no breach or tell has that name"
					note.Instead = "Spell finding and object as they are printed here, or remove the line from the policy: its reason was fixed, or row-level security protects the table."
				}
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// risks tells whether what a policy accepts is found as a risk, and as nothing worse.
func (r *Report) risks(a policy.Acceptance) bool {
	found := false
	for _, f := range r.Findings {
		if f.Check == a.Finding && f.Object == a.Object {
			if f.Grade != Risk {
				return false
			}
			found = true
		}
	}
	return found
}

// has tells whether a finding is what a policy accepts for a table.
func (r *Report) has(section policy.TableSection, a policy.Acceptance, n *named) bool {
	at := slices.IndexFunc(n.Tables, func(t *table) bool { return t.Schema == section.Schema && t.Name == section.Name })
	return at >= 0 && n.Tables[at].ident != "" && slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Table == n.Tables[at].ident && f.Check == a.Finding && f.Object == a.Object
	})
}
