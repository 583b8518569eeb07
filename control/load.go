package control

import (
	"context"
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// load asks the store, together with everybody else who asks for the same. Whoever comes
// after a change was noticed does not join those who asked before it. Who has a stale
// answer to fall back on waits for a moment only; the look-up goes on without him.
func (c *cache[K, V]) load(ctx context.Context, asker proxy.Account, key K, stale bool) (entry[V], error) {
	began, wait, patience := c.fresh.now(), lookWait, lookWait+connWait+loadTimeout+time.Second // the look-up itself ends sooner
	if stale {
		wait, patience = staleWait, staleWait
	}
	flight, err := c.start(ctx, asker, key, wait)
	if err != nil {
		return entry[V]{}, err
	}
	timer := time.NewTimer(patience - (c.fresh.now() - began))
	defer timer.Stop()
	select {
	case <-flight.done:
		return flight.value, flight.err
	case <-ctx.Done():
		return entry[V]{}, readError("waiting for a look-up", ctx.Err())
	case <-timer.C:
		if !c.fresh.fail(began) {
			return entry[V]{}, overloaded()
		}
		return entry[V]{}, readError("waiting for a look-up", errAway)
	}
}

// start gives the look-up of a key, and starts it in asker's turn if there is none. The turn is the
// look-up's, whoever leaves. Who waits for one is not in another's line for the same key.
func (c *cache[K, V]) start(ctx context.Context, asker proxy.Account, key K, wait time.Duration) (*flight[entry[V]], error) {
	if under := c.loads.underWay(flightKey[K]{c.fresh.epoch.Load(), key}); under != nil {
		return under, nil
	}
	give, err := c.turn(ctx, asker, wait)
	if err != nil {
		return nil, err
	}
	epoch := c.fresh.epoch.Load()
	flight := c.loads.join(flightKey[K]{epoch, key}, func(life context.Context) (entry[V], error) {
		return c.askAndKeep(life, epoch, key)
	}, give)
	if flight == nil {
		return nil, overloaded()
	}
	return flight, nil
}

// turn takes a turn of asker's at looking up, and gives what gives it back.
func (c *cache[K, V]) turn(ctx context.Context, asker proxy.Account, wait time.Duration) (give func(), err error) {
	if c.turns == nil || asker == (proxy.Account{}) {
		return func() {}, nil
	}
	err = c.turns.Take(ctx, asker, wait)
	switch {
	case errors.Is(err, proxy.ErrNoTurn):
		e := overloaded()
		e.Cause = err
		return nil, e
	case err != nil:
		return nil, readError("waiting for a turn", err)
	}
	return func() { c.turns.Give(asker) }, nil
}

func (c *cache[K, V]) askAndKeep(life context.Context, epoch uint64, key K) (entry[V], error) {
	if e, hit := c.look(key); hit && c.usable(e) { // somebody has asked while this waited for its turn
		return e, nil
	}
	ctx, cancel := context.WithTimeout(life, connWait+loadTimeout)
	defer cancel()
	began := c.fresh.now()
	value, found, err := c.ask(ctx, key)
	if err != nil {
		if isUnavailable(err) && life.Err() == nil {
			c.fresh.fail(began)
		}
		return entry[V]{}, err
	}
	c.fresh.reached()
	e := entry[V]{value: value, found: found, read: began}
	c.keep(key, e)
	if c.fresh.epoch.Load() != epoch { // something was dropped meanwhile; perhaps this, before it was kept
		c.drop(key)
	}
	return e, nil
}
