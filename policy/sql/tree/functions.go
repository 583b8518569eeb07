package tree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// IsWrittenAggregate tells a call with what only aggregates and window functions have.
func IsWrittenAggregate(f *pg.FuncCall) bool {
	return f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || len(f.AggOrder) > 0
}

// Aggregates are those of pg_catalog that are called like functions. One that is missing here costs a barrier that is
// not needed, and parameters in the place of literals.
var Aggregates = []string{
	"count", "sum", "avg", "min", "max", "array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg",
	"bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp",
}

// FunctionColumns gives the columns of pg_catalog's set-returning functions whose columns do
// not depend on their arguments: named after their OUT parameters, or, where "" stands,
// after the alias. unnest is not among them, since an array of rows has a row's columns:
// see scalars.
var FunctionColumns = map[string][]string{
	"generate_series":           {""},
	"generate_subscripts":       {""},
	"json_array_elements":       {"value"},
	"json_array_elements_text":  {"value"},
	"json_each":                 {"key", "value"},
	"json_each_text":            {"key", "value"},
	"json_object_keys":          {""},
	"jsonb_array_elements":      {"value"},
	"jsonb_array_elements_text": {"value"},
	"jsonb_each":                {"key", "value"},
	"jsonb_each_text":           {"key", "value"},
	"jsonb_object_keys":         {""},
	"jsonb_path_query":          {""},
	"jsonb_path_query_tz":       {""},
	"regexp_matches":            {""},
	"regexp_split_to_table":     {""},
	"string_to_table":           {""},
}

// RowCalls are functions of pg_catalog whose value is a row, or rows.
var RowCalls = []string{
	"json_to_record", "json_to_recordset", "jsonb_to_record", "jsonb_to_recordset",
	"json_populate_record", "json_populate_recordset", "jsonb_populate_record", "jsonb_populate_recordset",
	"json_each", "json_each_text", "jsonb_each", "jsonb_each_text", "pg_input_error_info",
}

// ArrayCalls are functions of pg_catalog that give an array.
var ArrayCalls = []string{
	"string_to_array", "regexp_split_to_array", "regexp_match", "array_agg", "array_append", "array_prepend", "array_cat", "array_remove",
	"array_replace", "array_positions", "array_fill", "trim_array",
}

// GivesRows tells the name of a function of pg_catalog that is known to give rows.
func GivesRows(name string) bool { return FunctionColumns[name] != nil || name == "unnest" }

// VolatileCalls are those functions of pg_catalog that may be allowed and give another value at each call.
var VolatileCalls = []string{"random", "random_normal", "gen_random_uuid", "uuidv4", "uuidv7", "clock_timestamp", "timeofday", "setseed"}

// MayBeNull tells whether a call has an argument that is no literal: Postgres makes NULL of a call with a NULL, also of a volatile one.
func MayBeNull(f *pg.FuncCall) bool {
	return slices.ContainsFunc(f.Args, func(n *pg.Node) bool { return n.GetAConst() == nil || n.GetAConst().Isnull })
}

// SteadyCalls are functions of pg_catalog that give one value, and the same throughout a
// statement. Of others the literals are hidden one by one, and they are called for each row.
var SteadyCalls = []string{
	"now", "transaction_timestamp", "statement_timestamp", "date_trunc", "date_part", "make_date", "make_interval", "make_timestamp", "make_timestamptz",
	"to_date", "to_timestamp", "to_char", "to_number", "age", "justify_days", "justify_hours",
	"to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery", "to_tsvector",
	"lower", "upper", "initcap", "btrim", "ltrim", "rtrim", "concat", "concat_ws", "format", "replace", "left", "right", "substr", "substring", "md5", "repeat", "lpad", "rpad",
	"string_to_array", "array_append", "array_cat", "to_json", "to_jsonb", "jsonb_build_object", "jsonb_build_array", "json_build_object", "json_build_array",
	"abs", "round", "ceil", "floor", "trunc", "sqrt", "power", "mod", "length",
}

// TypeCalls are names of types of pg_catalog that may be called. Postgres takes int4('1') for the cast '1'::int4, and
// does the same with a text, but looks for a function of that name where it does not know the argument's type.
var TypeCalls = []string{
	"bit", "bool", "box", "bpchar", "bytea", "char", "cidr", "circle", "date", "datemultirange", "daterange", "float4", "float8", "int2", "int4", "int4multirange",
	"int4range", "int8", "int8multirange", "int8range", "interval", "line", "lseg", "macaddr", "macaddr8", "money", "name", "numeric", "nummultirange",
	"numrange", "point", "text", "time", "timestamp", "timestamptz", "timetz", "tsmultirange", "tsrange", "tstzmultirange", "tstzrange", "varbit", "varchar",
}
