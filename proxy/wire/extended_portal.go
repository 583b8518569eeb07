package wire

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What a client may have in named portals at a time. The values are the database's to keep, until
// the transaction ends: one alone may be as long as a message.
const (
	maxPortals     = 256
	maxPortalBytes = 2 << 20  // bytes
	maxValues      = 32 << 20 // bytes, of their arguments and plans
)

// portalReads is how many relations the named portals of all clients together read. A portal that stopped midway keeps up to
// three of Postgres' shared buffers for each, and who finds none that is free fails: "no unpinned buffers available" (Postgres 15, seen
// 2026-11-27 with 12 transactions; there are 16,384 by default). The unnamed portal, one for each client, does not count.
const portalReads = 500

// maxIdentifier is the length of the longest name that is taken, in bytes: as in Postgres, which
// cuts longer ones.
const maxIdentifier = 63

// nameFits refuses a name that is too long.
func nameFits(name string) error {
	if len(name) > maxIdentifier {
		return pgError("42622", "a name is longer than "+number(maxIdentifier)+" bytes")
	}
	return nil
}

// portal is a statement with its arguments, ready to be run. The zero value is none.
type portal struct {
	of       *statement
	approved *proxy.Prepared // as it was bound; nil where it is answered here
	kind     policy.Kind     // of what is run
	formats  []int16         // of the columns, where it is answered here
	results  []int16         // of the columns, else: a view, valid in the exchange that bound it
	after    int             // steps that its exchange must have done for it to be there
	ran      bool            // it was run at least once
	made     uint64          // how many were made before it
	values   int             // bytes of its arguments and its plan, which the database keeps
	counted  int             // bytes that it counts for, of what the client keeps; see keeping
	reads    int             // relations that it counts for; see portalReads
}

// size is about what it keeps in memory under a name, in bytes: also its statement, which may
// be closed before it.
func (p *portal) size(name string) int {
	return 256 + len(name) + 2*len(p.formats) + p.of.size()
}

// portals are a client's; they end with the transaction.
type portals struct {
	keeps   *keeping
	unnamed portal
	named   map[string]portal
	bytes   int
	values  int
	made    uint64 // portals, with those that are gone
	before  uint64 // those of them that were made before this exchange
	counted int    // bytes, of what the client keeps
	reads   int    // relations that count, those of closing included
	closing int    // relations of portals whose Close was collected and not run: Postgres has those still
	views   bool   // some have the formats of this exchange
}

// room tells whether there is room for one more portal of a name.
func (p *portals) room(name string, made *portal) error {
	if err := nameFits(name); err != nil {
		return err
	}
	if _, there := p.named[name]; there {
		return pgError("42P03", fmt.Sprintf("cursor %q already exists", printable(name)))
	}
	if len(p.named) >= maxPortals || p.bytes+made.size(name) > maxPortalBytes || p.values+made.values > maxValues {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many portals", Hint: "Close some of them, or end the transaction."}
	}
	return nil
}

func (p *portals) find(name string) (portal, bool) {
	if name == "" {
		return p.unnamed, p.unnamed.of != nil
	}
	found, there := p.named[name]
	return found, there
}

// add takes a portal that has room of the client's own, if there is some of what all keep. It counts with its
// statement, which may be closed before it.
func (p *portals) add(name string, made portal) error {
	if name != "" {
		made.counted = made.size(name)
		if made.of.approved != nil {
			made.counted += made.of.approved.Approved.Size()
		}
		if made.of.approved != nil {
			made.reads = made.of.approved.Approved.Relations()
		}
		if err := p.keeps.read(made.reads); err != nil {
			return err
		}
		if err := p.keeps.reserve(made.counted); err != nil {
			p.keeps.stopReading(made.reads)
			return err
		}
	}
	p.views = p.views || len(made.results) > 0
	made.made = p.made
	p.made++
	if name == "" {
		p.unnamed = made
		return nil
	}
	if p.named == nil {
		p.named = map[string]portal{}
	}
	p.named[strings.Clone(name)] = made
	p.bytes, p.values, p.counted, p.reads = p.bytes+made.size(name), p.values+made.values, p.counted+made.counted, p.reads+made.reads
	return nil
}

// run notes that a portal is run.
func (p *portals) run(name string) {
	found, there := p.find(name)
	found.ran = true
	switch {
	case name == "":
		p.unnamed = found
	case there:
		p.named[strings.Clone(name)] = found
	}
}

func (p *portals) remove(name string) {
	if name == "" {
		p.unnamed = portal{}
		return
	}
	if gone, there := p.named[name]; there {
		p.bytes, p.values, p.counted, p.reads = p.bytes-gone.size(name), p.values-gone.values, p.counted-gone.counted, p.reads-gone.reads
		p.keeps.release(gone.counted)
		p.keeps.stopReading(gone.reads)
		delete(p.named, name)
	}
}

// close forgets a portal whose Close is to be run. What it reads counts until closed.
func (p *portals) close(name string) {
	if of, named := p.named[name]; named {
		p.closing += of.reads
		of.reads = 0
		p.named[name] = of
	}
	p.remove(name)
}

// closed notes that an exchange has ended that may hold a Close. Where something in it failed, Postgres may have that
// portal still, and it counts until the transaction ends.
func (p *portals) closed(run bool) {
	if run {
		p.keeps.stopReading(p.closing)
		p.reads -= p.closing
	}
	p.closing = 0
}

// dropFailed drops those that are not there because a step of this exchange failed, when so many were done. The unnamed one that
// was before them is gone, too, unlike in Postgres: what goes back to a savepoint uses Postgres' unnamed portal.
func (p *portals) dropFailed(done int) {
	p.dropIf(func(of portal) bool { return of.made >= p.before && of.after > done })
}

// dropSince drops those that were made behind so many.
func (p *portals) dropSince(made uint64) {
	p.dropIf(func(of portal) bool { return of.made >= made })
}

func (p *portals) dropIf(gone func(portal) bool) {
	if gone(p.unnamed) {
		p.unnamed = portal{}
	}
	for name, of := range p.named {
		if gone(of) {
			p.remove(name)
		}
	}
}

func (p *portals) drop() {
	if p.counted > 0 {
		p.keeps.release(p.counted)
	}
	if p.reads > 0 {
		p.keeps.stopReading(p.reads)
	}
	*p = portals{keeps: p.keeps}
}

// endExchange lets go of what is no longer valid after an exchange.
func (p *portals) endExchange() {
	p.before = p.made
	if !p.views {
		return
	}
	p.views, p.unnamed.results = false, nil
	for name, of := range p.named {
		if of.results != nil {
			of.results = nil
			p.named[name] = of
		}
	}
}
