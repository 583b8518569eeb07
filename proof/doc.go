// Package proof shows by experiment that every server has a database of its own.
//
// D is a shared database with the rows of several servers, in which every column of every row of
// the others holds a canary; D|s is a database of the same schema that holds only the
// rows of s. A statement that tenantgate admits for s runs on D as tenantgate sends
// it, and on D|s as a plain driver sends it. Both must answer the same and leave the same rows
// of s; no row of another server may have changed, and no canary may be in
// anything that comes back. Each statement runs in a transaction that is rolled back.
//
// Through the listener (Walls Listener) a statement is sent as a client of Postgres writes
// it, a query also by a cursor and COPY, and committed, so that a superuser sees what it changed; then the server's rows are
// restored from a copy. Every byte that the listener sends is searched for a canary, and what
// the engine refuses must be refused with its code.
//
// Statements come from package statement: a seed and a number determine one. The walls are
// tested together and separately; see Walls.
//
// If a statement's answer is not determined (LIMIT without a total order, the order
// in which rows are updated), only canaries and changes are checked. The generator
// knows most of these statements. The rest is found by running them on D|s itself, with its rows in another
// order and with other plans: an answer that one of these runs gives too is no mismatch.
//
// The mode for order (World.Order) compares the answers of two shared databases, D and D', as
// sequences. They have the same rows of the server itself. The others' rows differ only in their
// values: there are as many of them, as many different ones in each column, as many NULLs, of the same
// lengths, and both databases are analysed. The planner's statistics hold the values of all servers; what it
// uses of them for one server's statement shows in the order of the answer, in which of
// several errors is reported, and in sums of floats. Statements come from statement.Generator.Probe, on
// every path through tenantgate, many of them after an INSERT of rows that is rolled back. A statement
// whose answer differs from run to run is set aside.
//
// The mode for filters (World.Filters) runs nothing. It has Postgres plan statements, and reads from the plans which conditions are
// evaluated before the scope condition, and so on other servers' rows.
package proof
