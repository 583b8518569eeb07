package analyze

import (
	"iter"
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// noColumn is Postgres' own error: there a name is in quotation marks where it stands alone. near are the columns that
// may have been meant. Only the first fault is reported, so only for that they are compared.
func (a *analyzer) noColumn(written, name string, near iter.Seq2[string, string], at int) {
	if a.fault != nil {
		return
	}
	a.fail(&refusal.Refusal{
		Code: refusal.QueryFailed, SQLState: "42703", Offset: at, Message: "column " + written + " does not exist",
		Near: refusal.Nearest(name, near, tree.MaxNear),
	})
}

// noValue is noColumn for a name without a qualifier, where a value may stand.
func (a *analyzer) noValue(l *level, name string, at int) {
	if a.fault == nil {
		a.noColumn(`"`+name+`"`, name, l.sight(), at)
		a.fault.Value = true
	}
}

// sight goes over the columns that may be named without a qualifier, innermost level first: their names and how each
// is spelled with its relation.
func (l *level) sight() iter.Seq2[string, string] {
	return func(yield func(name, spelling string) bool) {
		for at := l; at != nil; at = at.outer {
			for _, r := range at.rels {
				if meant, _ := l.relation("", r.name); meant != r && r.name != "" {
					continue // the name means a relation further in
				}
				for name, spelling := range r.sight() {
					if !yield(name, spelling) {
						return
					}
				}
			}
		}
	}
}

// sight is level.sight for the columns of one relation.
func (r *relation) sight() iter.Seq2[string, string] {
	return func(yield func(name, spelling string) bool) {
		qualifier := ""
		if r.name != "" {
			qualifier = lex.Spell(r.name) + "."
		}
		for _, c := range r.cols {
			if c.nameable() && !yield(c.name, qualifier+lex.Spell(c.name)) {
				return
			}
		}
	}
}

// nameable tells whether a hint may name the column: a statement may read it, and somebody wrote its name.
func (c column) nameable() bool {
	return !c.guessed && !c.noRead() && (c.table == nil || !c.table.Closed)
}

// inBoth goes over the columns that both sides of a join have, which USING may name.
func inBoth(left, right item) iter.Seq2[string, string] {
	nameable := func(it item) []column {
		return slices.DeleteFunc(slices.Clone(it.cols), func(c column) bool { return !c.nameable() })
	}
	return func(yield func(name, spelling string) bool) {
		for _, name := range shared(nameable(left), nameable(right)) {
			if !yield(name, lex.Spell(name)) {
				return
			}
		}
	}
}
