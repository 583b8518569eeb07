package wire

import (
	"sync"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What a client may keep without a share of the memory for it, in bytes, and what it is given
// at a time beyond that.
const (
	freeKept = 16 << 10
	keptStep = 4 << 10
)

// ledger bounds what all clients together keep while nothing of theirs runs: their prepared
// statements, with the decisions on them, and their portals. A pool keeps its connections for a day, and
// a server may have thousands of them.
type ledger struct {
	short func(what, whose string)
	reads *proxy.Tally // relations of named portals; see portalReads

	mu     sync.Mutex
	held   *proxy.Holdings // bytes
	shared map[sharer]*sharedPlan
}

// sharer is a server and a text that some of its clients hold a decision on. Decisions are the same for all servers, but
// each server is charged for those of its own clients: what one holds must cost no other, nor spare it a cost.
type sharer struct {
	account proxy.Account
	origin  policy.Origin
	types   string // see policy.GivenTypes
	text    string
}

// sharedPlan is a decision that statements of a server's clients hold, with its text. It counts once for
// the server.
type sharedPlan struct {
	by       sharer
	approved *policy.Approved
	size     int
	holders  int
}

// sharedSize is about what a sharedPlan takes beside the text and the decision, in bytes.
const sharedSize = 256

func newLedger(c Config) *ledger {
	return &ledger{short: c.Recorder.Short, reads: proxy.NewTally(portalReads, c.ProjectShare), held: proxy.NewHoldings(c.MaxKeptBytes, c.ProjectShare), shared: map[sharer]*sharedPlan{}}
}

// hold counts one more holder of a decision, and gives it as all of the server's clients have it.
func (l *ledger) hold(a proxy.Account, of *proxy.Prepared, text string) (*sharedPlan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := sharer{a, of.Approved.Origin(), policy.GivenTypes(of.Types).Key(), text}
	plan := l.shared[by]
	if plan == nil {
		size := sharedSize + len(text) + len(by.types) + of.Approved.Size()
		if err := l.takeLocked(a, size); err != nil {
			return nil, err
		}
		plan = &sharedPlan{by: by, approved: of.Approved, size: size}
		l.shared[by] = plan
	}
	plan.holders++
	return plan, nil
}

// letGo counts one holder less.
func (l *ledger) letGo(plan *sharedPlan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if plan.holders--; plan.holders == 0 {
		l.held.Give(plan.by.account, plan.size)
		delete(l.shared, plan.by)
	}
}

func (l *ledger) reserve(a proxy.Account, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeLocked(a, n)
}

func (l *ledger) takeLocked(a proxy.Account, n int) error {
	full := l.held.Take(a, n)
	if full == nil {
		return nil
	}
	l.short("statements", proxy.Whose(full))
	return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", // without a cause: a refused text costs nothing, and must write no line
		Message: "prepared statements and portals of clients use all the memory for them",
		Hint:    "Close some of them, or connect with fewer clients or a smaller cache of statements."}
}

func (l *ledger) release(a proxy.Account, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held.Give(a, n)
}

// keeping is what one client keeps. It belongs to the client's session.
type keeping struct {
	of      *ledger
	account proxy.Account
	bytes   int // in all
	charged int // those of them that are counted against the client's server
}

// reserve counts n bytes more.
func (k *keeping) reserve(n int) error {
	if more := chargeOf(k.bytes+n) - k.charged; more > 0 {
		if err := k.of.reserve(k.account, more); err != nil {
			return err
		}
		k.charged += more
	}
	k.bytes += n
	return nil
}

// read counts n relations more that portals read.
func (k *keeping) read(n int) error {
	full := k.of.reads.Take(k.account, n)
	if full == nil {
		return nil
	}
	k.of.short("portals", proxy.Whose(full))
	return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many tables are read by the open portals of this server, its project or all",
		Hint: "Close portals, or end the transaction; run a statement that reads hundreds of tables without a named portal."}
}

// stopReading counts n relations less.
func (k *keeping) stopReading(n int) { k.of.reads.Give(k.account, n) }

// release counts n bytes less.
func (k *keeping) release(n int) {
	k.bytes -= n
	if less := k.charged - chargeOf(k.bytes); less > 0 {
		k.of.release(k.account, less)
		k.charged -= less
	}
}

// chargeOf is how much of so many bytes a client's server has to have room for.
func chargeOf(bytes int) int {
	return (max(bytes-freeKept, 0) + keptStep - 1) / keptStep * keptStep
}

// keep makes room for a statement. The decision on one that is small, of a client that keeps little,
// counts as the client's own; another is counted once for all clients of the server. The statement without a name
// is there for a moment, mostly, and whoever has no room left must be able to go on: so a small one counts nothing.
func (k *keeping) keep(made *statement) error {
	own, whole := made.size(), made.wholeSize()
	switch small := whole <= freeKept; {
	case small && made.name == "":
		return nil
	case small && k.bytes+whole <= freeKept:
		own = whole
	case made.approved != nil:
		if err := k.hold(made); err != nil {
			return err
		}
		own = made.ownSize()
	}
	if err := k.reserve(own); err != nil {
		k.letGo(made)
		return err
	}
	made.counted = own
	return nil
}

// drop gives back what a statement has taken.
func (k *keeping) drop(gone *statement) {
	k.letGo(gone)
	k.release(gone.counted)
	gone.counted = 0
}

// hold has a statement hold the decision that it has.
func (k *keeping) hold(of *statement) error {
	plan, err := k.of.hold(k.account, of.approved, of.text)
	if err != nil {
		return err
	}
	of.text, of.held, of.approved.Approved = plan.by.text, plan, plan.approved
	return nil
}

func (k *keeping) letGo(of *statement) {
	if of.held != nil {
		k.of.letGo(of.held)
		of.held = nil
	}
}

// renew gives a statement another policy's decision on its text.
func (k *keeping) renew(of *statement, approved *policy.Approved) error {
	before, held := of.approved, of.held
	of.approved = &proxy.Prepared{Approved: approved, Types: before.Types, Told: before.Told}
	of.approved.Told.Outdated = before.Told.Outdated || !approved.SameFor(before.Approved)
	if held == nil {
		return nil
	}
	if err := k.hold(of); err != nil {
		of.approved = before
		return err
	}
	k.of.letGo(held)
	return nil
}
