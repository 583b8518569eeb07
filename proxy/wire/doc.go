// Package wire is the Postgres front end: a listener to which psql and every driver can
// speak, and which shows each server the rows of its own as a database of its own. User is
// the server's id, password its API key. It shares everything with the other front end
// (who calls, the limits, the decisions, the connections) but the framing.
//
// # How a connection goes
//
//	listener*   takes connections and bounds them; ends with its context
//	client*     a client's socket: TLS, how long reads and writes may take, the buffers lent to it
//	startup*    the start-up message and cancel requests (PostgreSQL manual, 55.2.1), and
//	            SCRAM-SHA-256 and -PLUS (RFC 5802, RFC 7677, RFC 5929)
//	session*    one message after the other (session_relay.go names each; its default ends the session), what is
//	            asked of the gate, what goes to the link and what became of it, how a refusal is written
//	txn*        the client's transaction, its savepoints, and commands other than statements on rows
//	query*      the simple protocol
//	extended*   the extended one: prepared statements and portals
//	copy*       COPY FROM STDIN: rows are decoded and inserted
//	settings*   what a client has set, as lasting as its transaction
//	answer*     what is answered here, such as version(), and what the JDBC driver asks of types
//
// Messages up to a Sync, a Flush or a Query are put together into one proxy.Exchange, which
// package upstream runs on a connection that the client has until its transaction ends.
//
// # A client's transaction
//
// It is in one of seven states (txn_state.go); – is that nothing changes.
//
//	                                none      implicit  named     begun     open      failed    lost
//	the client says BEGIN           begun     –         –         –         –         –         –
//	its BEGIN adopts an implicit    open      open      open      open      –         –         –
//	an exchange is sent             –         –         –         open      –         –         failed
//	the same, begun by name         named     named     –         open      –         –         failed
//	done, the link has one open     implicit  –         –         –         –         –         –
//	done, the link has none open    –         none      none      –         –         –         –
//	an error                        –         none      none      lost      failed    –         –
//	an error, nothing is left open  –         none      none      lost      lost      lost      –
//	ROLLBACK TO a savepoint         –         –         –         –         –         open      –
//	COMMIT or ROLLBACK is done      –         none      none      none      none      none      none
//
// implicit ends with the next Sync; named is implicit, but was begun by name since a BEGIN follows in the same message;
// begun is a block that the link has not heard of; lost has failed, and the link has none open.
//
// # Invariants
//
//   - No text reaches the database but through Gate.Check: a step carries what that approved.
//   - A message that this package does not name ends the session.
//   - Nothing is read from a client without a deadline, and before it has authenticated no
//     more than a few kilobytes in all.
//   - An unknown server and a wrong key fail alike: same messages, same work.
//   - A refusal leaves the session as an error of Postgres' leaves it: what follows is
//     skipped up to the next Sync, the transaction has failed, the connection lives on. A COMMIT
//     that fails has ended it, also where its connection to the database was lost.
//   - An idle client costs a goroutine, a small buffer and no connection of the database.
package wire
