// Package wire is the Postgres front end: a listener for psql and every driver,
// which shows each server its own rows as a database of its own. The user is
// the server's id, the password its API key. It shares authentication, limits, decisions and
// connections with the other front end; only the framing differs.
//
// # Files
//
//	listener*   accepts connections and limits them; ends with its context
//	client*     a client's socket: TLS, deadlines of reads and writes, the buffers that it borrows
//	startup*    the start-up message and cancel requests (PostgreSQL manual, 55.2.1), and
//	            SCRAM-SHA-256 and -PLUS (RFC 5802, RFC 7677, RFC 5929)
//	session*    one message after the other (session_relay.go lists each kind; any other ends the session), requests to
//	            the gate, what is sent to the link and its outcome, how a refusal is written
//	txn*        the client's transaction, its savepoints, and commands other than statements on rows
//	query*      the simple protocol
//	extended*   the extended one: prepared statements and portals
//	copy*       COPY FROM STDIN: rows are decoded and inserted
//	settings*   what a client has set, which lasts as its transaction does
//	answer*     what tenantgate answers itself, such as version(), and the JDBC driver's queries for types
//
// Messages up to a Sync, a Flush or a Query are collected into one proxy.Exchange, which
// package upstream runs on a connection that the client holds until its transaction ends.
//
// # A client's transaction
//
// It is in one of seven states (txn_state.go); – means no change.
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
// implicit ends with the next Sync; named is implicit, but was begun by name because a BEGIN follows in the same message;
// begun is a block whose BEGIN was not sent to the link yet; lost has failed, and the link has none open.
//
// # Invariants
//
//   - No text reaches the database except through Gate.Check: a step carries what it approved.
//   - A message that this package does not know ends the session.
//   - A statement runs once. The only statement of a Query message may be sent once more, if it failed before Postgres ran
//     it, outside of a transaction, and the client was told nothing of it (runsAgain).
//   - Nothing is read from a client without a deadline, and before it has authenticated no
//     more than a few kilobytes in all.
//   - An unknown server and a wrong key fail alike: same messages, same work.
//   - A refusal has the same effect on the session as an error of Postgres: messages are
//     skipped up to the next Sync, the transaction has failed, the connection stays usable. A COMMIT
//     that fails has ended the transaction, also if the connection to the database was lost.
//   - An idle client costs a goroutine, a small buffer and no connection to the database.
package wire
