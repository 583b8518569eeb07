package control

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// change is one announcement of the store: what a transaction changed, and the revision
// that it made. The migrations say how it is written.
type change struct {
	seq  int64
	kind string // token, key, server, project, wall; anything else stands for everything
	args []string
}

// parseChange reads a notification. What it can't read is told by false, and then stands
// for everything: whoever may connect to the database may send one.
func parseChange(payload string) (change, bool) {
	fields := strings.Split(payload, " ")
	seq, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || len(fields) < 2 {
		return change{}, false
	}
	return change{seq: seq, kind: fields[1], args: fields[2:]}, true
}

// forget drops from the caches exactly what the change concerns, and everything when the
// change is of a kind that a newer version announces.
func (s *Store) forget(c change) {
	s.fresh.epoch.Add(1)
	switch {
	case c.kind == "server" && len(c.args) == 2:
		s.servers.drop(serverKey{c.args[0], c.args[1]})
	case c.kind == "project" && len(c.args) == 1:
		s.projects.drop(c.args[0])
	case c.kind == "token" && isDigest(c.args):
		s.tokens.drop(readDigest(c.args[0]))
	case c.kind == "key" && len(c.args) == 2 && isDigest(c.args[:1]):
		s.keys.drop(readDigest(c.args[0]))
		s.logins.drop(c.args[1])
	case c.kind == "wall":
		s.signing.stale.Store(true)
	default:
		s.dropAll()
	}
}

// forgetAll drops everything from the caches.
func (s *Store) forgetAll() {
	s.fresh.epoch.Add(1)
	s.dropAll()
}

func (s *Store) dropAll() {
	s.signing.stale.Store(true)
	s.tokens.dropAll()
	s.keys.dropAll()
	s.servers.dropAll()
	s.logins.dropAll()
	s.projects.dropAll()
}

func isDigest(args []string) bool {
	return len(args) == 1 && len(args[0]) == hex.EncodedLen(len(digest{})) && strings.Trim(args[0], "0123456789abcdef") == ""
}

// readDigest reads what isDigest has accepted.
func readDigest(text string) (d digest) {
	_, _ = hex.Decode(d[:], []byte(text))
	return d
}
