package types

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// MergeFails tells whether comparing two columns as USING does may fail on some row: by
// the equality of their types, or by making one type of them. It compares outside of any
// guard. What is computed has no type here; its query is a barrier where it may fail.
func (ts *Types) MergeFails(l, r tree.TypeName) bool {
	switch unknown := (tree.TypeName{}); {
	case ts.Catalog.Namesakes.Operators["="]:
		return true
	case l == unknown && r == unknown:
		return false
	case l == unknown:
		return ts.MergeFails(r, l)
	case r == unknown:
		return !fitting[strings.TrimPrefix(l.Name, "_")] || ts.MergeFails(l, l)
	case l.Schema != "pg_catalog" || r.Schema != "pg_catalog": // a composite type's fails by its fields'
		return l != r || l.Name != "citext"
	case l == r && strings.HasPrefix(l.Name, "_"):
		element := tree.TypeName{Schema: l.Schema, Name: l.Name[1:]}
		return ts.MergeFails(element, element)
	}
	left, ok1 := PlainType(l)
	right, ok2 := PlainType(r)
	switch {
	case !ok1 || !ok2:
		return true
	case slices.Contains(numbers, left) && slices.Contains(numbers, right):
		return MergedType(l, r) == tree.TypeName{}
	}
	return !(left == right && left == "jsonb") && !ts.Catalog.Leakproof[tree.OperatorName{Name: "=", Left: left, Right: right}]
}

// MergedType gives the type of what USING makes of two columns, where it is one that every
// value of either has; zero where it isn't known to be. A float holds no 1e400.
func MergedType(l, r tree.TypeName) tree.TypeName {
	left, ok1 := PlainType(l)
	right, ok2 := PlainType(r)
	i, j := slices.Index(numbers, left), slices.Index(numbers, right)
	switch {
	case l == r:
		return l
	case !ok1 || !ok2:
		return tree.TypeName{}
	case left == right: // varchar
		return tree.TypeName{Schema: "pg_catalog", Name: left}
	case i < 0 || j < 0 || left == "numeric" && j > i || right == "numeric" && i > j:
		return tree.TypeName{}
	case i > j:
		return l
	}
	return r
}

// numbers are compared with each other, as the later one of the two.
var numbers = []string{"int2", "int4", "int8", "numeric", "float4", "float8"}

// fitting are the types whose every value fits whatever it is implicitly converted to. (Not
// every int8 is an oid, nor every date a timestamp.)
var fitting = map[string]bool{
	"bool": true, "bytea": true, "float4": true, "float8": true, "int2": true, "int4": true, "interval": true, "jsonb": true,
	"bpchar": true, "text": true, "varchar": true, "time": true, "timestamptz": true, "timetz": true, "uuid": true,
}
