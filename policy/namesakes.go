package policy

import (
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Postgres looks for what a statement names in pg_catalog first, but for functions and operators
// it looks in the whole search path and takes the one that fits the operands best: of email =
// 'x' on a column of type citext that is citext's =. So the path of statements must be that of the
// application, or = means another operator; and what was judged by its name in pg_catalog has
// namesakes that nobody has judged. They are read with the schema, and admitted where the policy
// allows their function, or where they belong to an extension that was judged.

// Namesake is a function or operator outside pg_catalog with the name of one in it.
type Namesake struct {
	Operator     bool
	Schema, Name string
	Text         string       // as messages name it: public.=(public.citext,public.citext)
	Operands     []Type       // of an operator those it has, of a function its arguments
	Own          []Type       // those among them that nothing of pg_catalog is converted to unasked
	Odd          bool         // pg_catalog has none of the name with as many operands
	Function     FunctionName // what an operator runs; a function itself
	Definer      bool         // which runs with its owner's rights
	Leakproof    bool         // and that row-level security does not hold back
	Extension    string       // that it belongs to; "" for none
	Lacks        string       // why statements do not find it, in words for an operator; "": they do
}

// namesakes judges the namesakes that statements on the policy's tables could mean. A comparison
// that can't be admitted is an error, since hardly any statement has none; other operators and
// functions are refused where they are used.
func namesakes(s Schema, allowed []FunctionName, extensions []string) (tree.Namesakes, map[string]string, error) {
	known := tree.Namesakes{Functions: map[string]bool{}, Operators: map[string]bool{}, Unjudged: map[string]bool{}}
	refused := map[string]string{}
	types := reached(s)
	for _, n := range s.Namesakes {
		if !n.means(types) {
			continue
		}
		judged := slices.Contains(extensions, n.Extension) && !n.Definer
		problem := n.Lacks
		if problem == "" && n.Leakproof {
			problem = "it is marked LEAKPROOF: take that from its function, or move it out of the search path"
		}
		if problem == "" && !judged && !slices.Contains(allowed, n.Function) {
			problem = "it is not known to be safe: list " + n.Function.Schema + "." + n.Function.Name + " in functions.allow, or move it out of the search path"
		}
		switch {
		case problem == "" && n.Operator:
			known.Operators[n.Name] = known.Operators[n.Name] || len(n.Own) == 0
			known.Unjudged[n.Name] = known.Unjudged[n.Name] || !judged
		case problem == "":
			known.Functions[n.Name] = known.Functions[n.Name] || !judged
		case n.Operator && tree.IsComparison(n.Name):
			return known, nil, fmt.Errorf("statements could mean the operator %s%s as the application does, but %s", n.Text, n.of(), problem)
		case refused[n.Name] == "":
			refused[n.Name] = fmt.Sprintf("%s%s has the name too, but %s", n.Text, n.of(), problem)
		}
	}
	return known, refused, nil
}

func (n Namesake) of() string {
	if n.Extension == "" {
		return ""
	}
	return " of the extension " + n.Extension
}

// means tells whether a statement could mean it. What has an operand of a type that no value in
// the statement has is taken for a literal alone, and only where pg_catalog has nothing of that form.
func (n Namesake) means(types map[Type]bool) bool {
	return n.Odd || len(n.Own) == 0 || slices.ContainsFunc(n.Own, func(t Type) bool { return types[t] })
}

// reached are the types outside pg_catalog that values in statements may have: those of columns, which
// statements may name too, what domains are over, and arrays of them.
func reached(s Schema) map[Type]bool {
	types := map[Type]bool{}
	reach := func(t Type) { types[t], types[Type{Schema: t.Schema, Name: "_" + t.Name}] = true, true }
	for _, t := range s.Types {
		reach(t)
	}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			reach(c.Base)
		}
	}
	return types
}

// standsIn tells of an = outside pg_catalog that could be the one which restricts a table to a
// server's rows. Postgres takes an operator for the very types first: pg_catalog has one for each
// type of scope columns but varchar and citext, which are compared as text.
func (n Namesake) standsIn(column Type) bool {
	text := Type{Schema: builtinSchema, Name: "text"}
	if !n.Operator || n.Name != "=" || n.Lacks != "" || column.Schema == builtinSchema && column.Name != "varchar" {
		return false
	}
	foreign := func(t Type) bool { return t != column && t.Schema != builtinSchema }
	return !slices.ContainsFunc(n.Operands, foreign) && (column.Schema == builtinSchema || slices.ContainsFunc(n.Operands, func(t Type) bool { return t == text }))
}
