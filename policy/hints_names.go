package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// maxMeant is how many functions or types are named for one that is not available.
const maxMeant = 3

// sequenceCalls give numbers of sequences, which policies do not list.
var sequenceCalls = []string{"nextval", "currval", "lastval"}

// functionHint names the allowed functions that are spelled most like one that is not available.
func (p *Policy) functionHint(use tree.NameUse) string {
	if (use.Schema == "" || use.Schema == builtinSchema) && slices.Contains(sequenceCalls, use.Name) {
		return "leave the column out, then its default takes the next value; RETURNING gives it"
	}
	unqualified := func(n tree.TypeName) bool {
		return n.Schema == builtinSchema && p.namesakes[n.Name] == "" || n.Schema == p.catalog.FunctionSchema(n.Name)
	}
	return meant(use, spellings(use.Schema, p.functions, unqualified), "only functions that the policy lists may be called")
}

// typeHint is functionHint for types, which also have names that only SQL's grammar knows.
func (p *Policy) typeHint(use tree.NameUse) string {
	unqualified := func(n tree.TypeName) bool {
		return n.Schema == builtinSchema || n.Schema == p.catalog.TypeSchema(n.Name)
	}
	names := func(yield func(name, spelling string) bool) {
		for name, typ := range sqlTypes {
			if use.Schema == "" && p.types[tree.TypeName{Schema: builtinSchema, Name: typ}] && !yield(name, name) {
				return
			}
		}
		spellings(use.Schema, p.types, unqualified)(yield)
	}
	return meant(use, names, "built-in data types and the types of the policy's tables may be named")
}

// sqlTypes are the types that the SQL standard calls by another name of one word than pg_type.
var sqlTypes = map[string]string{
	"integer": "int4", "int": "int4", "smallint": "int2", "bigint": "int8", "decimal": "numeric", "real": "float4", "boolean": "bool", "character": "bpchar",
}

// spellings goes over the names of an allow-list, and how a caller writes each. Behind a schema there are those of the
// schema alone.
func spellings(schema string, list map[tree.TypeName]bool, unqualified func(tree.TypeName) bool) iter.Seq2[string, string] {
	return func(yield func(name, spelling string) bool) {
		for n := range list {
			spelling := lex.Spell(n.Name)
			if schema != "" || !unqualified(n) {
				spelling = lex.Spell(n.Schema) + "." + spelling
			}
			if (schema == "" || schema == n.Schema) && !yield(n.Name, spelling) {
				return
			}
		}
	}
}

// meant words which of the names a misspelt one was likely meant as; otherwise is for none.
func meant(use tree.NameUse, names iter.Seq2[string, string], otherwise string) string {
	near := slices.Sorted(slices.Values(refusal.Nearest(use.Name, names, maxMeant)))
	switch last := len(near) - 1; {
	case last < 0:
		return otherwise
	case last == 0:
		return "perhaps you meant " + near[0]
	default:
		return "perhaps you meant " + strings.Join(near[:last], ", ") + " or " + near[last]
	}
}
