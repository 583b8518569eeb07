package statement

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy"
)

// constructs are those that every run must have admitted.
var constructs = []string{
	"*", "* over a hidden column", "r.*", "bare column", "correlated reference", "quoted name", "name in capitals", "qualified table", "qualified function",
	"schema.table.column", "whole row", "composite value", "placeholder", "cast placeholder", "escaped string", "bit string", "comment", "value of the moment", "value of the clock",
	"named argument", "VARIADIC", "shared table", "scope type text",

	"SELECT without FROM", "comma join", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "NATURAL JOIN", "NATURAL LEFT JOIN",
	"USING", "USING with an alias", "ON with more", "bracketed join", "join with an alias", "alias with columns", "LATERAL", "sub-select in FROM", "column without a name", "repetition", "volatile repetition", "condition written otherwise", "group or aggregate compared with a sub-query", "function in FROM", "ROWS FROM",
	"WITH ORDINALITY", "column definition list", "VALUES in FROM", "VALUES", "TABLE",

	"WITH", "WITH siblings", "WITH columns", "WITH name of a table", "WITH RECURSIVE", "MATERIALIZED", "data-modifying WITH", "WITH before a write", "WITH in a sub-query",
	"UNION", "UNION ALL", "UNION DISTINCT", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "bracketed arm",
	"failing on what others alone hold", "DISTINCT", "DISTINCT ON", "GROUP BY", "GROUP BY primary key", "GROUP BY an expression", "GROUP BY an expression written otherwise", "GROUP BY a position", "GROUP BY a name that Postgres makes", "GROUP BY an expression with a call", "window of groups", "ROLLUP", "CUBE", "GROUPING SETS", "HAVING", "HAVING without an aggregate", "aggregate", "aggregate DISTINCT", "aggregate ORDER BY", "FILTER",
	"WITHIN GROUP", "window function", "window frame", "WINDOW", "ORDER BY", "ORDER BY an expression", "NULLS FIRST", "LIMIT", "OFFSET", "FETCH FIRST",
	"FOR UPDATE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR KEY SHARE", "FOR UPDATE OF", "SKIP LOCKED",

	"AND", "OR", "OR without brackets", "NOT", "CASE", "CASE of a value", "COALESCE", "NULLIF", "GREATEST", "LEAST", "CAST", "cast", "COLLATE", "OPERATOR()", "IS NULL", "IS DISTINCT FROM", "BETWEEN",
	"IN list", "IN list of rows", "IN sub-select", "row IN sub-select", "row comparison", "EXISTS", "scalar sub-select", "sub-select by key", "ARRAY sub-select",
	"ANY of an array", "ANY of a column", "ANY of a sub-select", "LIKE", "LIKE ESCAPE", "SIMILAR TO", "regular expression", "boolean test", "OVERLAPS",
	"arithmetic", "number at a type's end", "text operators", "dates", "EXTRACT", "AT TIME ZONE", "SUBSTRING FROM", "TRIM", "OVERLAY", "POSITION", "arrays", "array subscript", "array slice", "bytea",
	"jsonb operators", "jsonpath", "the operator ?", "trap: jsonb_array_elements",

	"INSERT", "INSERT of many rows", "INSERT SELECT", "INSERT of a set operation", "INSERT with an alias", "DEFAULT", "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE",
	"ON CONFLICT WHERE", "excluded", "UPDATE", "UPDATE FROM", "multi-column SET", "SET from a sub-select", "SET of the scope column", "DELETE", "DELETE USING", "RETURNING", "RETURNING *",
}

// scoped are those that speak of the scope condition, and of the scope column's value.
var scoped = []string{
	"scope condition", "scope condition in ON", "cast scope placeholder", "server_id as the last argument", "foreign id as an argument", "foreign id as a constant",
	"scope column from a constant", "scope column from a column", "trap beside the scope condition",
}

// injected are those of statements that know nothing of the scope column.
var injected = []string{"INSERT without columns", "INSERT without the scope column", "DEFAULT VALUES", "ON CONFLICT without the scope column"}

// Constructs are those that a run in these scope modes must have admitted.
func Constructs(modes []policy.ScopeMode) []string {
	list := slices.Clone(constructs)
	for _, t := range traps {
		list = append(list, t.name)
	}
	if !slices.Contains(modes, None) {
		list = append(list, scoped...)
		list = append(list, "scope type int8", "scope type uuid")
	}
	if slices.Contains(modes, policy.Inject) {
		list = append(list, injected...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
