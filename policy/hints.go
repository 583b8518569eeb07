package policy

import (
	"cmp"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// The steps of a decision say what is wrong and where. This file chooses what the caller reads of it: which of
// several refusals, and which hint. It decides nothing: what is refused stays refused, with its code.

// explain gives a fault as the caller reads it. stmt is nil for what could not be parsed.
func (p *Policy) explain(tr *lex.Translation, stmt tree.Statement, d Dialect, fault *refusal.Refusal) *refusal.Refusal {
	if d == Postgres && stmt != nil {
		fault = p.catalogRefusal(stmt, fault)
	}
	return p.withHint(tr, d, fault)
}

// withHint is the one rule on hints. A fault keeps the hint of the step that refused, which knows best what to do
// instead. A column that does not exist gets the columns that are spelled alike, and only without any the hint on double
// quotes. A syntax error gets the hint on a reserved word, which the grammar has tried, before the one on parameters.
func (p *Policy) withHint(tr *lex.Translation, d Dialect, fault *refusal.Refusal) *refusal.Refusal {
	switch {
	case fault.Hint != "":
	case len(fault.Near) > 0:
		fault.Hint = nearHint(fault.Near)
	case fault.Value && tr.QuotesName(fault.Offset):
		fault.Hint = "double quotes are for names: write a text in single quotes, or as a parameter " + d.placeholder()
	case fault.Code == SyntaxError:
		fault.Hint = cmp.Or(reservedHint(tr, fault.Offset), p.parameterHint(tr, d))
	}
	return fault
}

// reservedHint says how the reserved word at an offset is written as a name; "" where it is none.
func reservedHint(tr *lex.Translation, at int) string {
	word := tree.ReservedName(tr, at)
	if word == "" {
		return ""
	}
	return "to use the reserved word " + word + " as a name, write it in double quotes: " + lex.Quote(strings.ToLower(word))
}

// nearHint names columns as Postgres does; one that is spelled with quotation marks needs no more of them.
func nearHint(near []string) string {
	list := make([]string, len(near))
	for i, column := range near {
		if list[i] = column; !strings.Contains(column, `"`) {
			list[i] = `"` + column + `"`
		}
	}
	return "perhaps you meant to reference the column " + strings.Join(list, " or the column ")
}

// parameterHint says how parameters are written, to a caller who writes ? where only Postgres reads it, and that the
// scope condition need not be written where it is added; "" where no parameter is written like that.
func (p *Policy) parameterHint(tr *lex.Translation, d Dialect) string {
	if d != Postgres || !tr.Marked() {
		return ""
	}
	for _, t := range p.file.Tables {
		if p.file.Scope.Mode == Inject && t.Scoped && tr.MarkedFor(t.Column) {
			return "parameters are $1, $2 and so on here, and ? is an operator; the condition on " + t.Column + " can be left out, because it is added"
		}
	}
	return "parameters are $1, $2 and so on here; ? is an operator"
}

// catalogRefusal says of a statement on Postgres' catalog that it is not answered, whatever was
// the first thing in the statement that is not available. The code stays.
func (p *Policy) catalogRefusal(stmt tree.Statement, fault *refusal.Refusal) *refusal.Refusal {
	switch fault.Code {
	case TableNotAllowed, ColumnNotAllowed, FunctionNotAllowed, TypeNotAllowed, ConstructNotAllowed, QueryFailed:
	default:
		return fault
	}
	at, is := analyze.OfSystem(stmt, p.catalog, fault)
	if !is {
		return fault
	}
	return &refusal.Refusal{Code: fault.Code, Offset: at, Message: "the catalog is not answered yet",
		Hint: `tools that read it, such as \d of psql and the introspection of ORMs, do not work here; ` + p.catalog.Listed()}
}

// preferTableRefusal gives the refusal of a table that is not available in place of the fault of something that was not
// understood: the fault may be a consequence of that, since no column of such a table is known.
func (p *Policy) preferTableRefusal(facts *facts.Facts, fault *refusal.Refusal) *refusal.Refusal {
	if facts == nil {
		return fault
	}
	if first := p.checkTables(facts); first != nil {
		return first
	}
	return fault
}
