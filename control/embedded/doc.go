// Package embedded runs a private PostgreSQL server: for `tenantgate dev`, and,
// through package pgtest, for tests. It runs the PostgreSQL that is installed on the
// machine; nothing is downloaded.
//
// # Files
//
// The data directory belongs to tenantgate. It holds
//
//	lock              held (flock) by the one process that may use the directory
//	postgres.log      Postgres' log; one older file, postgres.log.1, is kept
//	location          only if the cluster is elsewhere: the path of its home
//
// and the home, which is the data directory itself unless location says otherwise,
//
//	pg                the cluster, owned by the user that Postgres runs as, mode 0700
//	superuser         the superuser's random password, mode 0600
//	port              the TCP port of the last start, preferred at the next
//	data-directory    only if the home is elsewhere: the data directory it belongs to
//
// Removing a data directory does not remove a home elsewhere: it may have been moved.
// The next start in the same place mentions such a home in the log.
//
// # User
//
// Postgres refuses to run as root. For root it runs as the owner of an existing
// cluster, else as postgres, nobody, or the first other account. If that user
// can't enter the data directory (a clone below /root), the home is created elsewhere
// and the log says where.
//
// # Stopping
//
// The server is a child in a process group of its own, so that Ctrl-C reaches
// only tenantgate, which stops it in its own order. On Linux the kernel stops it
// when tenantgate is killed. A server that still survived its tenantgate is
// stopped at the next start, and its cluster is recovered then: the
// lock distinguishes an orphan from a server in use.
//
// # Connections
//
// The server listens on 127.0.0.1 only, on no Unix socket, and requires a
// password of everybody (scram-sha-256).
package embedded
