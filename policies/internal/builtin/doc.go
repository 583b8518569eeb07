// Package builtin decides which functions, operators and types of PostgreSQL's pg_catalog
// statements of one server may use: those that access nothing but their arguments.
// The program policies/gen writes the result to policies/sets; the service itself reads
// those files and never this package.
//
// # Functions
//
// A function is excluded if there is an objection to any of its overloads, in any of
// the supported majors that has it:
//
//   - rule.sql, by what pg_proc says: it is volatile, a procedure, runs as its owner,
//     accepts or returns a type that no statement may name (so nothing with internal,
//     cstring, oid, reg*, xid, refcursor or xml), or is support code of an index, an
//     aggregate or a type that only Postgres itself calls.
//   - families.go, by what pg_proc does not say: it reads the catalog, settings, the
//     session, statistics, files or locks, or accepts SQL or names as text.
//
// exceptions.go overrules single objections to single names, each with its reason. A name
// stands for all its overloads, as a caller can't choose between them.
//
// An included function can still be expensive: repeat, lpad, generate_series, array_fill,
// regexp_replace and similar ones make large results from small arguments. The statement's time
// and the result's size limit these, not this list. Neither limits a statement that Postgres does
// not interrupt: a function whose time grows faster than its arguments and that never checks for
// a cancellation is excluded, as those of path and polygon are with their types.
//
// # Types
//
// types.go decides on each base, range and pseudo type of pg_catalog by name. A type that
// it does not know stops the generator until somebody decides. Row types of the catalog's
// tables, and arrays by their own names (_text for text[]), are all excluded; the array
// of an admitted type is written with brackets.
//
// # Operators
//
// operators.sql applies the rules of rule.sql to the function behind each overload of an
// operator. Operators are admitted by name too; operators.go says which overloads
// on types that no statement can name are ignored. It also
// lists the overloads that Postgres calls leakproof: the others may reveal an operand
// by an error or by the time they need.
package builtin
