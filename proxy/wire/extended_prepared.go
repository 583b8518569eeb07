package wire

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What a client may have prepared at a time.
const (
	maxStatements     = 1000
	maxStatementBytes = 1 << 20 // bytes
)

// statement is one that a client has prepared. It lives until the client closes it; what the
// gate says of it is asked for again each time that it is bound.
type statement struct {
	name     string
	text     string
	approved *proxy.Prepared // nil for what is answered here, and for an empty text
	answer   *answer         // what is answered without the database; nil: nothing
	paid     bool            // its Parse was paid for, and it was not run since
	round    uint64          // the exchange in which the gate approved it

	counted int         // bytes that it counts for, of what the client keeps; see keeping
	held    *sharedPlan // the decision that is counted for all of the server's clients; nil: none
}

// empty tells whether there is nothing to be done.
func (p *statement) empty() bool { return p.approved == nil && p.answer == nil }

// command gives what is asked for if that is no statement on rows.
func (p *statement) command() policy.Command {
	if p.approved == nil {
		return policy.Command{}
	}
	return p.approved.Approved.Command()
}

// local tells whether the link never hears of the statement itself: it is empty, answered
// here, or a command of the session's.
func (p *statement) local() bool { return p.approved == nil || isLocal(p.command().Verb) }

// rowless tells what has no columns to be described: that is answered in a transaction that has
// failed, too.
func (p *statement) rowless() bool { return p.local() && p.columns() == 0 }

// planBytes is about what its plan takes in the database, in bytes.
func (p *statement) planBytes() int {
	if p.approved == nil {
		return 0
	}
	return p.approved.Approved.PlanBytes()
}

// size is about what it takes in memory, in bytes, beside the decision.
func (p *statement) size() int { return p.ownSize() + len(p.text) }

// wholeSize is the same with the decision.
func (p *statement) wholeSize() int {
	if p.approved == nil {
		return p.size()
	}
	return p.size() + p.approved.Approved.Size()
}

// ownSize is that of size without its text, with its place in the map.
func (p *statement) ownSize() int {
	size := 256 + len(p.name)
	if p.approved != nil {
		size += 4 * len(p.approved.Types)
	}
	return size
}

// columns is how many a command's or an answer's rows have; 0: there are none, or the database
// knows.
func (p *statement) columns() int {
	switch {
	case p.answer != nil:
		return len(p.answer.columns)
	case p.command().Verb != policy.Show:
		return 0
	case p.command().Name == "all":
		return 3
	}
	return 1
}

// formats gives those of a Bind that count, in memory of their own.
func (p *statement) formats(asked []int16) []int16 {
	if n := len(asked); n == 1 || n == p.columns() {
		return slices.Clone(asked)
	}
	return nil
}

// prepared are a client's prepared statements.
type prepared struct {
	keeps   *keeping
	unnamed *statement
	named   map[string]*statement
	bytes   int

	replaced int // bytes of unnamed statements with successors that were not run yet
}

// find gives a statement, nil when there is none.
func (p *prepared) find(name string) *statement {
	if name == "" {
		return p.unnamed
	}
	return p.named[name]
}

// room tells whether there is room for one more.
func (p *prepared) room(size int) error {
	if len(p.named) >= maxStatements || p.bytes+size > maxStatementBytes {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many prepared statements",
			Hint: "Close some of them, or connect with a smaller cache of statements."}
	}
	return nil
}

// add takes a statement of which there is no other of its name, if there is room.
func (p *prepared) add(made *statement) error {
	if made.name != "" {
		if err := p.room(made.size()); err != nil {
			return err
		}
	}
	if err := p.keeps.keep(made); err != nil {
		return err
	}
	if made.name == "" {
		p.unnamed = made
		return nil
	}
	if p.named == nil {
		p.named = map[string]*statement{}
	}
	p.named[made.name] = made
	p.bytes += made.size()
	return nil
}

