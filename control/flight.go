package control

import (
	"context"
	"sync"
)

// flights lets those who ask for the same thing at the same time share one look-up. A
// look-up belongs to nobody who asked: it goes on when the first of them leaves.
type flights[K comparable, V any] struct {
	life    context.Context // ends when the store is closed
	mu      sync.Mutex
	under   map[flightKey[K]]*flight[V]
	running sync.WaitGroup
}

// flightKey is what is asked for, and since which change.
type flightKey[K comparable] struct {
	epoch uint64
	key   K
}

// flight is one look-up. Value and err are valid once done is closed.
type flight[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// underWay gives the look-up of this key, or nil where there is none.
func (f *flights[K, V]) underWay(key flightKey[K]) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.under[key]
}

// join gives the look-up of this key, and starts it if there is none; nil when too many
// are under way. ended is called once: when it has ended, or at once where nothing was started.
func (f *flights[K, V]) join(key flightKey[K], ask func(context.Context) (V, error), ended func()) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	call, ok := f.under[key]
	if ok || len(f.under) >= maxLoads {
		ended()
		return call
	}
	if f.under == nil {
		f.under = make(map[flightKey[K]]*flight[V])
	}
	call = &flight[V]{done: make(chan struct{})}
	f.under[key] = call
	f.running.Go(func() {
		defer ended()
		f.run(key, call, ask)
	})
	return call
}

func (f *flights[K, V]) run(key flightKey[K], call *flight[V], ask func(context.Context) (V, error)) {
	call.value, call.err = ask(f.life)
	f.mu.Lock()
	delete(f.under, key)
	f.mu.Unlock()
	close(call.done)
}

// wait returns when no look-up is under way any more.
func (f *flights[K, V]) wait() { f.running.Wait() }
