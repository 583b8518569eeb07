package control

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

func strangers(address string) proxy.Account {
	return proxy.AccountOf(netip.PrefixFrom(netip.MustParseAddr(address), 32))
}

// Ensure those who have shown nothing, however many ask from a few networks, leave turns at looking
// up to others, and more than a quarter of them to those who have.
func TestStrangersLeaveTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer, asked := make(chan bool), atomic.Int64{}
		c := testCache(t, CacheConfig{}, func(context.Context, int) (string, bool, error) {
			asked.Add(1)
			<-answer
			return "", false, nil
		})
		c.turns = proxy.NewTurns(64, askerShare)
		var all sync.WaitGroup
		key := 0
		ask := func(times int, asker proxy.Account) {
			for range times {
				key++
				mine := key
				all.Go(func() { _, _, _ = c.get(t.Context(), asker, mine) })
			}
			synctest.Wait()
		}
		ask(1000, strangers("192.0.2.1"))
		if n := asked.Load(); n == 0 || n > 16 {
			t.Errorf("one network has %d of 64", n)
		}
		ask(300, strangers("192.0.2.2"))
		ask(300, strangers("192.0.2.3"))
		before := asked.Load()
		ask(1, strangers("192.0.2.4"))
		ask(1, proxy.Account{})
		if n := asked.Load() - before; n != 2 {
			t.Errorf("%d of two others were looked up", n)
		}
		time.Sleep(lookWait) // those in line give up
		close(answer)
		all.Wait()
		asked.Store(0)
		ask(1, strangers("192.0.2.1"))
		if all.Wait(); asked.Load() != 1 {
			t.Error("turns were not given back")
		}
	})
}

// Ensure whoever asks for what others ask for shares a look-up of theirs, but does not wait in their
// line for it; and whoever waited for a turn asks for nothing that is known by then.
func TestOneLookUpInSeveralLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, asked := [2]chan bool{make(chan bool), make(chan bool)}, [2]atomic.Int64{}
		c := testCache(t, CacheConfig{}, func(_ context.Context, k int) (string, bool, error) {
			asked[k].Add(1)
			<-answers[k]
			return "v", true, nil
		})
		c.turns = proxy.NewTurns(4, askerShare) // one for each
		var all sync.WaitGroup
		ask := func(asker proxy.Account, key int) {
			all.Go(func() {
				if value, found, err := c.get(t.Context(), asker, key); value != "v" || !found || err != nil {
					t.Errorf("key %d: %q %v %v", key, value, found, err)
				}
			})
			synctest.Wait()
		}
		crowded, quiet := strangers("192.0.2.1"), strangers("192.0.2.2")
		ask(crowded, 0)
		ask(crowded, 1) // in line
		ask(crowded, 1)
		if asked[1].Load() != 0 {
			t.Fatal("there is no line")
		}
		ask(quiet, 1)
		if asked[1].Load() != 1 {
			t.Fatal("the other network waits in the line")
		}
		ask(strangers("192.0.2.3"), 1)
		close(answers[1])
		synctest.Wait()
		close(answers[0]) // whose turn those in line get
		all.Wait()
		if n := asked[1].Load(); n != 1 {
			t.Errorf("%d look-ups of one key", n)
		}
	})
}

// Ensure that a stranger's look-ups of each kind take turns, what is in memory takes none, and it is
// told whose share was in use.
func TestCredentialsTakeTurns(t *testing.T) {
	var mu sync.Mutex
	var short []string
	s := run(t, Config{ControlURL: controlDB(t), Short: func(what, whose string) {
		mu.Lock()
		defer mu.Unlock()
		short = append(short, what+" "+whose)
	}})
	ctx, m := t.Context(), populate(t, s)
	full := strangers("192.0.2.1")
	s.looking.Hold(full, s.looking.MostOfServer())
	text, _ := mint(tokenPrefix)
	key, _ := mint(keyPrefix)
	for _, look := range []func(proxy.Account) error{
		func(a proxy.Account) error { _, err := s.Developer(ctx, a, text); return err },
		func(a proxy.Account) error { _, err := s.Developer(ctx, a, m.text); return err },
		func(a proxy.Account) error { _, err := s.Application(ctx, a, m.server.ID, key); return err },
		func(a proxy.Account) error { _, err := s.Application(ctx, a, m.server.ID, m.key); return err },
		func(a proxy.Account) error { _, err := s.Verifier(ctx, a, m.server.ID); return err },
	} {
		err := look(full)
		wantCode(t, err, proxy.Overloaded)
		if !errors.Is(err, proxy.ErrServerShare) || !proxy.AsError(err).Retryable {
			t.Errorf("%v", err)
		}
		if err := look(strangers("192.0.2.2")); err != nil {
			wantCode(t, err, proxy.Unauthorized)
		}
		settle(t, s)
		if err := look(full); err != nil { // it is in memory now
			wantCode(t, err, proxy.Unauthorized)
		}
	}
	if len(short) != 5 || short[0] != "lookups server" {
		t.Errorf("told: %q", short)
	}
}

// Ensure that what a token names is looked up in its turn and told when there is none, and what a proved
// key names in nobody's.
func TestNamedServersTakeTurns(t *testing.T) {
	var mu sync.Mutex
	var short []string
	s := run(t, Config{ControlURL: controlDB(t), Short: func(what, whose string) {
		mu.Lock()
		defer mu.Unlock()
		short = append(short, what+" "+whose)
	}})
	ctx, m := t.Context(), populate(t, s)
	full, other := proxy.Account{Project: m.project.ID, Server: "token 1"}, proxy.Account{Project: m.project.ID, Server: "token 2"}
	s.looking.Hold(full, s.looking.MostOfServer())
	for _, look := range []func(proxy.Account) error{
		func(a proxy.Account) error { _, err := s.Server(ctx, a, m.project.ID, newID()); return err },
		func(a proxy.Account) error { return s.Project(ctx, a, newID()) },
	} {
		wantCode(t, look(full), proxy.Overloaded)
		wantCode(t, look(other), proxy.NotFound)
		wantCode(t, look(proxy.Account{}), proxy.NotFound)
	}
	if len(short) != 2 || short[0] != "lookups server" || short[1] != short[0] {
		t.Errorf("told: %q", short)
	}
	_, err := s.Application(ctx, strangers("192.0.2.1"), m.server.ID, m.key)
	wantCode(t, err, "")
	settle(t, s)
	_, err = s.Server(ctx, full, m.project.ID, m.server.ID) // it is in memory now
	wantCode(t, err, "")
}
