package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// canonical tells whether an id is spelled as a type's own output has it. Otherwise two
// ids, such as 42 and 042, or a UUID in either case, would be two servers to us and one
// value to the database. A type that is not known here keeps its values apart only as
// far as it says itself, so no id is canonical for it.
func canonical(id string, t tree.TypeName) bool {
	if t.Schema != builtinSchema {
		return t.Name == "citext" && !strings.ContainsFunc(id, func(r rune) bool { return r > '~' || 'A' <= r && r <= 'Z' })
	}
	switch t.Name {
	case "text":
		return true
	case "varchar", "bpchar": // varchar(n) cuts the spaces beyond n
		return !strings.HasSuffix(id, " ")
	case "int2", "int4", "int8":
		n, err := strconv.ParseInt(id, 10, 8*int(t.Name[3]-'0'))
		return err == nil && strconv.FormatInt(n, 10) == id
	case "uuid":
		return isUUID(id)
	}
	return false
}

// bindable tells whether some id is canonical for a type.
func bindable(t tree.TypeName) bool {
	return slices.ContainsFunc([]string{"a", "1", "00000000-0000-0000-0000-000000000000"}, func(id string) bool { return canonical(id, t) })
}

// isUUID admits the one form that Postgres prints: lower-case, with hyphens.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		hyphen, c := i == 8 || i == 13 || i == 18 || i == 23, id[i]
		if hyphen != (c == '-') || !hyphen && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
