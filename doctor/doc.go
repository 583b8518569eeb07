// Package doctor inspects a database that statements of many servers run in. It reports
// what lets one server learn something about another there, with the SQL that fixes it.
//
// It changes nothing: it reads catalogs in read-only transactions, as the role that
// statements run as and, for what that role can't see, as an owner or administrator. It
// reads no row of a table and no key.
//
// # Structure
//
// A check is a row of a table: a query over the catalogs, which returns one row for each
// fault, and a message with placeholders in braces for that query's columns. Each group of
// checks is in one file:
//
//	role      what the statement role is and may do beside tables
//	policy    what the policies assume about the database and is not so
//	grants    what the role may do with tables, compared with what the policies admit
//	wall      row-level security, the view and the keys of package wall
//	hidden    what no wall can prevent: keys, references, sequences, views, triggers
//	planner   what the planner knows of all servers' values, and indexes whose order reveals them
//	surface   functions, extensions and what else a statement could reach
//	server    the release, settings and the connection
//
// All queries use the relations of prelude.go, which contain the role and the policies.
//
// # Grades
//
//   - Breach: this alone lets a statement read or change another server's rows, whether
//     the policy admits it or it got past the policy. If naming a table of the policies is
//     enough, Finding.Table is that table, and the service closes it.
//   - Tell: it shows whether another server has a value.
//   - Risk: it gives a statement that got past the policy more to work with, or removes a
//     wall behind it.
//   - Note: no value of a row leaks. Something works badly or not at all, or reveals
//     how much others do, which is outside the promise.
package doctor
