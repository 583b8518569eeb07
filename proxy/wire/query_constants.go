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

// needsConstants tells whether a statement that failed without its constants is to be run with them:
// it was alone, so that nothing else is undone with it, Postgres has not begun it, and where
// it knows no better what is wrong, it says it of the text that the client wrote.
func (s *session) needsConstants(refusal *proxy.Error, taken *policy.Parametrized) bool {
	if refusal == nil || taken == nil || s.msg.several || s.msg.startedInTx || s.c.out.Sent != s.msg.sentAtStart {
		return false
	}
	return refusal.Code == policy.InvalidArgument || strings.HasPrefix(refusal.SQLState, "42")
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
