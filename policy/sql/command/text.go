package command

import (
	"reflect"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// text spells a command that Postgres is to run, from what was read alone: nothing of the
// caller's bytes is in it but names between quotes. It is "" for what runs nothing by itself.
func (d *Directive) text() string {
	switch d.Verb {
	case Begin:
		return "BEGIN" + d.Modes.text(" ")
	case SetTransaction:
		return "SET TRANSACTION" + d.Modes.text(" ")
	case Commit:
		return "COMMIT" + d.chain()
	case Rollback:
		return "ROLLBACK" + d.chain()
	case Savepoint:
		return "SAVEPOINT " + lex.Quote(d.Name)
	case Release:
		return "RELEASE SAVEPOINT " + lex.Quote(d.Name)
	case RollbackTo:
		return "ROLLBACK TO SAVEPOINT " + lex.Quote(d.Name)
	case Fetch:
		return "FETCH " + d.direction + " FROM " + lex.Quote(d.Name)
	case Move:
		return "MOVE " + d.direction + " FROM " + lex.Quote(d.Name)
	case CloseCursor:
		if d.Name == "" {
			return "CLOSE ALL"
		}
		return "CLOSE " + lex.Quote(d.Name)
	}
	return ""
}

func (d *Directive) chain() string {
	if d.Chain {
		return " AND CHAIN"
	}
	return ""
}

// text spells the modes behind something; nothing where there are none.
func (m Modes) text(before string) string {
	var words []string
	if m.Isolation != "" {
		words = append(words, "ISOLATION LEVEL "+strings.ToUpper(m.Isolation))
	}
	if m.ReadOnly != nil {
		words = append(words, map[bool]string{true: "READ ONLY", false: "READ WRITE"}[*m.ReadOnly])
	}
	if m.Deferrable != nil {
		words = append(words, map[bool]string{true: "DEFERRABLE", false: "NOT DEFERRABLE"}[*m.Deferrable])
	}
	if len(words) == 0 {
		return ""
	}
	return before + strings.Join(words, ", ")
}

// Around spells what runs around the query of DECLARE and of COPY … TO.
func (d *Directive) Around() (head, tail string) {
	switch d.Verb {
	case Declare:
		return d.declaration(), ""
	case CopyOut:
		return "COPY (", ") TO STDOUT" + d.options.text()
	}
	return "", ""
}

// Proved tells whether a final text reads as the very command that it was made of, around
// the query whose final text is given; "" for a command without one.
func (d *Directive) Proved(text, query string, c *tree.Catalog) *refusal.Refusal {
	unproven := &refusal.Refusal{Code: refusal.Internal, Message: "the command's text does not read as the command", Offset: -1}
	tr, fault := lex.Native(text, tree.ParseGuard())
	if fault != nil {
		return tree.TooLarge(fault, unproven)
	}
	stmt, fault := tree.Parse(text)
	if fault != nil {
		return tree.TooLarge(fault, unproven)
	}
	again, fault := Read(stmt, tr, c, false)
	if fault != nil || again == nil {
		return unproven
	}
	was, is := d.Command, again.Command
	was.Copy.Columns, is.Copy.Columns = 0, 0
	if !reflect.DeepEqual(was, is) || d.cursor != again.cursor || d.direction != again.direction || !reflect.DeepEqual(d.options, again.options) || again.Made != "" {
		return unproven
	}
	if query == "" && again.query == nil {
		return nil
	}
	inner, fault := tree.Parse(query)
	if fault != nil || !again.Holds(inner) {
		return unproven
	}
	return nil
}
