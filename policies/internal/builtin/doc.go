// Package builtin judges the functions, operators and types of PostgreSQL's pg_catalog: which of
// them statements of one server may use without reaching anything but their arguments.
// The program policies/gen writes the outcome to policies/sets; the service itself reads
// those files and never this package.
//
// # Functions
//
// A function stays out while something speaks against any of its overloads, in any of
// the supported majors that has it:
//
//   - rule.sql, on what pg_proc says: it is volatile, a procedure, runs as its owner,
//     takes or gives a type that no statement may name (so nothing with internal,
//     cstring, oid, reg*, xid, refcursor or xml), or is machinery of an index, an
//     aggregate or a type that is only ever called by Postgres itself.
//   - families.go, on what pg_proc does not say: it reads the catalog, settings, the
//     session, statistics, files or locks, or takes SQL or names as text.
//
// exceptions.go overrules single objections to single names, each with its reason. A name
// speaks for all its overloads, as a caller can't choose between them.
//
// What is left can still cost: repeat, lpad, generate_series, array_fill, regexp_replace
// and their like make much out of little. They are bounded by the statement's time and
// the result's size, not by this list. What Postgres does not interrupt is bounded by
// neither: a function whose time grows faster than its arguments and that never looks for
// a cancellation stays out, as those of path and polygon do with their types.
//
// # Types
//
// types.go decides on each base, range and pseudo type of pg_catalog by name. A type that
// it does not know stops the generator: somebody has to decide. Row types of the catalog's
// tables, and arrays by their own names (_text for text[]), are out as a whole; the array
// of an admitted type is written with brackets.
//
// # Operators
//
// operators.sql asks of the function behind each overload of an operator what rule.sql
// asks of functions. Operators are admitted by name too; operators.go says which overloads
// on types that no statement can name don't speak against a name. Apart from that it
// lists the overloads that Postgres calls leakproof: the others may tell of a value that
// they were given, by an error or by the time they take.
package builtin
