package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// entered is what a text holds while it is decided on; the zero one is nothing.
type entered struct {
	of    Account
	job   Job
	works bool // it has the job
	place bool // and a place among those of parsing
}

// acquirePlace waits until a text may be decided on. Servers take turns at the places: whoever sends unknown texts has its own wait.
//
// A known text waits, and is refused, as an unknown one is: else a server that has used up its share could find out which texts other
// servers have sent, with the values in them. A known text that was refused takes each step of an unknown one. One that was admitted
// skips the steps at which an unknown one would not wait.
func (g *Gate) acquirePlace(ctx context.Context, s Subject, admitted bool) (entered, *Error) {
	a := s.Server.Account()
	if admitted && !g.parsing.Waits(a) && !g.work.HoldsBack(a) {
		return entered{}, nil
	}
	job, waited, err := g.begin(ctx, s)
	if err != nil {
		return entered{}, g.notParsed(err)
	}
	in := entered{of: a, job: job, works: true}
	if admitted && !g.parsing.Waits(a) { // a line may have begun meanwhile
		return in, nil
	}
	g.work.Pause(a)
	err = g.parsing.Take(ctx, a, parsingWait-waited)
	g.work.Resume(a)
	if err != nil {
		g.work.End(job)
		return entered{}, g.notParsed(err)
	}
	in.place = true
	return in, nil
}

// releasePlace gives back what a text held. Where a decision was made, the job's time counts for how long the server's others take.
func (g *Gate) releasePlace(in entered, made bool) {
	if in.place {
		g.parsing.Give(in.of)
	}
	switch {
	case !in.works:
	case made:
		g.work.End(in.job)
	default:
		g.work.Cancel(in.job)
	}
}

// begin waits until the subject may have work done. In a transaction it does not: others may wait for its locks.
func (g *Gate) begin(ctx context.Context, s Subject) (job Job, waited time.Duration, err error) {
	if s.InTransaction {
		return g.work.Start(s.Server.Account()), 0, nil
	}
	return g.work.Begin(ctx, s.Server.Account(), parsingWait)
}

// notParsed says why a text got no place to be checked in.
func (g *Gate) notParsed(cause error) *Error {
	if errors.Is(cause, ErrNoTurn) { // else the caller is gone
		g.recorder.Short("parsing", Whose(cause))
	}
	if errors.Is(cause, ErrBusy) {
		return HeldBack(cause)
	}
	return &Error{Code: Overloaded, Message: "too many statements are being checked; try again", RetryAfter: time.Second, Retryable: true, Cause: cause,
		Hint: "send values as parameters: a text that is sent again and again is not checked again"}
}

// controlsTransaction tells by its words alone whether a text begins or ends a transaction. Such a text never waits to be decided on,
// known or not: the locks of its transaction may keep others waiting. A text with anything else in it, such as a comment, is one like
// any other.
func controlsTransaction(text string) bool {
	if len(text) > longestControl {
		return false
	}
	first := true
	for word := range strings.FieldsFuncSeq(text, betweenWords) {
		of := controlWords
		if first {
			of, first = controlVerbs, false
		}
		if !slices.ContainsFunc(of, func(w string) bool { return strings.EqualFold(w, word) }) {
			return false
		}
	}
	return !first
}

// longestControl is more bytes than START TRANSACTION has with all modes.
const longestControl = 100

func betweenWords(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }

var (
	controlVerbs = []string{"BEGIN", "COMMIT", "ROLLBACK", "START", "END", "ABORT"}
	controlWords = []string{
		"TRANSACTION", "WORK", "READ", "ONLY", "WRITE", "ISOLATION", "LEVEL", "SERIALIZABLE", "REPEATABLE", "COMMITTED", "UNCOMMITTED",
		"NOT", "DEFERRABLE", "AND", "NO", "CHAIN",
	}
)
