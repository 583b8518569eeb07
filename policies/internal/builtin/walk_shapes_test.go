package builtin_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// shapes are the ways in which arguments are made: "first" is the first argument's, "rest" the others'. Which
// text costs the most differs with the function.
var shapes = []string{"same", "needle", "combining", "distinct", "words", "pattern", "second", "nested", "backtrack", "short", "last", "prefix"}

// sql gives the call with arguments of a shape and size; "" where a type has none.
func (s subject) sql(shape string, n int) string {
	out := strings.ReplaceAll(s.call, "$n", strconv.Itoa(n))
	for i := len(s.types) - 1; i >= 0; i-- {
		arg := argument(s.types[i], shape, i, n)
		if s.rows {
			arg = perRow(s.types[i])
		}
		if arg == "" {
			return ""
		}
		out = strings.ReplaceAll(out, fmt.Sprintf("$%d", i), arg)
	}
	return out
}

// arguments makes the arguments and does nothing with them.
func (s subject) arguments(shape string, n int) string {
	parts := []string{"true"}
	for i, typ := range s.types {
		parts = append(parts, "("+argument(typ, shape, i, n)+") IS NULL")
	}
	return "SELECT " + strings.Join(parts, ", ")
}

// texts are the first text argument of a shape, and the others.
var texts = map[string][2]string{
	"same":      {"repeat('a', @)", "repeat('a', @)"},
	"needle":    {"repeat('a', 2 * @)", "'b' || repeat('a', @)"},
	"combining": {"repeat(chr(769), @ / 2) || repeat(chr(790), @ / 2)", "'NFC'"},
	"distinct":  {"repeat('ä', @)", "(SELECT string_agg(chr(300 + g % 50000), '') FROM generate_series(1, @) g)"},
	"words":     {"repeat('a b ', @ / 4)", "'a'"},
	"pattern":   {"repeat('a', @)", "repeat('a%', 20) || 'b'"},
	"second":    {"'a'", "repeat('a', @)"},
	"nested":    {"repeat('[', @)", "repeat('(', @)"},
	"backtrack": {"repeat('a', @)", "'(a*)*(a|aa)*(a*)\\1b'"},
	"short":     {"repeat('9', @)", "'b'"},
	"last":      {"repeat('a', @)", "repeat('b', @) || 'a'"}, // of a set, what is looked for
	"prefix":    {"repeat('a', 2 * @)", "'%' || repeat('a', @) || 'b'"},
}

// values make a value of a type of a size, the first argument and the others.
var values = map[string][2]string{
	"numeric":     {"repeat('9', least(@, 130000))::numeric", "('3' || repeat('7', least(@, 60000)) || '.' || repeat('7', least(@, 16000)))::numeric"},
	"bit":         {"repeat('10', @)::varbit::bit(@)", "repeat('01', @)::varbit::bit(@)"},
	"bit varying": {"repeat('10', @)::varbit", "repeat('01', @)::varbit"},
	"tsquery":     {"(SELECT string_agg('w' || g, ' & ') FROM generate_series(1, least(@, 20000)) g)::tsquery", "(SELECT string_agg('w' || g, ' <-> ') FROM generate_series(1, least(@, 20000)) g)::tsquery"},
	"tsvector":    {"(SELECT string_agg('w' || g || ':' || least(g, 16000), ' ') FROM generate_series(1, least(@, 60000)) g)::tsvector", "(SELECT string_agg('v' || g || ':' || least(g, 16000), ' ') FROM generate_series(1, least(@, 60000)) g)::tsvector"},
	"polygon":     {"(SELECT string_agg(format('(%s,%s)', g, g * 7 % 1000), ',') FROM generate_series(1, @) g)::polygon", "(SELECT string_agg(format('(%s,%s)', -g, g * 3 % 1000), ',') FROM generate_series(1, @) g)::polygon"},
	"path":        {"(SELECT string_agg(format('(%s,%s)', g, g * 7 % 1000), ',') FROM generate_series(1, @) g)::path", "(SELECT string_agg(format('(%s,%s)', -g, g * 3 % 1000), ',') FROM generate_series(1, @) g)::path"},
	"jsonpath":    {"'$.**'::jsonpath", "'$.** ? (@ > 1)'::jsonpath"},
	"record":      {"ROW(repeat('a', @), 1)", "ROW(repeat('a', @), 1)"},
	"record[]":    {"array_fill(ROW(1, 'a'), ARRAY[@])", "array_fill(ROW(1, 'b'), ARRAY[@])"},
}

