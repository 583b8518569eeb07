package builtin

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// operators reads the operators whose operands are of the types $1.
const operators = `
	SELECT o.oprname::text, coalesce(l.typname::text, ''), r.typname::text, p.proleakproof
	  FROM pg_catalog.pg_operator o
	  JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
	  JOIN pg_catalog.pg_type r ON r.oid = o.oprright
	  LEFT JOIN pg_catalog.pg_type l ON l.oid = o.oprleft
	 WHERE o.oprnamespace = 'pg_catalog'::regnamespace
	   AND r.typnamespace = 'pg_catalog'::regnamespace AND r.typname = ANY ($1::text[])
	   AND (o.oprleft = 0 OR l.typnamespace = 'pg_catalog'::regnamespace AND l.typname = ANY ($1::text[]))`

// Operator is an operator by its name and its operands' types, as in pg_type; Left is ""
// for a prefix operator.
type Operator struct{ Name, Left, Right string }

// String gives the operator's line of builtin-leakproof.txt.
func (o Operator) String() string {
	return o.Name + " " + cmp.Or(o.Left, "-") + " " + o.Right
}

func (m *Major) readOperators(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, operators, Types())
	if err != nil {
		return err
	}
	var o Operator
	var leakproof bool
	_, err = pgx.ForEachRow(rows, []any{&o.Name, &o.Left, &o.Right, &leakproof}, func() error {
		m.leakproof[o] = leakproof
		return nil
	})
	return err
}

// Leakproof gives the operators that are leakproof in every major that has them, sorted.
func Leakproof(majors ...*Major) []Operator {
	leakproof := map[Operator]bool{}
	for _, m := range majors {
		for o, ok := range m.leakproof {
			before, seen := leakproof[o]
			leakproof[o] = (before || !seen) && ok
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
