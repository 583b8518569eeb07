package wire

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// A Query message carries its values in its text, so that each is another text. Where the
// constants mean no more than their values they are taken out of it (policy.Parametrize):
// what is left is decided on once, and Postgres parses and plans it once.

// parametrize decides on a part without its constants, and tells whether that is as good as
// to decide on the part. A part that finds no place for that decision is refused.
func (s *session) parametrize(p *part) bool {
	if p.whole {
		return false
	}
	taken, ok := policy.Parametrize(p.text)
	if !ok {
		return false
	}
	approved, err := s.ask(taken.Text, taken.Types)
	if refusal := refusalIn(err); refusal != nil && refusal.Code == proxy.Overloaded {
		p.refusal = s.rejected(err)
		return true
	}
	if err != nil || approved.KeepsConstants() || approved.Command().Verb != policy.NoCommand {
		return false
	}
	p.approved, p.taken = approved, &taken
	return true
}

// runsAgain tells whether the statement of a Query message that failed is run once more, as the client wrote it: it was
// alone, so that nothing else is undone with it, and Postgres has not begun it. Either the schema has changed, or what
// failed had its constants taken out: where it fails with them too, Postgres says it of the client's own text. Only a
// Query message is run again here.
func (s *session) runsAgain(refusal *proxy.Error, schemaChanged bool) bool {
	x := &s.batch.x
	switch {
	case !x.Query, refusal == nil, x.Executed, s.msg.asWritten, s.msg.several, !s.msg.fresh, s.c.out.Sent != s.msg.sentAtStart:
		return false
	case s.present.ctx.Err() != nil: // it was cancelled, or the client is gone
		return false
	case schemaChanged:
		return true
	}
	taken := x.Done >= 0 && x.Done < len(s.batch.notes) && s.batch.notes[x.Done].taken != nil
	return taken && (refusal.Code == policy.InvalidArgument || strings.HasPrefix(refusal.SQLState, "42"))
}

// ofText gives what a refusal says of a statement without its constants as one of the text.
func ofText(taken *policy.Parametrized, refusal *proxy.Error) *proxy.Error {
	if taken == nil {
		return refusal
	}
	told := *refusal
	if told.Position > 0 {
		told.Position = taken.CallerPosition(told.Position)
	}
	if told.Code == policy.InvalidArgument {
		for i := range taken.Args {
			if message, ours := strings.CutPrefix(told.Message, "$"+number(i+1)+": "); ours {
				told.Code, told.Message, told.Position = policy.QueryFailed, message, taken.Position(i)
				break
			}
		}
	}
	return &told
}
