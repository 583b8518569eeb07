package policy

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Finding is what tenantgate doctor finds of a table that policies name, as far as it bears on
// serving the table.
type Finding struct {
	Name, Object string // as doctor prints them
	Table        uint32 // the table's OID
	// Breach tells that a statement which names the table could read or change other servers'
	// rows: the table is closed, unless the policy accepts it. Otherwise the table tells whether
	// another server has a value.
	Breach bool
	Needs  []uint32 // OIDs: with row-level security behind all of these tables it is none
}

// MisfitName is the Finding by which a table that no longer fits the policy is closed. No policy can accept it.
const MisfitName = "policy-misfit"

// Misfit is a table of the policy that does not fit the database: the table, its scope column or a column
// that the policy restricts is not there, or the scope column's type keeps no servers apart.
type Misfit struct {
	Table TableName
	Err   error // a *FileError
}

// Misfits gives the tables that are closed because they do not fit, in the file's order.
func (p *Policy) Misfits() []Misfit { return p.misfits }

// remedy tells a caller who can open the closed table, and how.
func (f *Finding) remedy() string {
	if f.Name == MisfitName {
		return "the table or one of its columns was renamed or dropped, and the policy still names it; an operator can mend the policy or the table: the service's log says which"
	}
	return "by it a statement could reach other servers' rows; an operator can mend it as tenantgate doctor says, or accept it in the policy"
}

// Acceptance says that a table is served in spite of a finding.
type Acceptance struct {
	Finding, Object string // as doctor prints them
	Reason          string // for whoever reviews the policy
}

// Accepts gives the reason why the section accepts what doctor found of its table.
func (t *TableSection) Accepts(name, object string) (reason string, accepted bool) {
	i := slices.IndexFunc(t.Accept, func(a Acceptance) bool { return a.Finding == name && a.Object == object })
	if i < 0 {
		return "", false
	}
	return t.Accept[i].Reason, true
}

// closing is the first finding that closes a table under this section; nil for none.
func (t *TableSection) closing(findings []Finding) *Finding {
	i := slices.IndexFunc(findings, func(f Finding) bool {
		_, accepted := t.Accepts(f.Name, f.Object)
		return f.Breach && !accepted
	})
	if i < 0 {
		return nil
	}
	return &findings[i]
}

// accept reads the findings that a table is served in spite of.
func (r *reader) accept(n ast.Node, into *[]Acceptance) error {
	return r.list(n, "accept", func(n ast.Node) error {
		var a Acceptance
		err := r.object(n, "an accepted finding", fields{
			"finding": func(n ast.Node) error { return r.phrase(n, "finding", &a.Finding) },
			"object":  func(n ast.Node) error { return r.phrase(n, "object", &a.Object) },
			"reason":  func(n ast.Node) error { return r.phrase(n, "reason", &a.Reason) },
		}, "finding", "object", "reason")
		if err == nil && slices.ContainsFunc(*into, func(o Acceptance) bool { return o.Finding == a.Finding && o.Object == a.Object }) {
			err = r.mistake(place(n), "%s of %s is accepted twice", a.Finding, a.Object)
		}
		*into = append(*into, a)
		return err
	})
}

// phrase reads text that must say something.
func (r *reader) phrase(n ast.Node, what string, into *string) error {
	if err := r.text(n, what, into); err != nil {
		return err
	}
	if *into == "" {
		return r.mistake(place(n), "%s is empty", what)
	}
	return nil
}
