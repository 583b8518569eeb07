package policy

import (
	"maps"
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
	c.Tables = ChangedTables(older.Tables, s.Tables, func(t Table) TableName { return TableName{t.Schema, t.Name} })
	s.Tables, older.Tables = nil, nil
	c.All = !reflect.DeepEqual(s, older)
	return c
}

// ChangedTables names what is in one of two lists alone, or otherwise in the other. Both name no table twice.
func ChangedTables[T any](before, now []T, name func(T) TableName) (changed []TableName) {
	was := map[TableName]T{}
	for _, t := range before {
		was[name(t)] = t
	}
	for _, t := range now {
		if old, known := was[name(t)]; !known || !reflect.DeepEqual(old, t) {
			changed = append(changed, name(t))
		}
		delete(was, name(t))
	}
	return slices.AppendSeq(changed, maps.Keys(was))
}

// Concerns tells whether what depends on these tables alone may be otherwise now; nil is for what may depend on any.
func (c SchemaChange) Concerns(tables []TableName) bool {
	return c.All || tables == nil || slices.ContainsFunc(tables, func(t TableName) bool { return slices.Contains(c.Tables, t) })
}
