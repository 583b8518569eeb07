// Package doctor looks over a database that statements of many servers run in, and tells
// what lets one server learn of another there, with the SQL that mends it.
//
// It changes nothing: it reads catalogs in read-only transactions, as the role that
// statements run as and, for what that role can't see, as an owner or administrator. It
// reads no row of a table and no key.
//
// # How it is built
//
// A check is a row of a table: a query over the catalogs, which gives one row for each
// fault, and words with places in braces for that query's columns. The checks stand in
// one file for each group:
//
//	role      what the statement role is and may do beside tables
//	policy    what the policies say of the database that it does not bear out
//	grants    what the role may do with tables and what the policies admit, held together
//	wall      row-level security, the view and the keys of package wall
//	hidden    what no wall can hide: keys, references, sequences, views, triggers
//	planner   what the planner knows of all servers' values, and indexes whose order tells of them
//	surface   functions, extensions and what else widens the reach of a statement
//	server    the release, settings and the connection
//
// All queries share the relations of prelude.go, which know the role and the policies.
//
// # What the grades mean
//
//   - Breach: by this alone a statement could read or change another server's rows, be it one
//     that the policy admits or one that got past it. Where naming a table of the policies is
//     enough to come to it, Finding.Table is that table, and the service closes it.
//   - Tell: it shows whether another server has a value.
//   - Risk: it gives a statement that got past the policy more to work with, or takes away a
//     wall behind it.
//   - Note: nothing that is in a row leaks; something works badly or not at all, or tells
//     how much others do, which is outside the promise.
package doctor
