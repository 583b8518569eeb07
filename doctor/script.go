package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/wall"
)

// Script gives the SQL of all findings as one text: in an order in which each part finds
// what it needs, in one transaction, each statement once. It can be run again. What no SQL
// mends is in its comments.
func (r *Report) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- What tenantgate doctor would change in the database %s, for the statement role %s.\n", line(r.Database), line(r.Role))
	fmt.Fprintf(&b, "-- It was compared with the policies %s: rights that they do not need are revoked.\n", line(strings.Join(r.Policies, ", ")))
	b.WriteString("-- Read it first. It needs the owner of the tables, for some parts a superuser. The wall's\n-- view and keys are not in it: \"tenantgate migrate\" makes them.\n")
	for _, f := range r.Findings {
		if f.SQL == "" {
			fmt.Fprintf(&b, "-- %s: %s: %s. %s\n", r.where(f), f.Check, line(f.Says), line(f.Instead))
		}
	}
	fmt.Fprintf(&b, "BEGIN;\nSET LOCAL search_path = pg_catalog, pg_temp;\nSET LOCAL standard_conforming_strings = on;\n%s\n", notAs(r.Role))
	if r.unmigrated() {
		b.WriteString(notBefore + "\n")
	}
	if slices.ContainsFunc(r.Stopping(), func(f Finding) bool { return strings.HasPrefix(f.Check, "policy-") }) {
		b.WriteString(notMisspelt + "\n")
	}
	mended := slices.Clone(r.Findings)
	slices.SortStableFunc(mended, func(a, b Finding) int { return a.stage - b.stage })
	written := map[string]bool{}
	for _, f := range mended {
		if f.SQL == "" {
			continue
		}
		fmt.Fprintf(&b, "\n-- %s: %s\n", f.Check, line(f.Says))
		if f.Instead != "" {
			fmt.Fprintf(&b, "-- %s\n", line(f.Instead))
		}
		if !written[f.SQL] {
			b.WriteString(f.SQL + "\n")
		}
		written[f.SQL] = true
	}
	b.WriteString("\nCOMMIT;\n")
	return b.String()
}

// where tells where what has no SQL of its own is mended.
func (r *Report) where(f Finding) string {
	if f.by != "" && slices.ContainsFunc(r.Findings, func(other Finding) bool { return other.SQL != "" && other.Check+" "+other.Object == f.by }) {
		return "Mended below, by " + line(f.by)
	}
	return "Not fixed here"
}

// notBefore is a statement that fails. Without the wall's view the script can't put up the wall,
// and who sees it succeed would think that it did.
const notBefore = `DO 'BEGIN RAISE ''there is no view tenantgate_wall.server, so this can put up no wall, and changes nothing: run "tenantgate migrate" first (--no-tables beside tables of your own), then take the script of doctor --sql anew''; END';`

// notMisspelt is a statement that fails. A policy that names what the database does not have may be misspelt: then
// the script would give and take rights that it does not mean.
const notMisspelt = `DO 'BEGIN RAISE ''a policy names a table or column that is not there, so this changes nothing: correct it first (doctor names it with policy-…), then take the script of doctor --sql anew''; END';`

// notAs is a statement that fails for a role. Where an owner was taken for the statement
// role, the script would take rights from the owner.
func notAs(role string) string {
	literal := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	return "DO " + literal("BEGIN IF current_user = "+literal(role)+" THEN RAISE 'doctor took this role for the one that statements run as: run this as the owner of the tables, and give doctor the other one with --database-url'; END IF; END") + ";"
}

// unmigrated tells whether the wall's view is missing.
func (r *Report) unmigrated() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == viewMissing })
}

// awaitMigration takes the SQL that names the wall's view out of the findings where
// there is no such view: nobody should run it by hand.
func (r *Report) awaitMigration() {
	if !r.unmigrated() {
		return
	}
	for i, f := range r.Findings {
		if strings.Contains(f.SQL, wall.Server) {
			r.Findings[i].SQL, r.Findings[i].Instead = "", migrateFirst
		}
	}
}

// line makes one line of a text that names objects: nothing in a name ends a comment.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}
