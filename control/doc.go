// Package control is the control store: projects, servers, developer tokens, server keys
// and the policy assigned to each, stored in Postgres in the schema tenantgate. It also
// looks up a server's end users, creates the tables of both databases (migrate.go) and what
// row-level security needs there (wall.go), and manages its keys (wallkeys.go, signing.go).
//
// # Authentication
//
// A Store implements proxy.Directory, from memory where it can. Five caches (cache.go) hold
// tokens, keys, servers, projects and password verifiers. An entry may be used if the store
// confirmed within the last second that no change was missed (freshness.go). Two owned goroutines
// do that: one listens for notifications and drops exactly what changed (listen.go), one
// reads the store's revision number several times a second (poll.go) and detects
// lost notifications. Without confirmation an entry is read again; only if
// the store can't be reached is it used unconfirmed, for a limited time.
//
// # Secrets
//
// A token or key is 256 random bits in base62 with a checksum (credential.go). The store
// has only its SHA-256 and, for a server's key, a SCRAM-SHA-256 verifier
// (scram.go, login.go). The verifier alone allows neither to log in nor to compute the key;
// together with a recorded login it allows to log in. What does not have the form of a
// credential never reaches the store. This package treats a wrong key and an unknown server
// alike: one look-up by the hash of what was presented, and one answer. The same holds for
// malformed and unknown tokens. There are two exceptions: the holder of a token, who alone can
// present what the store has the hash of, learns that it was revoked or has expired; and by its
// prefix alone an API key in the place of a token is recognised, and the other way round.
//
// # Errors
//
// Every error that is returned to a caller is a *proxy.Error. A failed connection is
// UpstreamUnavailable; any other error of the database is Internal, with its cause.
package control
