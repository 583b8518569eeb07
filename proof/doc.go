// Package proof shows that every server has a database of its own, by experiment.
//
// D is a shared database with the rows of several servers, every column of every row of
// the others holding a canary; D|s is a database of the same schema that holds only the
// rows of s. A statement that tenantgate admits for s runs on D the way tenantgate sends
// it, and on D|s as a plain driver sends it. Both must answer the same, leave the same rows
// of s behind, and no row of another server may have been changed; no canary may be in
// anything that comes back. Each statement runs in a transaction that is rolled back.
//
// Through the listener (Walls Listener) a statement is sent as a client of Postgres writes
// it, and committed, so that a superuser sees what it changed; the server's rows are put
// back from a copy. A canary is looked for in every byte that the listener sends, and what
// the engine refuses must be refused with its code.
//
// Statements come from package statement: a seed and a number make one. The walls are
// tried together and apart; see Walls.
//
// Where a statement's answer is not determined (LIMIT without a total order, the order
// in which rows are updated), only canaries and changes are judged. The generator
// knows most of these. The rest is found by asking D|s itself, with its rows in another
// order and with other plans: an answer that one of these gives too is no mismatch.
//
// Mode order (World.Order) compares the answers of two shared databases, D and D', as
// sequences. They have the same rows of the server's own, and others' rows that differ in their values
// alone: as many of them, as many different ones in each column, as many NULLs, of the same
// lengths, both analysed. The planner's statistics hold the values of all servers; what it
// takes from them for one server's statement shows in the order of the answer, in which of
// several errors it is, and in sums of floats. Statements come from statement.Generator.Probe, on
// every path through tenantgate, many of them after an INSERT of rows that is rolled back. One
// whose answer differs from itself is set aside.
package proof
