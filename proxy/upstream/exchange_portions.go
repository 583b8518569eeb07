package upstream

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// portion is what a client has had so far of a result that it asks for bit by bit.
type portion struct {
	rows  int
	bytes int64
}

// portions are those of a transaction, by the portal's name, which is the cursor's, too. The
// zero value has none.
type portions struct{ named map[string]portion }

// maxPortions bounds the results that are counted at a time.
const maxPortions = 1000

func (p *portions) of(name string) portion { return p.named[name] }

func (p *portions) keep(name string, had portion) error {
	if _, there := p.named[name]; !there && len(p.named) >= maxPortions {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many results are read in portions", Hint: "Close some of the cursors, or end the transaction."}
	}
	if p.named == nil {
		p.named = map[string]portion{}
	}
	p.named[strings.Clone(name)] = had
	return nil
}

func (p *portions) forget(name string) { delete(p.named, name) }

func (p *portions) drop() { p.named = nil }

// resultOf names the result that a step's rows belong to.
func resultOf(s *proxy.Step) string {
	if verbOf(s) == policy.Fetch {
		return approvedOf(s).Command().Name
	}
	return s.Portal
}

// countPortion notes how much of a result the client has had, once a portion of it has come.
func (e *exchange) countPortion(s *proxy.Step, kind byte, rows int) error {
	l, limits := e.link, approvedOf(s).Limits()
	name := approvedOf(s).Command().Name
	switch verb := verbOf(s); {
	case verb == policy.CloseCursor && name == "":
		l.portions.drop()
	case verb == policy.CloseCursor || verb == policy.Declare:
		l.portions.forget(name)
	case verb != policy.Fetch && kind != frame.PortalSuspended:
		l.portions.forget(s.Portal)
	case limits.MaxRows >= 0 || limits.MaxResultBytes >= 0:
		return l.portions.keep(resultOf(s), portion{rows: rows, bytes: e.bytes})
	}
	return nil
}
