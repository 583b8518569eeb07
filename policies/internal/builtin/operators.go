package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"
)

//go:embed operators.sql
var operators string

// Operator is an operator by its name and its operands' types, as in pg_type; Left is ""
// for a prefix operator.
type Operator struct{ Name, Left, Right string }

// String gives the operator's line of builtin-leakproof.txt.
func (o Operator) String() string {
	return o.Name + " " + cmp.Or(o.Left, "-") + " " + o.Right
}

// overload is what a major says of one operator.
type overload struct {
	leakproof  bool
	objections []string
}

// foreignOperands excuse operators on types that no statement can name. A name stands for
// all its overloads, and the everyday ones (=, +, @>) have some on such types. Postgres
// takes those only where an operand has the type: TestForeignOperands tries each with
// untyped ones. The types that an admitted one is cast to unasked are those of a number
// that is compared.
var foreignOperands = [...]typeGroup{
	{[]string{"oid", "oidvector", "xid", "xid8", "cid", "tid", "pg_lsn"}, "numbers, which are compared and counted"},
	{[]string{"aclitem", "_aclitem"}, "compared, and looked up in a list"},
	{[]string{"path", "polygon"}, "no statement can make a value; a table's own column of the type is its author's choice"},
}

func (m *Major) readOperators(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, carried+operators, append(Types(), polymorphicTypes.names...))
	if err != nil {
		return err
	}
	var o Operator
	var function string
	var found overload
	_, err = pgx.ForEachRow(rows, []any{&o.Name, &o.Left, &o.Right, &function, &found.leakproof, &found.objections}, func() error {
		if len(found.objections) == 0 {
			found.objections = objections(function)
		}
		found.objections = slices.DeleteFunc(found.objections, excusedOperand)
		m.operators[o] = found
		return nil
	})
	return err
}

func excusedOperand(objection string) bool {
	return slices.ContainsFunc(names(foreignOperands[:]), func(name string) bool { return objection == "type "+name })
}

// Operators gives the names of operators all of whose overloads are safe, in every major
// that has them, sorted.
func Operators(majors ...*Major) []string {
	safe := map[string]bool{}
	for _, m := range majors {
		for o, found := range m.operators {
			before, seen := safe[o.Name]
			safe[o.Name] = (before || !seen) && len(found.objections) == 0
		}
	}
	list := make([]string, 0, len(safe))
	for name, ok := range safe {
		if ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Leakproof gives the operators between types that a statement may name which are
// leakproof in every major that has them, sorted.
func Leakproof(majors ...*Major) []Operator {
	named := append(Types(), "")
	leakproof := map[Operator]bool{}
	for _, m := range majors {
		for o, found := range m.operators {
			before, seen := leakproof[o]
			leakproof[o] = (before || !seen) && found.leakproof && slices.Contains(named, o.Left) && slices.Contains(named, o.Right)
		}
	}
	list := make([]Operator, 0, len(leakproof))
	for o, ok := range leakproof {
		if ok {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Operator) int { return cmp.Compare(a.String(), b.String()) })
	return list
}
