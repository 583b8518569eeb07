package policy

import (
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// checkColumns admits columns that the policy opens and on which the statement role has the privilege. What the policy
// closes is refused as such, whatever the role may do.
func (p *Policy) checkColumns(f *facts.Facts) *refusal.Refusal {
	for _, use := range f.Reads {
		switch {
		case use.Column.Ungranted:
			return ungranted(use, "SELECT", "", "; a whole row holds this column too")
		case use.Column.NoRead:
			return closedColumn(use, "read", "name the columns that are needed; a whole row holds this one too")
		}
	}
	for _, use := range f.Writes {
		switch {
		case use.Column.NoWrite:
			return closedColumn(use, "written", "")
		case use.Column.NoInsert && use.Access == facts.AccessInsert, use.Column.NoUpdate && use.Access == facts.AccessUpdate:
			return ungranted(use, named(use.Access), " for writing", "")
		}
	}
	return nil
}

// closedColumn refuses a column that the policy closes.
func closedColumn(use facts.ColumnUse, done, hint string) *refusal.Refusal {
	return &refusal.Refusal{Code: ColumnNotAllowed, Offset: use.Offset, Hint: hint,
		Message: "column " + use.Table.Name + "." + use.Column.Name + " must not be " + done}
}

// ungranted refuses a column that the policy opens, but for which the statement role has no privilege: an operator may
// not know, since a column that is added to a table with grants on its columns has none.
func ungranted(use facts.ColumnUse, privilege, purpose, instead string) *refusal.Refusal {
	return &refusal.Refusal{Code: ColumnNotAllowed, Offset: use.Offset,
		Message: "column " + use.Table.Name + "." + use.Column.Name + " is not granted to the service's role" + purpose,
		Hint:    "an operator can GRANT " + privilege + " (" + lex.Spell(use.Column.Name) + ") ON " + lex.Spell(use.Table.Name) + " TO the statement role" + instead}
}