// fixed are values that have one size.
var fixed = map[string]string{
	"boolean": "true", "real": "1.5::real", "double precision": "1.5::float8", "date": "'2024-02-29'::date", "time without time zone": "'12:00'::time", "time with time zone": "'12:00+01'::timetz",
	"timestamp without time zone": "'2024-02-29'::timestamp", "timestamp with time zone": "'2024-02-29'::timestamptz", "interval": "'1 mon 2 days'::interval", "inet": "'10.1.2.3/8'::inet", "cidr": "'10.0.0.0/8'::cidr",
	"macaddr": "'08:00:2b:01:02:03'::macaddr", "macaddr8": "'08:00:2b:01:02:03:04:05'::macaddr8", "uuid": "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "money": "'1.5'::money", "name": "'a'::name", `"char"`: `'a'::"char"`,
	"point": "'(1,2)'::point", "box": "'(1,2),(3,4)'::box", "circle": "'<(1,2),3>'::circle", "line": "'{1,2,3}'::line", "lseg": "'[(1,2),(3,4)]'::lseg", "regconfig": "'simple'::regconfig",
	"daterange": "'[2024-01-01,2024-02-01)'::daterange", "tsrange": "'[2024-01-01,2024-02-01)'::tsrange", "tstzrange": "'[2024-01-01,2024-02-01)'::tstzrange", "numrange": "'[1,2)'::numrange", "int8range": "'[1,2)'::int8range",
	"int4range": "'[1,2)'::int4range", "anyrange": "'[1,2)'::int4range", "anycompatiblerange": "'[1,2)'::int4range",
}

// elements are of arrays and multiranges.
var elements = map[string]string{
	"int4multirange": "int4range(3 * g + %d, 3 * g + 1 + %[1]d)", "anymultirange": "int4range(3 * g + %d, 3 * g + 1 + %[1]d)", "anycompatiblemultirange": "int4range(3 * g + %d, 3 * g + 1 + %[1]d)", "int8multirange": "int8range(3 * g + %d, 3 * g + 1 + %[1]d)",
	"nummultirange": "numrange(3 * g + %d, 3 * g + 1 + %[1]d)", "datemultirange": "daterange('2024-01-01'::date + 3 * g + %d, '2024-01-01'::date + 3 * g + 1 + %[1]d)",
	"tsmultirange": "tsrange('2024-01-01'::timestamp + (3 * g + %d) * interval '1 s', '2024-01-01'::timestamp + (3 * g + 1 + %[1]d) * interval '1 s')", "tstzmultirange": "tstzrange('2024-01-01'::timestamptz + (3 * g + %d) * interval '1 s', '2024-01-01'::timestamptz + (3 * g + 1 + %[1]d) * interval '1 s')",
}

