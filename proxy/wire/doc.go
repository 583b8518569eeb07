// Package wire is the Postgres front end: a listener to which psql and every driver can
// speak, and which shows each server the rows of its own as a database of its own. User is
// the server's id, password its API key. It shares everything with the other front end
// (who calls, the limits, the decisions, the connections) but the framing.
//
// # How a connection goes
//
//	listener.go   takes connections, and ends with its context
//	clients.go    bounds them: who has not logged in makes room for others
//	startup.go    TLS, the start-up message, cancel requests       (PostgreSQL manual, 55.2.1)
//	scram.go      SCRAM-SHA-256 and -PLUS                          (RFC 5802, RFC 7677, RFC 5929)
//	client.go     what a session has of its client: the next message, and what may end it
//	transport.go  how long each read and write may take
//	buffers.go    what is lent to a client while it is served
//	session.go    the loop: one message after the other, each with its deadline
//	relay.go      the switch that names every message; its default ends the session
//	query.go      the simple protocol
//	extended.go   the extended one
//	prepared.go   the client's prepared statements and portals
//	txstate.go    where the client's transaction stands, for the client and for the link
//	exchange.go   what is collected goes to the link, and what became of it
//	command.go    what is no statement on rows: transactions, settings, cursors
//	settings.go   what a client has set, as lasting as its transaction
//	copyin.go     COPY FROM STDIN: rows are decoded and inserted
//	answer.go     what is answered here, such as version() and SHOW
//	lookups.go    what the JDBC driver asks of types, and what runs instead
//	refuse.go     how a refusal is told: ErrorResponse, with the code in DETAIL
//
// Messages up to a Sync, a Flush or a Query are put together into one proxy.Exchange, which
// package upstream runs on a connection that the client has until its transaction ends.
//
// # A client's transaction
//
// It is in one of seven states (txstate.go); – is that nothing changes.
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
