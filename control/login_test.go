package control

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// verifies tells whether a password opens the verifier, and gives the key's id: what a
// server's end of SCRAM does, without the messages.
func verifies(t *testing.T, v proxy.Verifier, password string) (proxy.KeyID, bool) {
	t.Helper()
	stored, server, err := loginKeys(password, v.Salt, v.Iterations)
	wantCode(t, err, "")
	for _, k := range v.Keys {
		if k.Stored == stored && k.Server == server {
			return k.ID, true
		}
	}
	return proxy.KeyID{}, false
}

func verifierOf(t *testing.T, s *Store, serverID string) proxy.Verifier {
	t.Helper()
	return must[proxy.Verifier](t)(s.Verifier(t.Context(), proxy.Account{}, serverID))
}

// Ensure a key opens its server and no other, with the verifier that was made with it.
func TestLoggingIn(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	other, otherKey, err := s.CreateServer(ctx, m.project.ID, "other", "")
	wantCode(t, err, "")
	v := verifierOf(t, s, m.server.ID)
	id, ok := verifies(t, v, m.key)
	if !ok || len(v.Keys) != 1 || len(v.Salt) != 16 || v.Iterations != 4096 {
		t.Fatalf("the key does not verify, with %d keys", len(v.Keys))
	}
	if _, ok := verifies(t, v, otherKey); ok {
		t.Error("another server's key verifies")
	}
	got, err := s.Recheck(ctx, m.server.ID, id)
	wantCode(t, err, "")
	if want := must[proxy.Server](t)(s.Application(ctx, proxy.Account{}, m.server.ID, m.key)); got.Server != want {
		t.Errorf("got %+v, want %+v", got.Server, want)
	}
	for _, at := range []struct {
		server string
		id     proxy.KeyID
	}{{other.ID, id}, {m.server.ID, proxy.KeyID{}}, {m.server.ID, proxy.KeyID(digestOf(otherKey))}, {"", id}, {"nobody", id}} {
		_, err := s.Recheck(ctx, at.server, at.id)
		wantCode(t, err, proxy.Unauthorized)
	}
}

// Ensure both keys log in while a rotation's overlap lasts, and that what ends, ends within
// a second in another process, for who is about to log in and for who has.
func TestRotationForThoseLoggedIn(t *testing.T) {
	url := controlDB(t)
	there, here := open(t, Config{ControlURL: url}), run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, there)
	first, ok := verifies(t, verifierOf(t, here, m.server.ID), m.key)
	if !ok {
		t.Fatal("the first key does not verify")
	}
	logsIn := func(key string) bool { _, ok := verifies(t, verifierOf(t, here, m.server.ID), key); return ok }
	holds := func(id proxy.KeyID) bool { _, err := here.Recheck(ctx, m.server.ID, id); return err == nil }
	settle(t, here)
	second := must[string](t)(there.RotateKey(ctx, m.server.ID, time.Hour))
	within(t, time.Second, "the second key", func() bool { return logsIn(second) })
	if !logsIn(m.key) || !holds(first) || len(verifierOf(t, here, m.server.ID).Keys) != 2 {
		t.Error("during the overlap both keys must log in")
	}
	third := must[string](t)(there.RotateKey(ctx, m.server.ID, 0))
	within(t, time.Second, "the end of the others", func() bool {
		return !logsIn(m.key) && !logsIn(second) && !holds(first) && logsIn(third)
	})
	last, _ := verifies(t, verifierOf(t, here, m.server.ID), third)
	wantCode(t, there.SetServerActive(ctx, m.server.ID, false), "")
	within(t, time.Second, "deactivation", func() bool { got, err := here.Recheck(ctx, m.server.ID, last); return err == nil && !got.Server.Active })
	exec(t, url, "DELETE FROM tenantgate.servers")
	within(t, time.Second, "the server's end", func() bool { return !holds(last) && len(verifierOf(t, here, m.server.ID).Keys) == 0 })
}

