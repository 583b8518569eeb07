package proxy

import (
	"fmt"

	"github.com/maypok86/otter/v2"

	"github.com/tenantgate/tenantgate/policy"
)

// leastPlans is the least bound, in bytes.
const leastPlans = 1 << 20

// plans are the decisions of a policy by the dialect and exact text, within bounds of their weight.
//
// Whoever sends texts that nobody sends again takes no room from texts that are in use:
// refusals have a bound of their own, and a plan is kept when its text comes a second
// time (probation.go). Who sends each twice has them compete: one that is known stays as long
// as it is asked for more often (otter is a W-TinyLFU).
//
// A look-up allocates nothing and takes no lock that others hold: otter's table is sharded
// into buckets of a cache line each, with a lock per bucket for writers alone.
type plans struct {
	known   *otter.Cache[planKey, *policy.Approved]
	once    *probation
	refused *otter.Cache[planKey, *Error]
}

// planKey is what a decision is about.
type planKey struct {
	dialect policy.Dialect
	types   string // see policy.GivenTypes
	text    string
}

// newPlans makes plans of so many bytes; evicted is told of each that had to go.
func newPlans(bytes int, evicted func()) (p *plans, err error) {
	bytes = max(bytes, leastPlans)
	p = &plans{once: newProbation()}
	if p.known, err = newWeighed(bytes-bytes/8, (*policy.Approved).Size, evicted); err != nil {
		return nil, err
	}
	if p.refused, err = newWeighed(bytes/8, (*Error).size, evicted); err != nil {
		return nil, err
	}
	return p, nil
}

// newWeighed makes a cache by text, bounded by the bytes of texts and values.
func newWeighed[V any](bytes int, size func(V) int, evicted func()) (*otter.Cache[planKey, V], error) {
	c, err := otter.New(&otter.Options[planKey, V]{
		InitialCapacity: bytes / 4096,                                                      // of which most are; from the start it is counted how often each text is asked for
		MaximumWeight:   uint64(bytes),                                                     //nolint:gosec // positive
		Weigher:         func(k planKey, v V) uint32 { return uint32(weight(k, size(v))) }, //nolint:gosec // small
		OnDeletion: func(e otter.DeletionEvent[planKey, V]) {
			if e.WasEvicted() {
				evicted()
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("making a cache of plans: %w", err)
	}
	return c, nil
}

// inherit takes over the approvals of older plans of the same policy file that a change of the schema does not
// concern. Refusals are not taken over: one may be for a table that has come since.
func (p *plans) inherit(older *plans, changed policy.SchemaChange) {
	p.once = older.once
	for key, approved := range older.known.All() {
		if !changed.Concerns(approved.Tables()) {
			p.known.Set(key, approved)
		}
	}
}

// get gives what was decided about a key; nil and nil where nothing is known. Both are
// shared by all who ask and must not be changed.
func (p *plans) get(key planKey) (*policy.Approved, *Error) {
	if approved, ok := p.known.GetIfPresent(key); ok {
		return approved, nil
	}
	refusal, _ := p.refused.GetIfPresent(key)
	return nil, refusal
}

// keep remembers a decision, and the key: one of the others is nil. An approval is kept from its
// second time on.
func (p *plans) keep(key planKey, approved *policy.Approved, refusal *Error) {
	if refusal != nil {
		_, _ = p.refused.Set(key, refusal)
		return
	}
	if p.once.again(key) {
		p.known.Set(key, approved)
	}
}

// weight is what a key and a value of a size count for.
func weight(k planKey, size int) uint64 { return uint64(len(k.text) + len(k.types) + size) } //nolint:gosec // positive
