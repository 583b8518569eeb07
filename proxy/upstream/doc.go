// Package upstream runs approved statements on Postgres. It accepts nothing but policy.Bound and refuses the zero value, so a
// text that was not decided cannot reach the database through it.
//
// # Rooms
//
// A file's name begins with its room:
//
//	pool       the connections: who gets one, how many backends there may be, what becomes of those that don't end
//	session    one connection: its settings, what is prepared on it, its messages
//	link       a client's way to the database: its transaction, and the one place where an exchange is repeated
//	exchange   the engine: what runs on a connection in one go
//	json       a REST statement: its values by their types, its rows as JSON (package values)
//	failure    what a failed exchange is to its caller, to the log and to the metrics
//	catalog    the schema as policies need it, and whether the database keeps servers apart by itself
//
// # One engine
//
// An exchange (exchange.go) writes its steps in order, notes which answers are to come (exchange_replies.go), sends what was written, and
// reads the answers up to a Sync. A step's rows go to the listener's client as they came from Postgres (exchange_relay.go). A REST request is
// an exchange of one statement on a link of its own (json_query.go): its values are given by their types, and its rows become JSON
// (json.go). Link.Run repeats an exchange of which certainly no statement ran, for both front ends.
//
// A transaction begins when a step first needs Postgres, and has:
//
//	prelude    set_config(…, true): the statement's time limit, and      (session_prelude.go)
//	           its server with a signature, for row-level security       (package wall);
//	           setseed(…): random() goes on from nobody else's numbers   (session_seed.go)
//	[prepare]  Parse and Describe, on a connection's first use of a text (exchange_prepare.go);
//	           what Postgres says of a text is known to all connections  (exchange_descriptions.go)
//	statement  Bind                                                      (exchange_bind.go, json_arguments.go)
//	[shapes]   the tables still have the shape that the plan relies on
//	           Execute
//	Sync       commits
//
// pgconn opens and closes connections; what runs on them is written and read here, frame by
// frame (session_wire.go). Servers take turns at the connections (proxy.Turns).
//
// A known text costs one round trip, on whichever connection. Nothing stays on the connection afterwards but
// prepared statements, which are bounded (session_prepared.go). Where a result can still be
// refused after the statement changed something (a write that returns rows, a call of a function that may write), Flush
// takes the place of Sync, and the transaction is committed or rolled back once the
// result was read.
//
// # Invariants
//
//   - A result is whole or an error; a change whose result is refused is rolled back.
//   - A result beyond the limits is an error: its statement is cancelled on the server, and
//     what is still on its way is dropped. No value is encoded beyond the limit.
//   - A statement runs at most once. It is repeated only when it certainly did not start, or when
//     the database takes no writes: another one may.
//   - Each wait is bounded: for a connection, for the statement, for its cancellation.
//   - A connection that a late cancellation could still hit is not used again; nor is one
//     whose backend may keep more of a statement's memory than a little (session_zones.go).
//   - Each of the database's addresses has at most MaxConns backends of a pool's, those
//     included that go on after their connection was given up (pool_places.go). Each of those holds
//     its server's turn until it is gone (pool_abandoned.go).
//   - An error of a statement that ran shows no value and no number, whatever the caller's
//     text holds. One that was found in the text alone, before any row was read, shows what
//     the text holds literally. Neither shows anything of the rewritten text, the network
//     or another server (failure_messages.go).
//   - A table counts as Walled only while the database keeps every server to its own rows
//     without this program's help, tried with the keys that it signs with (catalog_wall.go).
//   - Nobody is told to repeat a write that may have been committed, nor that it was undone: a
//     transaction whose connection is lost behind its COMMIT is over. A ROLLBACK is done there.
package upstream
