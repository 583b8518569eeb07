package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// Link is one client's way to the database: a connection while a transaction is open, else
// nothing but these fields. It is for one goroutine.
type Link struct {
	pool     *Pool
	server   string
	project  string
	lease    lease
	held     bool // the connection is ours
	opened   bool // the prelude of this transaction was written
	explicit bool // it was opened by a BEGIN
	failed   bool // and can only be rolled back
	changed  bool // a statement in it may have changed something
	unsynced bool // something was sent since the last Sync
	midway   bool // of it, a portal that may write and has a row limit
	// settingsLost is that some of what was set for the transaction may be gone: it is made again before
	// the next statement, but never in a transaction that has failed.
	settingsLost bool
	settings     []policy.Setting // the client's, as they are made in each transaction of the link's
	inForce      string           // those that were made last: a statement's constants are read under them
	portions     portions         // of results of this transaction
	cursors      *cursors         // of this transaction; nil: it has had none, and no savepoints
	records      recordTypes      // of this transaction
	exchange     exchange
	json         *jsonResult   // what each exchange runs in place of steps; nil: the steps
	waited       time.Duration // by this exchange, before it asked for a connection
}

// Link gives a client's way to the database for a server. It costs nothing until it is used;
// Rollback must be called then.
func (p *Pool) Link(a proxy.Account) *Link {
	return &Link{pool: p, server: a.Server, project: a.Project}
}

func (l *Link) account() proxy.Account { return proxy.Account{Project: l.project, Server: l.server} }

// Run does what the exchange says and writes the client's messages to out; see wire.Link.
// What is written to out may be taken back again while it was not sent.
func (l *Link) Run(ctx context.Context, x *proxy.Exchange, out *frame.Writer) (proxy.State, error) {
	if l.held && l.lease.session.path != l.pool.path.now() { // what was decided since may mean other names than those of its path
		l.giveUp()
		l.end()
		return l.state(), unavailable("where the database looks for names has changed, and the transaction was rolled back", nil)
	}
	job, err := l.startWork(ctx)
	if err != nil {
		return l.state(), err
	}
	defer func() {
		l.cursors.answered()
		if x.Unsent {
			l.pool.cfg.Work.Cancel(job)
		} else {
			l.pool.cfg.Work.End(job)
		}
	}()
	fresh, mark, sent := !l.held && !l.explicit, len(out.Buf), out.Sent
	x.Executed = false
	f := l.attempt(ctx, x, out)
	if f != nil && fresh && out.Sent == sent && f.mayRepeat() && ctx.Err() == nil {
		l.pool.react(ctx, &f.failure)
		l.Rollback() // the attempt may have begun a transaction
		out.Buf = out.Buf[:mark]
		f = l.attempt(ctx, x, out)
	}
	if f == nil {
		x.Done = len(x.Steps)
		return l.state(), nil
	}
	x.Done = f.step
	if f.client != nil {
		return l.state(), f.client
	}
	l.pool.react(ctx, &f.failure)
	if f.rolledBack {
		x.Done = len(x.Steps)
		return l.state(), nil
	}
	e := f.explain(ctx, f.st)
	l.pool.logLack(ctx, l.account(), f.st, e)
	return l.state(), e
}

// react counts a failure and draws its consequence for the other connections.
func (p *Pool) react(ctx context.Context, f *failure) {
	class := f.class()
	switch class {
	case "":
		return
	case classReadOnly, classShutdown:
		p.reset(class)
	case classTimeout, classNetwork:
		if ctx.Err() != nil {
			class = classCancelled
		}
	}
	p.cfg.Recorder.UpstreamError(class)
}

// startWork waits until the exchange may run beside others' statements. Within a transaction it does not:
// others may wait for what that has locked.
func (l *Link) startWork(ctx context.Context) (job proxy.Job, err error) {
	l.waited = 0
	if l.held || l.explicit {
		return l.pool.cfg.Work.Start(l.account()), nil
	}
	job, l.waited, err = l.pool.startWork(ctx, l.account())
	return job, err
}

