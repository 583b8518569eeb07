package control

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// warm is a store that has everything in memory and nobody to ask: n servers of one
// project with a key each, and a developer's token.
type warm struct {
	*Store
	project, token string
	servers, keys  []string
}

func newWarm(tb testing.TB, n int) *warm {
	tb.Helper()
	cfg := Config{Cache: CacheConfig{Size: n + 100, MaxAge: time.Hour}}.withDefaults()
	w := &warm{Store: &Store{cfg: cfg, fresh: newFreshness()}, project: newID()}
	if err := w.makeCaches(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.endLife(); w.closeCaches() })
	w.fresh.confirm(time.Hour)
	text, d := mint(tokenPrefix)
	w.token = text
	w.tokens.keep(d, entry[token]{found: true, value: token{digest: d, expires: time.Now().Add(time.Hour), caller: proxy.Caller{
		TokenID: newID(), Projects: []string{w.project}, Scopes: proxy.Read | proxy.Write,
	}}})
	w.Store.projects.keep(w.project, entry[project]{found: true})
	for i := range n {
		id := newID()
		text, d := mint(keyPrefix)
		w.servers, w.keys = append(w.servers, id), append(w.keys, text)
		w.Store.servers.keep(serverKey{w.project, id}, entry[proxy.Server]{found: true, value: proxy.Server{ID: id, ProjectID: w.project, Name: fmt.Sprint("server ", i), Active: true}})
		w.Store.keys.keep(d, entry[key]{found: true, value: key{digest: d, projectID: w.project, serverID: id}})
	}
	return w
}

// TestWarmLookupsAllocateNothing is about all that a statement asks, and a look-up by e-mail;
// Holder's answer stands for several statements.
func TestWarmLookupsAllocateNothing(t *testing.T) {
	w, ctx := newWarm(t, 1), t.Context()
	for name, ask := range map[string]func() error{
		"token":       func() error { _, err := w.Developer(ctx, proxy.Account{}, w.token); return err },
		"server":      func() error { _, err := w.Server(ctx, proxy.Account{}, w.project, w.servers[0]); return err },
		"project":     func() error { return w.Project(ctx, proxy.Account{}, w.project) },
		"application": func() error { _, err := w.Application(ctx, proxy.Account{}, w.servers[0], w.keys[0]); return err },
		"holder":      func() error { _, err := w.Recheck(ctx, w.servers[0], proxy.KeyID(digestOf(w.keys[0]))); return err },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := ask(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 && name != "holder" || n > 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkStatement is what a statement asks of the store, each time for another of many
// servers: it must not cost more the more there are.
func BenchmarkStatement(b *testing.B) {
	many(b, func(b *testing.B, w *warm, i int) error {
		if _, err := w.Developer(b.Context(), proxy.Account{}, w.token); err != nil {
			return err
		}
		_, err := w.Server(b.Context(), proxy.Account{}, w.project, w.servers[i])
		return err
	})
}

// BenchmarkApplication is the same for a look-up by e-mail.
func BenchmarkApplication(b *testing.B) {
	many(b, func(b *testing.B, w *warm, i int) error {
		_, err := w.Application(b.Context(), proxy.Account{}, w.servers[i], w.keys[i])
		return err
	})
}

func many(b *testing.B, ask func(b *testing.B, w *warm, i int) error) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			before := heap()
			w := newWarm(b, n)
			taken := heap() - before
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := ask(b, w, i%n); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(taken)/float64(n), "B/server")
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
