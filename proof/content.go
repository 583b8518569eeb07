package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// neighbour is another server in D: its ids for each type of scope column, how many times
// the rows of the server under test it has, and whether its keys are the same as theirs.
type neighbour struct {
	ids   map[statement.Type]string
	times int
	twin  bool
}

var neighbours = []neighbour{
	{ids: map[statement.Type]string{statement.Text: "CANARY-server", statement.Big: "8675309", statement.UUID: "8675309a-0000-4000-8000-000000000001"}, times: 1, twin: true},
	{ids: map[statement.Type]string{statement.Text: "8675309", statement.Big: "86753091", statement.UUID: "8675309a-0000-4000-8000-000000000002"}, times: 4},
}

// content gives the SQL that fills a database for a server.
func content(kind database, server string) string {
	var sql strings.Builder
	for _, t := range statement.Tables() {
		var rows []string
		if t.Fits(server) || t.ScopeType == "" {
			rows = ownRows(t, server)
		}
		if kind == shuffled {
			slices.Reverse(rows)
		}
		if kind == shared && t.ScopeType != "" {
			for _, n := range neighbours {
				rows = append(rows, n.rows(t)...)
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&sql, "INSERT INTO %s (%s) VALUES %s;\n", qualified(t), strings.Join(columnNames(t), ", "), strings.Join(rows, ", "))
		}
		if kind != shared && t.ScopeType != "" && t.Fits(server) {
			fmt.Fprintf(&sql, "ALTER TABLE %s ALTER COLUMN %s SET DEFAULT '%s';\n", qualified(t), statement.Quote(t.Scope()), server)
		}
	}
	return sql.String()
}

func qualified(t *statement.Table) string {
	return statement.Quote(t.Schema) + "." + statement.Quote(t.Name)
}

// columnNames are the columns that are filled: all but generated ones.
func columnNames(t *statement.Table) []string {
	var names []string
	for _, c := range t.Columns {
		if c.Kind != statement.Twice {
			names = append(names, statement.Quote(c.Name))
		}
	}
	return names
}

// ownRows are those of the server under test, with a NULL here and there.
func ownRows(t *statement.Table, server string) []string {
	return rows(t, t.Rows, func(c *statement.Column, i, k int) string {
		switch {
		case c.Kind == statement.Scope:
			return literal(server)
		case c.Null && (i+k)%7 == 6:
			return "NULL"
		case c.Kind == statement.Ref:
			return literal(statement.Sample(t, c, i%size(c.To)))
		}
		return literal(statement.Sample(t, c, i))
	})
}

// rows are those of a neighbour. Where the scope column can be NULL some rows are nobody's.
func (n neighbour) rows(t *statement.Table) []string {
	return rows(t, t.Rows*n.times, func(c *statement.Column, i, _ int) string {
		switch {
		case c.Kind == statement.Scope && c.Null && i%5 == 4:
			return "NULL"
		case c.Kind == statement.Scope:
			return literal(n.ids[t.ScopeType])
		case c.Kind == statement.Ref:
			return literal(statement.Canary(t, c, i%(size(c.To)*n.times), n.twin))
		}
		return literal(statement.Canary(t, c, i, n.twin))
	})
}

func rows(t *statement.Table, n int, value func(c *statement.Column, i, k int) string) []string {
	var all []string
	for i := range n {
		var values []string
		for k := range t.Columns {
			if c := &t.Columns[k]; c.Kind != statement.Twice {
				values = append(values, value(c, i, k))
			}
		}
		all = append(all, "("+strings.Join(values, ", ")+")")
	}
	return all
}

func literal(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" }

// size is how many rows a server has of a table.
func size(name string) int {
	for _, t := range statement.Tables() {
		if t.Name == name {
			return t.Rows
		}
	}
	return 1
}