// argument gives an expression of a type; "" where statements have none.
func argument(typ, shape string, at, n int) string {
	second := min(at, 1)
	size := func(sql string) string { return strings.ReplaceAll(sql, "@", strconv.Itoa(n)) }
	if e, ok := elements[typ]; ok {
		return size("(SELECT range_agg(" + fmt.Sprintf(e, at) + ") FROM generate_series(1, @) g)")
	}
	if typ == "numeric" && shape == "second" { // exp() and power() of large ones overflow
		return size("('1.' || repeat('7', least(@, 16000)))::numeric")
	}
	if v, ok := values[typ]; ok {
		switch {
		case typ == "jsonpath" && shape == "last":
			return "'$.* == -($.*)'::jsonpath"
		case typ == "jsonpath":
			return v[second]
		}
		return size(v[second])
	}
	switch typ {
	case "bytea":
		return size("convert_to(" + texts[shape][second] + ", 'UTF8')")
	case "text", "character varying", "character", `"any"`, "any", "cstring":
		to := map[string]string{"character varying": "varchar", "character": "bpchar"}[typ]
		return size("(" + texts[shape][second] + ")::" + cmp.Or(to, "text"))
	case "smallint", "integer", "bigint":
		return map[bool]string{true: strconv.Itoa(min(n, 30_000)), false: "3"}[shape == "second" || shape == "distinct"] + "::" + typ
	case "anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray":
		return "1"
	case "anyarray", "anycompatiblearray", "integer[]", "bigint[]", "smallint[]":
		array := map[bool]string{true: "(SELECT array_agg(g) FROM generate_series(1, @) g)", false: "(SELECT array_agg(-g) FROM generate_series(1, @) g)"}[at == 0]
		switch shape {
		case "last":
			array = "(SELECT array_agg(g) FROM generate_series(1, @) g)"
		case "same":
			array = "array_fill(1, ARRAY[@])"
		}
		return size(array) + "::" + map[bool]string{true: "integer[]", false: typ}[strings.HasPrefix(typ, "any")]
	case "text[]", "character varying[]", "name[]":
		prefix := map[bool]string{true: "w", false: "v"}[at == 0]
		if shape == "last" {
			prefix = "k"
		}
		return size("(SELECT array_agg('"+prefix+"' || g) FROM generate_series(1, @) g)") + "::" + typ
	case "double precision[]", "real[]", "numeric[]":
		return size("array_fill(1.5, ARRAY[@])") + "::" + typ
	case "json", "jsonb":
		return size(documents[shape][second]) + "::" + typ
	}
	return fixed[typ]
}

const (
	numbers = "('[' || repeat('1,', @) || '2]')"
	object  = "(SELECT json_object_agg('k' || g, g) FROM generate_series(1, @) g)::text"
	others  = "(SELECT json_object_agg('j' || g, g) FROM generate_series(1, @) g)::text"
	deep    = "(repeat('[', least(@, 5000)) || repeat(']', least(@, 5000)))"
	rows    = "('[' || repeat('{\"a\": 1},', @) || '{}]')"
	apart   = "(SELECT json_agg(g) FROM generate_series(1, @) g)::text"
)

var documents = map[string][2]string{
	"same": {numbers, numbers}, "needle": {object, others}, "combining": {deep, deep}, "distinct": {apart, apart}, "words": {rows, rows}, "pattern": {object, object},
	"second": {"'{\"a\": 1}'", object}, "nested": {"(SELECT json_agg(-g) FROM generate_series(1, @) g)::text", apart}, "backtrack": {object, "'1'"}, "short": {numbers, "'\"a\"'"}, "last": {object, object}, "prefix": {rows, apart},
}

// perRow gives a small value of a type for the row g; "" where there is none.
func perRow(typ string) string {
	if e, ok := elements[typ]; ok {
		return "multirange(" + fmt.Sprintf(e, 0) + ")"
	}
	switch typ {
	case "text", "character varying", "character", `"any"`, "any":
		return "('w' || g)"
	case "bytea":
		return "convert_to('w' || g, 'UTF8')"
	case "smallint":
		return "(g % 30000)::int2"
	case "integer", "bigint", "numeric", "real", "double precision", "money":
		return "g::" + typ
	case "anyelement", "anynonarray", "anycompatible":
		return "g"
	case "anyarray", "anycompatiblearray":
		return "ARRAY[g]"
	case "json", "jsonb":
		return "to_" + typ + "(g)"
	case "anyrange", "int4range":
		return "int4range(g * 3, g * 3 + 1)"
	case "boolean":
		return "(g % 2 = 0)"
	case "double precision[]":
		return "ARRAY[0.1, 0.5]::float8[]"
	case "bit", "bit varying":
		return "g::bit(32)"
	case "anyenum":
		return ""
	case "record":
		return "ROW(g)"
	case "tsquery", "tsvector":
		return "('w' || g)::" + typ
	}
	if e := fixed[typ]; e != "" {
		return "CASE WHEN g > 0 THEN " + e + " END"
	}
	return ""
}