// drop forgets a statement, if it is still the one of its name.
func (p *prepared) drop(made *statement) {
	switch {
	case made == nil || p.find(made.name) != made:
	case made.name == "":
		p.unnamed = nil
		p.keeps.drop(made)
	default:
		delete(p.named, made.name)
		p.bytes -= made.size()
		p.keeps.drop(made)
	}
}

// dropNamed forgets all but the unnamed one.
func (p *prepared) dropNamed() {
	for _, of := range p.named {
		p.keeps.drop(of)
	}
	p.named, p.bytes = nil, 0
}

// dropAll forgets all.
func (p *prepared) dropAll() {
	p.releaseReplaced()
	p.drop(p.unnamed)
	p.dropNamed()
}

// prepare decides on a text and gives it as a statement. The text may be a view.
func (s *session) prepare(name, text string, types []uint32) (*statement, error) {
	if !utf8.ValidString(text) {
		return nil, pgError("22021", `invalid byte sequence for encoding "UTF8"`)
	}
	if err := s.identify(); err != nil {
		return nil, err
	}
	if known := answered(text); known != nil {
		if err := s.payForAnswer(); err != nil {
			return nil, err
		}
		return &statement{name: strings.Clone(name), text: strings.Clone(text), answer: known, paid: true}, s.mayRun(policy.NoCommand)
	}
	text = driverRewrite(text)
	if err := s.payForName(name, text); err != nil {
		return nil, err
	}
	approved, err := s.check(text, types...)
	if isEmpty(err) {
		return &statement{name: strings.Clone(name)}, nil
	}
	if err != nil {
		return nil, s.unlessFailed(err)
	}
	command := approved.Command()
	if err := s.mayRun(command.Verb); err != nil {
		return nil, err
	}
	if command.Verb == policy.Show {
		if err := s.knownSetting(command.Name); err != nil {
			return nil, err
		}
	}
	if again := s.prepared.unnamed; name == "" && again != nil && again.is(approved, text, types) {
		again.round, again.paid = s.round, !free(text)
		return again, nil
	}
	return &statement{
		name: strings.Clone(name), text: strings.Clone(text), round: s.round, paid: !free(text),
		approved: &proxy.Prepared{Approved: approved, Types: slices.Clone(types)},
	}, nil
}

// payForName pays for a text that is free where it is run, for it is kept under a name. What ends
// a transaction that is open is prepared in any case.
func (s *session) payForName(name, text string) error {
	if name == "" || !free(text) {
		return nil
	}
	if err := s.identify(); err != nil {
		return err
	}
	err := s.pay()
	if s.tx.any() {
		return nil
	}
	return err
}

// is tells whether the statement is the same as another would be.
func (p *statement) is(approved *policy.Approved, text string, types []uint32) bool {
	return p.approved != nil && p.approved.Approved.Origin() == approved.Origin() && p.text == text && slices.Equal(p.approved.Types, types)
}

// renew asks the gate about a statement again: the policy may have changed, or who the
// client is. Within an exchange its word stands.
func (s *session) renew(p *statement) error {
	if p.approved == nil {
		return s.mayRun(policy.NoCommand)
	}
	if p.round != s.round || !s.rechecked {
		approved, err := s.decide(p.text, p.approved.Types...)
		if err != nil {
			return err
		}
		if approved.Origin() != p.approved.Approved.Origin() { // else it says the same as before
			if err := s.prepared.keeps.renew(p, approved); err != nil {
				return err
			}
		}
		p.round = s.round
	}
	return s.mayRun(p.command().Verb)
}

// unlessFailed gives a refusal: in a transaction that has failed, Postgres looks no further
// than whether a text is SQL.
func (s *session) unlessFailed(err error) error {
	if s.tx.failed() && refusalIn(err) != nil && !stops(err) {
		return errFailed()
	}
	return err
}

// mayRun refuses, in a transaction that has failed, what does not end it.
func (s *session) mayRun(verb policy.Verb) error {
	switch verb {
	case policy.Commit, policy.Rollback, policy.RollbackTo:
		return nil
	}
	if s.tx.failed() {
		return errFailed()
	}
	return nil
}
