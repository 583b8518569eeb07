package policy

import (
	"reflect"
	"slices"
)

// SchemaChange is what a schema has otherwise than an older one.
type SchemaChange struct {
	// All says that something has changed on which every decision depends, such as what bare names mean.
	All    bool
	Tables []TableName // the tables that are others, or that only one of the schemas has
}

// Since compares a schema with an older one. The tables may come in any order.
func (s Schema) Since(older Schema) (c SchemaChange) {
	was := map[TableName]Table{}
	for _, t := range older.Tables {
		was[TableName{t.Schema, t.Name}] = t
	}
	for _, t := range s.Tables {
		name := TableName{t.Schema, t.Name}
		if before, known := was[name]; !known || !reflect.DeepEqual(before, t) {
			c.Tables = append(c.Tables, name)
		}
		delete(was, name)
	}
	for name := range was {
		c.Tables = append(c.Tables, name)
	}
	s.Tables, older.Tables = nil, nil
	c.All = !reflect.DeepEqual(s, older)
	return c
}

// Concerns tells whether what depends on these tables alone may be otherwise now; nil is for what may depend on any.
func (c SchemaChange) Concerns(tables []TableName) bool {
	return c.All || tables == nil || slices.ContainsFunc(tables, func(t TableName) bool { return slices.Contains(c.Tables, t) })
}
