package command

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// copy reads COPY. That of a table is a query or an INSERT on it, made here, so that the
// table, its columns and what is restricted are judged as everywhere.
func (r *directions) copy(s *pg.CopyStmt) {
	r.command(CopyOut, "")
	if s.IsFrom {
		r.command(CopyIn, "")
	}
	r.copyOptions(s)
	if s.Query != nil {
		r.copyQuery(s)
		return
	}
	listed, ok := tree.Strings(s.Attlist)
	if !ok || s.Relation == nil {
		r.fail(refusal.Unplaced())
		return
	}
	r.out.At = int(s.Relation.Location)
	if t := r.catalog.Table(s.Relation.Schemaname, s.Relation.Relname); t != nil && !t.Closed {
		r.copyColumns(t, listed, s.IsFrom)
	}
	if s.IsFrom {
		r.copyInto(s.Relation, listed)
		return
	}
	r.copyTable(s.Relation, listed)
}

// copyColumns looks at the columns that are listed, as COPY does before it asks for a row. Of a table that is closed or
// not in the policy nothing is said.
func (r *directions) copyColumns(t *tree.Table, listed []string, written bool) {
	for i, name := range listed {
		switch {
		case slices.Contains(listed[:i], name):
			r.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42701", Message: `column "` + name + `" specified more than once`, Offset: r.out.At})
			return
		case t.Index(name) < 0:
			r.fail(t.NoColumn(name, written, r.out.At))
			return
		}
	}
}

// copyQuery finds the query between the brackets of COPY (…) TO. One that writes is refused,
// as only a query's result is known to be all that it gives.
func (r *directions) copyQuery(s *pg.CopyStmt) {
	if s.Query.GetSelectStmt() == nil {
		r.fail(unsupported("COPY takes a SELECT here", "run the statement by itself, with RETURNING"))
		return
	}
	t := lex.Cursor{Source: r.tr, Pos: 1}
	if !t.Is("(") {
		r.fail(refusal.Unplaced())
		return
	}
	start := lex.Cursor{Source: r.tr, Pos: 2}
	t.SkipGroup()
	end := lex.Cursor{Source: r.tr, Pos: t.Pos - 1}
	r.stretch(start.Start(), end.Start())
}

// copyTable makes the query that COPY table TO is.
func (r *directions) copyTable(v *pg.RangeVar, listed []string) {
	columns := "*"
	t := r.catalog.Table(v.Schemaname, v.Relname)
	if len(listed) == 0 && t != nil && slices.ContainsFunc(t.Columns, func(c tree.Column) bool { return c.Generated }) {
		r.out.Shape = t
		for _, c := range t.Columns {
			if !c.Generated && !c.NoRead {
				listed = append(listed, c.Name)
			}
		}
	}
	if len(listed) > 0 {
		columns = strings.Join(lex.QuoteAll(listed), ", ")
	}
	r.out.Made = "SELECT " + columns + " FROM " + tableName(v)
}

// copyInto makes the INSERT of a row that COPY table FROM repeats. Like COPY it writes what it
// is given to identity columns too. The scope column is one of those that are meant by none,
// so that it takes what COPY table TO gives.
func (r *directions) copyInto(v *pg.RangeVar, listed []string) {
	t := r.catalog.Table(v.Schemaname, v.Relname)
	if t == nil {
		r.fail(&refusal.Refusal{Code: refusal.TableNotAllowed, Message: "table " + v.Relname + " is not available", Hint: r.catalog.Listed(), Offset: r.out.At})
		return
	}
	if len(listed) == 0 {
		r.out.Shape = t
		for _, c := range t.Columns {
			if !c.Generated {
				listed = append(listed, c.Name)
			}
		}
	}
	if len(listed) == 0 {
		r.fail(unsupported("COPY FROM needs a column to fill", ""))
		return
	}
	if i := slices.IndexFunc(t.Columns, func(c tree.Column) bool { return c.Spans && slices.Contains(listed, c.Name) }); i >= 0 {
		r.fail(unsupported("COPY can't write column "+t.Columns[i].Name+", whose type says which fields of an interval it has", "use INSERT, and write the values with their units"))
		return
	}
	values := make([]string, len(listed))
	for i := range values {
		values[i] = fmt.Sprintf("$%d", i+1)
	}
	r.out.Copy.Columns = len(listed)
	if r.inject && t.Scope != "" && !slices.Contains(listed, t.Scope) {
		listed, values = append([]string{t.Scope}, listed...), append([]string{"DEFAULT"}, values...)
	}
	r.out.Made = "INSERT INTO " + tableName(v) + " (" + strings.Join(lex.QuoteAll(listed), ", ") + ") OVERRIDING SYSTEM VALUE VALUES (" + strings.Join(values, ", ") + ")"
}

// tableName spells a table as the caller named it.
func tableName(v *pg.RangeVar) string {
	if v.Schemaname == "" {
		return lex.Quote(v.Relname)
	}
	return lex.Quote(v.Schemaname) + "." + lex.Quote(v.Relname)
}
