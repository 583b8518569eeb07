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
package proof