// Ensure an answer stands no longer than nothing changes, in whatever process, than it is
// known that nothing does, than a moment, and than the key.
func TestHoldings(t *testing.T) {
	url := controlDB(t)
	there, here, alone := open(t, Config{ControlURL: url}), run(t, Config{ControlURL: url}), open(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, there)
	id, _ := verifies(t, verifierOf(t, here, m.server.ID), m.key)
	hold := func(s *Store) proxy.Session {
		t.Helper()
		h := must[proxy.Session](t)(s.Recheck(ctx, m.server.ID, id))
		return h
	}
	settle(t, here)
	h := hold(here)
	if !h.Valid() || h.Server.ID != m.server.ID || (proxy.Session{}).Valid() {
		t.Fatalf("%+v", h)
	}
	if hold(alone).Valid() {
		t.Error("an answer stands where nobody would notice a change")
	}
	wrong, err := here.Recheck(ctx, m.server.ID, proxy.KeyID{})
	wantCode(t, err, proxy.Unauthorized)
	if wrong.Valid() {
		t.Error("a refusal stands")
	}
	h = hold(here)
	wantCode(t, there.SetServerActive(ctx, m.server.ID, false), "")
	within(t, holdingFor/2, "the end of an answer", func() bool { return !h.Valid() })
	settle(t, here)
	h = hold(here)
	if h.Server.Active || !h.Valid() {
		t.Fatalf("%+v", h)
	}
	within(t, 2*holdingFor, "the end of its time", func() bool { return !h.Valid() })
	must[string](t)(there.RotateKey(ctx, m.server.ID, holdingFor/2))
	settle(t, here)
	if h = hold(here); !h.Valid() {
		t.Fatal("the key is another one's already")
	}
	within(t, holdingFor*9/10, "the end of the key", func() bool { return !h.Valid() })
}

// Ensure a key whose overlap is over logs nobody in, though it is in memory.
func TestOverlapsEndInMemory(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	second := must[string](t)(s.RotateKey(ctx, m.server.ID, 700*time.Millisecond))
	settle(t, s)
	if n := len(verifierOf(t, s, m.server.ID).Keys); n != 2 {
		t.Fatalf("%d keys", n)
	}
	before := s.pool.Stat().AcquireCount()
	within(t, time.Second, "the end of the overlap", func() bool { return len(verifierOf(t, s, m.server.ID).Keys) == 1 })
	if _, ok := verifies(t, verifierOf(t, s, m.server.ID), second); !ok {
		t.Error("the new key does not verify")
	}
	if n := s.pool.Stat().AcquireCount() - before; n != 0 {
		t.Errorf("it took %d look-ups: not from memory", n)
	}
}

// Ensure of very many keys that are valid at once the ones that last longest log in.
func TestTheKeysOfOneServerAreBounded(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	keys := []string{m.key}
	for i := range maxLoginKeys + 2 {
		keys = append(keys, must[string](t)(s.RotateKey(ctx, m.server.ID, time.Hour+time.Duration(i)*time.Second)))
	}
	v := verifierOf(t, s, m.server.ID)
	if len(v.Keys) != maxLoginKeys {
		t.Errorf("%d keys", len(v.Keys))
	}
	if _, ok := verifies(t, v, keys[len(keys)-1]); !ok {
		t.Error("the newest key is left out")
	}
}

