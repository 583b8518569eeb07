package wire

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// txn is the client's, and what the link has of it. The zero value is that there is
// none.
type txn struct {
	txState
	// begin is what opens the block, once there is a statement for it. modes are its modes; without
	// a block, those that the implicit transaction was given.
	begin *policy.Approved
	modes policy.Modes
	first policy.Modes // of the block, before it was given others: an error takes it back to them, unless there is a savepoint
	// ending is the verb of the block's end where that is collected: NoCommand, Commit or
	// Rollback.
	ending policy.Verb

	becomes *policy.Approved // makes the implicit transaction a block; nil: it is left as it is
	unended bool             // the block has answers that no Sync came behind yet
	wrap    bool             // implicit ones are begun by name, as a BEGIN follows in the same message

	points          []savepoint
	confirmedPoints int // savepoints that are known to have been made
	askedPoints     int // savepoints that were asked for, released ones included
}

// savepoint is one of the client's, with the settings as they were.
type savepoint struct {
	name      string
	now, kept *values
	modes     policy.Modes
	step      int    // that makes it, in the exchange that is to do so
	portals   uint64 // that were made before it
}

// How many savepoints a transaction may have open, and how many it may make, with those that it has released. One that
// is open and has written takes a backend 11 KB. One that is released takes 8 bytes; but beyond 64 that have written, the
// snapshots of all look transactions up in pg_subtrans, which has the last 65,536 in memory (Postgres 15).
const (
	maxSavepoints     = 1000
	maxSavepointsMade = 10_000
)

// modesFailed are those that an error leaves to a chained block: those of the youngest savepoint, or of the block as it began.
func (t *txn) modesFailed() policy.Modes {
	if n := len(t.points); n > 0 {
		return t.points[n-1].modes
	}
	return t.first
}

// saved notes that all savepoints were made.
func (t *txn) saved() { t.confirmedPoints = len(t.points) }

// trim forgets those that an exchange which failed has not made.
func (t *txn) trim(done int) {
	for i := t.confirmedPoints; i < len(t.points); i++ {
		if t.points[i].step >= done {
			t.points = t.points[:i]
		}
	}
	t.saved()
}

// find gives the place of the youngest savepoint of a name, -1 when there is none.
func (t *txn) find(name string) int {
	for i := len(t.points) - 1; i >= 0; i-- {
		if t.points[i].name == name {
			return i
		}
	}
	return -1
}

// endBlock ends the client's transaction.
func (s *session) endBlock(committed bool) {
	s.tx = txn{wrap: s.tx.wrap}
	s.countSavepoints()
	s.portals.drop()
	s.transactionEnded(committed)
}

// transactionEnded makes settings last, or undoes those of the transaction that has ended.
func (s *session) transactionEnded(committed bool) {
	s.portals.drop()
	s.tx.modes = policy.Modes{}
	s.set.endTransaction(committed)
}

// modes are those of the transaction that is open, or that the next statement opens.
func (s *session) modes() policy.Modes { return merged(s.set.modes(), s.tx.modes) }

// wantBlock warns of what ends with an implicit transaction, which only the statements of one
// message share. It is done all the same.
func (s *session) wantBlock(what string) {
	if !s.tx.block() && !s.msg.several {
		s.notice("25P01", what+" can only be used in transaction blocks")
	}
}

// free tells whether a text does nothing but begin or end a transaction, at no cost for the
// server's budget: a client must always be able to do so. A word that is not of these
// commands makes it cost: ROLLBACK TO does, and the modes of BEGIN. So does an odd way to write
// it: each text is decided on, and there must be few that cost nothing.
func free(text string) bool {
	const longest, tail = 32, 2 // bytes: COMMIT TRANSACTION AND NO CHAIN, and what ends it
	short := strings.TrimRight(text, "; \t\r\n")
	if len(short) > longest || len(text)-len(short) > tail {
		return false
	}
	is := false
	switch first, rest := nextWord(short); {
	case isOneOf(first, "begin", "start"):
		is = onlyOf(rest, "work", "transaction")
	case isOneOf(first, "commit", "end", "rollback", "abort"):
		is = onlyOf(rest, "work", "transaction", "and", "no", "chain")
	}
	return is && !strings.Contains(short, "  ") && !strings.ContainsAny(short, ",\t\r\n") &&
		(short == strings.ToLower(short) || short == strings.ToUpper(short))
}

// freeVerb tells the commands that are free.
func freeVerb(verb policy.Verb) bool {
	return verb == policy.Begin || verb == policy.Commit || verb == policy.Rollback
}

// nextWord cuts the first word off a text, and what separates it from the next.
func nextWord(text string) (word, rest string) {
	end := strings.IndexAny(text, " ,\t\r\n")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], " ,\t\r\n")
}

// onlyOf tells whether a text has no other words than these.
func onlyOf(text string, words ...string) bool {
	for text != "" {
		var word string
		if word, text = nextWord(text); !isOneOf(word, words...) {
			return false
		}
	}
	return true
}

func isOneOf(word string, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// modesText writes modes as they stand behind BEGIN; its words are a closed list.
func modesText(m policy.Modes) string {
	var words []string
	switch m.Isolation {
	case "serializable", "repeatable read", "read committed", "read uncommitted":
		words = append(words, "ISOLATION LEVEL "+strings.ToUpper(m.Isolation))
	}
	choose := func(on *bool, yes, no string) {
		switch {
		case on == nil:
		case *on:
			words = append(words, yes)
		default:
			words = append(words, no)
		}
	}
	choose(m.ReadOnly, "READ ONLY", "READ WRITE")
	choose(m.Deferrable, "DEFERRABLE", "NOT DEFERRABLE")
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, ", ")
}

// merged gives modes with those that another command gives.
func merged(m, with policy.Modes) policy.Modes {
	if with.Isolation != "" {
		m.Isolation = with.Isolation
	}
	if with.ReadOnly != nil {
		m.ReadOnly = with.ReadOnly
	}
	if with.Deferrable != nil {
		m.Deferrable = with.Deferrable
	}
	return m
}
