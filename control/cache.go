package control

import (
	"context"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/tenantgate/tenantgate/proxy"
)

// entry is an answer of the store: a value, or that there is none.
type entry[V any] struct {
	value V
	found bool
	read  time.Duration // when, in freshness' time, the look-up began
}

// cache keeps answers of the store within bounds of number and age. What was found and
// what was not are kept apart, so that a flood of unknown keys pushes out no known one.
type cache[K comparable, V any] struct {
	bounds  CacheConfig
	fresh   *freshness
	present *otter.Cache[K, entry[V]]
	absent  *otter.Cache[K, entry[V]]
	loads   flights[K, entry[V]]
	turns   *proxy.Turns                                      // at looking up, of all caches together; nil: no bound
	ask     func(ctx context.Context, key K) (V, bool, error) // the store; errors are *proxy.Error
	looked  func(event string)                                // told "hit" or "miss"
	short   func(err error)                                   // told what was refused as too much
}

func newCache[K comparable, V any](life context.Context, bounds CacheConfig, fresh *freshness,
	ask func(context.Context, K) (V, bool, error)) (*cache[K, V], error) {
	present, err := newEntries[K, V](bounds.Size, bounds.MaxAge+bounds.StaleFor)
	if err != nil {
		return nil, err
	}
	absent, err := newEntries[K, V](min(bounds.Size, maxAbsent), bounds.NegativeAge)
	if err != nil {
		return nil, err
	}
	c := &cache[K, V]{bounds: bounds, fresh: fresh, present: present, absent: absent, ask: ask, looked: func(string) {}, short: func(error) {}}
	c.loads.life = life
	return c, nil
}

// maxAbsent bounds what is kept of keys that are not there: who guesses is to fill no memory.
const maxAbsent = 10_000

func newEntries[K comparable, V any](size int, keep time.Duration) (*otter.Cache[K, entry[V]], error) {
	c, err := otter.New(&otter.Options[K, entry[V]]{MaximumSize: size, ExpiryCalculator: otter.ExpiryWriting[K, entry[V]](keep)})
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	return c, nil
}

// get answers from memory while that is known to be right, else from the store, else,
// when the store can't be reached or too many ask it, with the last known value for a
// bounded time. The store is asked in asker's turn; the zero value waits for none.
func (c *cache[K, V]) get(ctx context.Context, asker proxy.Account, key K) (V, bool, error) {
	last, hit := c.look(key)
	if hit && c.usable(last) {
		c.looked("hit")
		return last.value, last.found, nil
	}
	c.looked("miss")
	stale := hit && c.servesStale(last)
	if c.fresh.away() {
		return c.lastKnown(last, stale, readError("asking the store", errAway))
	}
	e, err := c.load(ctx, asker, key, stale)
	if (isUnavailable(err) || hasCode(err, proxy.Overloaded)) && ctx.Err() == nil {
		if !stale && !isUnavailable(err) {
			c.short(err)
		}
		return c.lastKnown(last, stale, err)
	}
	return e.value, e.found, err
}

func (c *cache[K, V]) look(key K) (entry[V], bool) {
	if e, hit := c.present.GetIfPresent(key); hit {
		return e, true
	}
	return c.absent.GetIfPresent(key)
}

// usable tells whether an entry answers by itself. Those that are not found are gone after
// NegativeAge.
func (c *cache[K, V]) usable(e entry[V]) bool {
	now := c.fresh.now()
	return now-e.read < c.bounds.MaxAge && c.fresh.unconfirmed(e.read, now) < confirmWindow
}

// servesStale tells whether an entry may stand in for a store that is away. "There is
// none" never may: whoever came into being meanwhile would be told that he does not exist,
// where "not now" is the truth.
func (c *cache[K, V]) servesStale(e entry[V]) bool {
	return e.found && c.fresh.unconfirmed(e.read, c.fresh.now()) < c.bounds.StaleFor
}

func (c *cache[K, V]) lastKnown(last entry[V], stale bool, why error) (V, bool, error) {
	if stale {
		return last.value, true, nil
	}
	var none V
	return none, false, why
}

func (c *cache[K, V]) keep(key K, e entry[V]) {
	if e.found {
		c.present.Set(key, e)
		c.absent.Invalidate(key)
		return
	}
	c.absent.Set(key, e)
	c.present.Invalidate(key)
}

// drop forgets a key. The caller has raised the epoch.
func (c *cache[K, V]) drop(key K) {
	c.present.Invalidate(key)
	c.absent.Invalidate(key)
}

// dropAll forgets everything. The caller has raised the epoch.
func (c *cache[K, V]) dropAll() {
	c.present.InvalidateAll()
	c.absent.InvalidateAll()
}

// close waits for the look-ups under way, whose context must have ended, and for otter.
func (c *cache[K, V]) close() {
	c.loads.wait()
	c.present.StopAllGoroutines()
	c.absent.StopAllGoroutines()
}
