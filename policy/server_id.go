package policy

import (
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// CheckServerID gives an error where the scope column of a table of the file can't hold a server's id, by the rule that Bind
// has for its statements. It names the column, the schema's type of it and what that takes. A table that statements may not
// use does not count, nor does one that the schema lacks: the policy admits nothing while that is so. known tells whether any
// column was there to ask.
func (f *File) CheckServerID(s Schema, id string) (known bool, err error) {
	for _, section := range f.Tables {
		c := s.column(section.TableName, section.Column) // of a table that is not scoped there is none
		if c == nil || len(section.Access) == 0 {
			continue
		}
		known = true
		if !canonical(id, boundAs(*c)) {
			return true, fmt.Errorf("the scope column %s of %s.%s has the type %s, which takes %s", c.Name, section.Schema, section.Name, c.TypeName, taken(c.TypeName))
		}
	}
	return known, nil
}

// column gives a column of a table, or nil.
func (s Schema) column(table TableName, name string) *Column {
	t := s.Table(table)
	if t == nil {
		return nil
	}
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// boundAs is the type that a server's id is bound as where it is compared with a scope column.
func boundAs(c Column) tree.TypeName {
	if c.TypeSchema != builtinSchema { // citext, to which two servers' ids may be one
		return tree.TypeName{Schema: builtinSchema, Name: "text"}
	}
	return tree.TypeName{Schema: c.TypeSchema, Name: c.TypeName}
}

// taken says which ids are canonical for a type, where not all are.
func taken(typeName string) string {
	switch typeName {
	case "uuid":
		return "only UUIDs, in lower case and with hyphens"
	case "int2", "int4", "int8":
		return fmt.Sprintf("only whole numbers of %c bytes, without a plus sign or leading zeros", typeName[3])
	}
	return "no server's id"
}