// linkFailure is an exchange that did not end well.
type linkFailure struct {
	failure
	st           *statement // the one that failed
	step         int        // its place
	client       error      // what became of the client's connection, if that is what failed
	endedEarlier bool       // a transaction was ended before: to do it all again would be once too often
	rolledBack   bool       // all that was left to do was to roll back, which the loss of the connection has done
}

// mayRepeat tells whether the exchange may be tried once more: nothing of it remains.
func (f *linkFailure) mayRepeat() bool {
	return f.client == nil && !f.endedEarlier && (f.repeatable() || errors.Is(f.err, proxy.ErrResultChanged) && f.reached < completed && !(f.synced && f.st.mayWrite))
}

// state is that of the transaction, as the client is to see it.
func (l *Link) state() proxy.State {
	switch {
	case l.explicit && l.failed:
		return proxy.Failed
	case l.explicit || l.held:
		return proxy.Open
	}
	return proxy.Idle
}

// attempt does an exchange once.
func (l *Link) attempt(ctx context.Context, x *proxy.Exchange, out *frame.Writer) *linkFailure {
	e := &l.exchange
	e.begin(ctx, l, x, out)
	defer func() {
		if e.link != nil { // a panic: answers are still to come
			l.giveUp()
			l.end()
		}
		e.forget()
	}()
	f := e.run()
	if f != nil {
		l.failed = l.explicit
		if !l.explicit && l.held {
			l.Rollback()
		}
	}
	e.link = nil
	if !l.held { // there is no transaction to count them for: known texts alone took no connection
		l.records = recordTypes{}
	}
	return f
}

// acquire takes a connection for a transaction.
func (l *Link) acquire(ctx context.Context, wears bool) error {
	given, err := l.pool.acquire(ctx, l.account(), l.waited, wears)
	if err == nil {
		l.lease, l.held = given, true
	}
	return err
}

// release gives the connection back.
func (l *Link) release() {
	l.records = recordTypes{}
	if !l.held {
		return
	}
	was := l.lease
	l.lease, l.held, l.opened, l.changed, l.unsynced, l.midway, l.settingsLost, l.settings, l.inForce = lease{}, false, false, false, false, false, false, nil, ""
	l.portions.drop()
	l.cursors.drop()
	l.cursors = nil // most clients are idle and have none
	l.pool.release(was, l.account())
}

// end forgets the transaction.
func (l *Link) end() {
	l.release()
	l.explicit, l.failed = false, false
}

// giveUp closes the connection: what is on it can't be told apart any more.
func (l *Link) giveUp() {
	if l.held && !l.lease.session.abandoned {
		l.lease.session.giveUp()
	}
}

// Rollback ends what is open, as if nothing of it had been. The link can be used again.
func (l *Link) Rollback() {
	if l.held && !l.lease.session.abandoned && l.lease.session.rollback() != nil {
		l.giveUp()
	}
	l.end()
}

// rollback ends the transaction of a connection that is between two exchanges.
func (s *session) rollback() error {
	w := &s.wire
	s.alarm.bound(cancelPatience)
	defer s.alarm.off()
	w.begin()
	w.undo()
	w.sync()
	if err := w.flush(); err != nil {
		return err
	}
	t := talk{ctx: context.Background(), s: s, cancelSent: true}
	if t.untilReady() != proxy.Idle || !w.idle() {
		return errors.New("the transaction was not rolled back")
	}
	return nil
}

// untilReady reads up to the end of an exchange, whatever comes before, and gives the state;
// 0 where the connection broke.
func (r *talk) untilReady() proxy.State {
	for {
		kind, body, err := r.next()
		switch {
		case r.broken:
			return 0
		case err == nil && kind == frame.ReadyForQuery && len(body) == 1:
			return proxy.State(body[0])
		}
	}
}
