package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed carried.sql
var carried string

//go:embed rule.sql
var rule string

// undecided finds the types that types.go says nothing about.
const undecided = `
	SELECT typname::text
	  FROM pg_catalog.pg_type
	 WHERE typnamespace = 'pg_catalog'::regnamespace
	   AND typtype IN ('b', 'd', 'e', 'm', 'p', 'r')
	   AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_type e WHERE e.typarray = pg_type.oid)
	   AND typname <> ALL ($1::text[])
	 ORDER BY 1`

// Major is what one major version of PostgreSQL says.
type Major struct {
	Version    int                 // 15 for 15.18
	objections map[string][]string // by function name; none: nothing speaks against it
	operators  map[Operator]overload
}

// Read asks a database for its version, functions, types and operators. It is an error if it has a
// type that nobody has decided on.
func Read(ctx context.Context, db *pgx.Conn) (*Major, error) {
	m := &Major{objections: map[string][]string{}, operators: map[Operator]overload{}}
	if err := db.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&m.Version); err != nil {
		return nil, fmt.Errorf("reading the version: %w", err)
	}
	if err := checkTypes(ctx, db, m.Version); err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, carried+rule, append(Types(), polymorphicTypes.names...))
	if err != nil {
		return nil, fmt.Errorf("reading the functions: %w", err)
	}
	var name, objection string
	_, err = pgx.ForEachRow(rows, []any{&name, &objection}, func() error {
		m.note(name, objection)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the functions: %w", err)
	}
	if err := m.readOperators(ctx, db); err != nil {
		return nil, fmt.Errorf("reading the operators: %w", err)
	}
	return m, nil
}

func checkTypes(ctx context.Context, db *pgx.Conn, version int) error {
	decided := append(append(Types(), names(refusedTypes[:])...), polymorphicTypes.names...)
	rows, err := db.Query(ctx, undecided, decided)
	if err != nil {
		return fmt.Errorf("reading the types: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("reading the types: %w", err)
	}
	if len(found) > 0 {
		return fmt.Errorf("PostgreSQL %d has types that types.go does not decide on: %s", version, strings.Join(found, ", "))
	}
	return nil
}

// note files an objection to a name, and with the first one those of the families.
func (m *Major) note(name, objection string) {
	if _, seen := m.objections[name]; !seen {
		m.objections[name] = objections(name)
	}
	if objection != "" {
		m.objections[name] = append(m.objections[name], objection)
	}
}

// Names gives all functions of the major, sorted.
func (m *Major) Names() []string {
	all := make([]string, 0, len(m.objections))
	for name := range m.objections {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Objections gives what speaks against a function in this major after the exceptions.
func (m *Major) Objections(name string) []string {
	return slices.DeleteFunc(slices.Clone(m.objections[name]), func(o string) bool { return excused(name, o) })
}

// Functions gives the names that are safe in every major that has them, sorted.
func Functions(majors ...*Major) []string {
	safe := map[string]bool{}
	for _, m := range majors {
		for _, name := range m.Names() {
			before, seen := safe[name]
			safe[name] = (before || !seen) && len(m.Objections(name)) == 0
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

// Types gives the types that a statement may name, sorted.
func Types() []string {
	list := names(admittedTypes[:])
	slices.Sort(list)
	return list
}

// Unused gives the excuses that excuse nothing in any of the majors: the review they came
// from is out of date, and they could hide an objection to come.
func Unused(majors ...*Major) []string {
	var unused []string
	for _, e := range exceptions {
		for _, excuse := range e.excuse {
			if !slices.ContainsFunc(majors, func(m *Major) bool { return slices.Contains(m.objections[e.name], excuse) }) {
				unused = append(unused, e.name+": "+excuse)
			}
		}
	}
	return unused
}

// Has tells whether the major has a function of that name.
func (m *Major) Has(name string) bool {
	_, ok := m.objections[name]
	return ok
}
