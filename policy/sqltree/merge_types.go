package sqltree

import "strings"

// mergeFails tells whether comparing two columns as USING does may fail on some row: by
// the equality of their types, or by making one type of them. It compares outside of any
// guard. What is computed has no type here; its query is a barrier where it may fail.
func (a *analyzer) mergeFails(l, r TypeName) bool {
	switch unknown := (TypeName{}); {
	case l == unknown && r == unknown:
		return false
	case l == unknown:
		return a.mergeFails(r, l)
	case r == unknown:
		return narrow[l.Name] || a.mergeFails(l, l)
	case l.Schema != "pg_catalog" || r.Schema != "pg_catalog": // a composite type's fails by its fields'
		return l != r || l.Name != "citext"
	case l == r && strings.HasPrefix(l.Name, "_"):
		element := TypeName{l.Schema, l.Name[1:]}
		return a.mergeFails(element, element)
	}
	left, ok1 := plainType(l)
	right, ok2 := plainType(r)
	switch {
	case !ok1 || !ok2:
		return true
	case numbers[left] && numbers[right]:
		return left != right && (left == "numeric" && floats[right] || right == "numeric" && floats[left])
	}
	return !(left == right && left == "jsonb") && !a.catalog.leakproof[OperatorName{"=", left, right}]
}

// narrow are types whose values another type may be too small for, which is found out row
// by row.
var narrow = map[string]bool{"numeric": true, "date": true, "timestamp": true}

// floats hold no 1e400.
var floats = map[string]bool{"float4": true, "float8": true}

// numbers are compared with each other.
var numbers = map[string]bool{"int2": true, "int4": true, "int8": true, "numeric": true, "float4": true, "float8": true}
