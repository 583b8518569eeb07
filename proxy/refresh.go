package proxy

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

const (
	// schemaPeriod is how often the schema is looked at for changes that no statement has
	// stumbled over.
	schemaPeriod = time.Second
	// refusalPeriod is how often refused statements may have it looked at.
	refusalPeriod = 100 * time.Millisecond
	// readingTime bounds one reading, and the wait of a statement for one.
	readingTime = 5 * time.Second
)

// reading is one reading of the schema, which all who need one share. It belongs to none
// of them: it goes on when they leave.
type reading struct {
	began time.Time
	done  chan struct{}
	err   error // valid once done is closed
}

// Refresh makes sure that the schema was read in a reading that began after since, and
// compiles the policies anew if it changed; changed tells whether they are others than at
// since. On an error the policies stay as they were: it is an *Error, or ctx's own.
func (p *Policies) Refresh(ctx context.Context, since time.Time) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	for {
		r := p.read(since)
		if r == nil {
			return p.current.Load().made.After(since), nil
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return false, fmt.Errorf("waiting for the schema to be read: %w", ctx.Err())
		}
		if r.err != nil && r.began.After(since) {
			return false, r.err
		}
	}
}

// read gives the reading under way, or starts one; nil when one that began after since
// has succeeded.
func (p *Policies) read(since time.Time) *reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.After(since) {
		return nil
	}
	if p.reading != nil {
		return p.reading
	}
	r := &reading{began: time.Now(), done: make(chan struct{})}
	if p.life.Err() != nil {
		r.err = fmt.Errorf("reading the schema: %w", p.life.Err())
		close(r.done)
		return r
	}
	p.reading = r
	p.readers.Go(func() { p.finish(r) })
	return r
}

func (p *Policies) finish(r *reading) {
	ctx, cancel := context.WithTimeout(p.life, readingTime)
	defer cancel()
	r.err = p.reload(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading = nil; r.err == nil {
		p.last = r.began
	}
	close(r.done)
}

// reload reads the schema and, if it changed, compiles the policies.
func (p *Policies) reload(ctx context.Context) error {
	schema, err := p.config.Catalog.Schema(ctx, p.tables)
	if err != nil {
		p.config.Recorder.SchemaRefresh("failed")
		return fmt.Errorf("reading the schema: %w", err)
	}
	schema, old, result := inOrder(schema), p.current.Load(), "unchanged"
	if old == nil || !reflect.DeepEqual(old.schema, schema) {
		next, err := p.compile(schema, old)
		if err != nil {
			p.config.Recorder.SchemaRefresh("failed")
			return err
		}
		next.made = time.Now() // not earlier: who asks compares it with when his check began
		p.current.Store(next)
		p.logMisfits(old, next)
		p.logWalls(old, next)
		p.logFindings(old, next)
		p.logUngranted(old, next)
		result = "changed"
	}
	p.config.Catalog.Adopted()
	current := p.current.Load()
	if current.misfits() != nil {
		result = "failed"
	}
	p.config.Recorder.SchemaRefresh(result)
	p.config.Recorder.ScopedTables(current.walled, len(current.open))
	p.config.Recorder.FoundTables(tablesBy(current.found, true), tablesBy(current.found, false))
	return nil
}

// inOrder gives the schema in the one order in which it is compared.
func inOrder(s policy.Schema) policy.Schema {
	s.Tables, s.Types = slices.Clone(s.Tables), slices.Clone(s.Types)
	slices.SortFunc(s.Tables, func(a, b policy.Table) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Types, func(a, b policy.Type) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// logMisfits logs which policies stop to serve with a change of the schema, and which serve
// again. At start-up, without an old snapshot, whoever starts tells it.
func (p *Policies) logMisfits(old, next *snapshot) {
	if old == nil {
		return
	}
	for name, c := range next.byName {
		switch was := old.byName[name]; {
		case c.misfit != nil:
			p.config.Log.Error("a policy does not match the database and serves nothing until one of them is fixed", "policy", name, "error", c.misfit)
		case was != nil && was.misfit != nil:
			p.config.Log.Info("a policy fits the database's tables again", "policy", name)
		}
	}
}

// refreshIfOld reads the schema since a statement names a column that it does not have:
// one may just have been added. It tells whether the schema changed; a flood of such
// statements does not make it read more often than every refusalPeriod.
func (p *Policies) refreshIfOld(ctx context.Context, since time.Time) bool {
	now, last := time.Now().UnixNano(), p.looked.Load()
	if now-last < int64(refusalPeriod) || !p.looked.CompareAndSwap(last, now) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, schemaPeriod)
	defer cancel()
	changed, err := p.Refresh(ctx, since)
	return changed && err == nil
}

// Run looks at the schema every second until ctx is done. An unchanged schema costs one
// small query. It returns when all readings have ended; there are none after it.
func (p *Policies) Run(ctx context.Context) error {
	defer p.stop()
	tick := time.NewTicker(schemaPeriod)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_, err := p.Refresh(ctx, time.Now())
		if err != nil && !failing && ctx.Err() == nil {
			p.config.Log.Warn("the schema can't be read; the previous one stays in use", "error", err)
		}
		failing = err != nil
	}
}

func (p *Policies) stop() {
	p.mu.Lock()
	p.end()
	p.mu.Unlock()
	p.readers.Wait()
}
