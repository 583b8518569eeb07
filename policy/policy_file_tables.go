package policy

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// defaultSchema is where a table whose key names no schema is.
const defaultSchema = "public"

// tables reads the mapping from table names to what may be done with them.
func (r *reader) tables(n ast.Node, into *[]TableSection) error {
	return r.entries(n, "tables", func(key string, at Position, n ast.Node) error {
		t := TableSection{At: at}
		if err := r.tableName(key, at, &t.TableName); err != nil {
			return err
		}
		if slices.ContainsFunc(*into, func(o TableSection) bool { return o.TableName == t.TableName }) {
			return r.mistake(at, "table %s.%s is listed twice", t.Schema, t.Name)
		}
		if err := r.table(n, &t); err != nil {
			return err
		}
		*into = append(*into, t)
		return nil
	})
}

func (r *reader) table(n ast.Node, t *TableSection) error {
	var columnAt Position
	err := r.object(n, "table "+t.Name, fields{
		"scoped": func(n ast.Node) error { return r.boolean(n, "scoped", &t.Scoped) },
		"column": func(n ast.Node) error {
			columnAt = place(n)
			return r.identifier(n, "column", &t.Column)
		},
		"access":  func(n ast.Node) error { return r.kinds(n, "access", &t.Access) },
		"columns": func(n ast.Node) error { return r.columns(n, &t.Columns) },
		"accept":  func(n ast.Node) error { return r.accept(n, &t.Accept) },
	}, "scoped")
	switch {
	case err != nil:
		return err
	case !t.Scoped && t.Column != "":
		return r.mistake(columnAt, "table %s is not scoped, so it has no scope column; write scoped: true or leave column out", t.Name)
	case t.Scoped && t.Access == nil:
		// What a server does to its own rows needs no further word. A table that is
		// shared by all servers stays closed until the file opens it.
		t.Access = []Kind{Select, Insert, Update, Delete}
	}
	return nil
}

// columns reads the rules of single columns.
func (r *reader) columns(n ast.Node, into *[]ColumnRule) error {
	return r.entries(n, "columns", func(key string, at Position, n ast.Node) error {
		if problem := badIdentifier(key); problem != "" {
			return r.mistake(at, "column %q %s", key, problem)
		}
		c := ColumnRule{Name: key, Read: true, Write: true, At: at}
		err := r.object(n, "column "+key, fields{
			"read":  func(n ast.Node) error { return r.boolean(n, "read", &c.Read) },
			"write": func(n ast.Node) error { return r.boolean(n, "write", &c.Write) },
		})
		*into = append(*into, c)
		return err
	})
}

// tableName reads table or schema.table.
func (r *reader) tableName(key string, at Position, into *TableName) error {
	schema, name, qualified := strings.Cut(key, ".")
	if !qualified {
		schema, name = defaultSchema, key
	}
	for _, part := range [...]string{schema, name} {
		if problem := badIdentifier(part); problem != "" {
			return r.mistake(at, "table %q %s; write table or schema.table", key, problem)
		}
	}
	if isSystemSchema(schema) {
		return r.mistake(at, "table %q is of a system schema: those can't be opened", key)
	}
	*into = TableName{Schema: schema, Name: name}
	return nil
}

// isSystemSchema tells the schemas that Postgres keeps for itself: what is in them
// tells about all servers.
func isSystemSchema(schema string) bool {
	return strings.HasPrefix(schema, "pg_") || schema == "information_schema"
}
