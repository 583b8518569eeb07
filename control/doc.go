// Package control is the control store: projects, servers, developer tokens, server keys
// and which policy each is assigned, kept in Postgres in the schema tenantgate. It also
// looks up a server's end users, makes the tables of both databases (migrate.go) and what
// row-level security needs there (wall.go), and keeps its keys (wallkeys.go, signing.go).
//
// # Who is calling
//
// A Store answers proxy.Directory from memory where it can. Five caches (cache.go) hold
// tokens, keys, servers, projects and what passwords are checked against; each entry may be used while the store confirmed
// within the last second that nothing was missed (freshness.go). Two owned goroutines do
// that: one listens for notifications and drops exactly what changed (listen.go), one
// reads the store's revision number several times a second (poll.go), and finds out when
// a notification went astray. Without confirmation an entry is read again, and only when
// the store can't be reached is it served unconfirmed, for a bounded time.
//
// # Secrets
//
// A token or key is 256 random bits in base62 with a checksum (credential.go). The store
// knows its SHA-256 alone, and of a server's key what SCRAM-SHA-256 checks it against
// (scram.go, login.go): with that one can't log in, nor find the key, though who also hears
// a login can. What has not the shape of a credential never reaches the store.
// A wrong key and an unknown server are the same to every line of this package: one
// look-up by the hash of what was presented, and one answer. So is what is malformed or
// unknown. Two things are told beyond that: to the holder of a token, who alone can present
// what the store knows the hash of, that it was revoked or has expired; and by its prefix
// alone, that an API key stands where a token belongs, or the other way round.
//
// # Errors
//
// Whatever is returned to a caller is a *proxy.Error. Trouble with the connection is
// UpstreamUnavailable, all else that the database says is Internal with its cause.
package control