// Ensure an id that is no server's has a salt, the same everywhere and always, no key, and
// costs what a server costs: the same look-ups, kept as long.
func TestStrangersLookLikeServers(t *testing.T) {
	url := controlDB(t)
	bounds := CacheConfig{NegativeAge: time.Millisecond}
	here, there := run(t, Config{ControlURL: url, Cache: bounds}), open(t, Config{ControlURL: url})
	m := populate(t, here)
	settle(t, here)
	salts := map[string]bool{}
	for _, id := range []string{m.server.ID, "nobody", "", "a b", "x/y", "..", "\x00\xff", strings.Repeat("x", 5000), strings.ToUpper(m.server.ID), "%", "/"} {
		lookups := func() int64 {
			before := here.pool.Stat().AcquireCount()
			v := verifierOf(t, here, id)
			if v.Iterations != loginIterations || len(v.Salt) != saltLen || (len(v.Keys) > 0) != (id == m.server.ID) {
				t.Errorf("%.20q: %d iterations, a salt of %d bytes, %d keys", id, v.Iterations, len(v.Salt), len(v.Keys))
			}
			return here.pool.Stat().AcquireCount() - before
		}
		first := lookups()
		time.Sleep(5 * time.Millisecond)
		if again := lookups(); first != 1 || again != 0 {
			t.Errorf("%.20q: %d look-ups, then %d", id, first, again)
		}
		salt := verifierOf(t, here, id).Salt
		if !bytes.Equal(salt, verifierOf(t, there, id).Salt) || salts[string(salt)] {
			t.Errorf("%.20q: its salt is not its own, or not the same in another process", id)
		}
		salts[string(salt)] = true
	}
	if reopened := open(t, Config{ControlURL: url}); !slices.Equal(verifierOf(t, reopened, "nobody").Salt, verifierOf(t, here, "nobody").Salt) {
		t.Error("a stranger's salt changed with a restart")
	}
	if other := open(t, Config{ControlURL: controlDB(t)}); slices.Equal(verifierOf(t, other, "nobody").Salt, verifierOf(t, here, "nobody").Salt) {
		t.Error("two control stores have the same salts")
	}
}

// Ensure a server is seen that is made after somebody tried to log in as it, and that with
// the store away all are alike: who was asked for lately has an answer.
func TestStrangersInMemory(t *testing.T) {
	url := controlDB(t)
	here, there := run(t, Config{ControlURL: url}), open(t, Config{ControlURL: url})
	m := populate(t, there)
	settle(t, here)
	id := newID()
	if v := verifierOf(t, here, id); len(v.Keys) != 0 {
		t.Fatal("there is none yet")
	}
	_, key, err := there.CreateServerWithID(t.Context(), m.project.ID, id, "n", "")
	wantCode(t, err, "")
	within(t, time.Second, "the new server", func() bool { _, ok := verifies(t, verifierOf(t, here, id), key); return ok })
	verifierOf(t, here, "nobody")
	here.fresh.confirmed.Store(1)
	here.fresh.awayUntil.Store(int64(time.Hour))
	_, _, known := here.logins.get(t.Context(), proxy.Account{}, id)
	_, _, stranger := here.logins.get(t.Context(), proxy.Account{}, "nobody")
	if known != nil || stranger != nil {
		t.Errorf("with the store away: %v for a server, %v for a stranger", known, stranger)
	}
}

// Ensure what a flood of strangers leaves in memory is bounded.
func TestAFloodOfStrangers(t *testing.T) {
	w := newWarm(t, 20_000)
	for i := range 2 * maxLogins {
		w.logins.keep(fmt.Sprint("stranger", i), entry[[]loginKey]{found: true})
	}
	w.logins.present.CleanUp()
	if n := w.logins.present.EstimatedSize(); n > maxLogins {
		t.Errorf("%d entries are kept", n)
	}
}

// Ensure a change of a server is seen whose id holds what marks bytes in Postgres' text.
func TestIDsAreAnnouncedAsTheyAre(t *testing.T) {
	url := controlDB(t)
	here, there := run(t, Config{ControlURL: url}), open(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, there)
	for _, id := range []string{`a\x62`, `\x6162`, `\x`} {
		_, key, err := there.CreateServerWithID(ctx, m.project.ID, id, "n", "")
		wantCode(t, err, "")
		active := func() bool {
			got, err := here.Server(ctx, proxy.Account{}, m.project.ID, id)
			return err == nil && got.Active
		}
		logsIn := func() bool { _, ok := verifies(t, verifierOf(t, here, id), key); return ok }
		settle(t, here)
		if !active() || !logsIn() {
			t.Fatal("not there")
		}
		settle(t, here)
		wantCode(t, there.SetServerActive(ctx, id, false), "")
		within(t, time.Second, "deactivation", func() bool { return !active() })
		must[string](t)(there.RotateKey(ctx, id, 0))
		within(t, time.Second, "rotation", func() bool { return !logsIn() })
	}
}
