// Package embedded runs a private PostgreSQL server: for `tenantgate dev`, and,
// through package pgtest, for tests. The server is the real one, found on the
// machine; nothing is downloaded.
//
// # What lies where
//
// The data directory belongs to tenantgate. It holds
//
//	lock              held (flock) by the one process that may use the directory
//	postgres.log      what Postgres said; one older file, postgres.log.1, is kept
//	location          only if the cluster lives elsewhere: the path of its home
//
// and the home, which is the data directory itself unless location says otherwise,
//
//	pg                the cluster, of the user whom Postgres runs as, mode 0700
//	superuser         the superuser's random password, mode 0600
//	port              the TCP port of the last start, preferred at the next
//	data-directory    only if the home is elsewhere: the data directory it belongs to
//
// Removing a data directory does not remove a home elsewhere: it may have been moved.
// The next start in the same place mentions such a home in the log.
//
// # Whom it runs as
//
// Postgres refuses root. A root caller gets it run as the owner of an existing
// cluster, else as postgres, nobody, or the first other account. Where that user
// can't enter the data directory (a clone below /root), the home is made elsewhere
// and the log says where.
//
// # How it ends
//
// The server is a child in a process group of its own, so that Ctrl-C reaches
// tenantgate alone, which stops it in its own order. On Linux the kernel stops it
// when tenantgate is killed. A server that survived its tenantgate all the same is
// stopped at the next start, and a cluster that was cut off is recovered then: the
// lock tells an orphan from a server in use.
//
// # Who can reach it
//
// It listens on 127.0.0.1 only, on no Unix socket, and asks everybody for a
// password (scram-sha-256).
package embedded
