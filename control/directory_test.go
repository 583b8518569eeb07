package control

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

func TestDevelopers(t *testing.T) {
	url := controlDB(t)
	s := run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	second := must[Project](t)(s.CreateProject(ctx, "second"))
	spec := TokenSpec{Name: "reader", Projects: []string{m.project.ID, second.ID, second.ID}, Scopes: proxy.Read, Policy: "readonly", Expires: time.Now().Add(time.Hour)}
	listed, text, err := s.CreateToken(ctx, spec)
	wantCode(t, err, "")
	want := proxy.Caller{TokenID: listed.ID, Projects: []string{m.project.ID, second.ID}, Scopes: proxy.Read, Policy: "readonly"}
	for range 2 { // from the store, then from memory
		if got, err := s.Developer(ctx, proxy.Account{}, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	if n := query[int](t, url, "SELECT count(*) FROM tenantgate.tokens t WHERE t::text LIKE '%' || $1 || '%'", text[7:50]); n != 0 {
		t.Error("the store holds the token's text")
	}
	tokens := must[[]Token](t)(s.ListTokens(ctx))
	if len(tokens) != 2 || !reflect.DeepEqual(tokens[1], listed) || listed.Name != "reader" || !listed.ExpiresAt.Equal(spec.Expires.Truncate(time.Millisecond)) {
		t.Errorf("listed %+v, created %+v", tokens, listed)
	}
}

func TestTokenSpecsThatPermitNothing(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	m := populate(t, s)
	here := []string{m.project.ID}
	for code, specs := range map[proxy.Code][]TokenSpec{
		proxy.InvalidRequest: {{Scopes: proxy.Read}, {Projects: here}, {Projects: here, Scopes: 64}, {Projects: here, Scopes: proxy.Read, Expires: time.Now()},
			{Projects: here, Scopes: proxy.Read, Name: strings.Repeat("x", 101)}},
		proxy.NotFound: {{Projects: []string{m.project.ID, newID()}, Scopes: proxy.Read}, {Projects: []string{"a b"}, Scopes: proxy.Read}},
	} {
		for _, spec := range specs {
			_, _, err := s.CreateToken(t.Context(), spec)
			wantCode(t, err, code)
		}
	}
	if tokens := must[[]Token](t)(s.ListTokens(t.Context())); len(tokens) != 1 {
		t.Errorf("%d tokens are left", len(tokens))
	}
}

// Ensure what is wrong with a credential can't be told from the answer, and that one that
// is malformed costs no look-up.
func TestBadCredentialsAreAllTheSame(t *testing.T) {
	var hits, misses atomic.Int64
	s := run(t, Config{ControlURL: controlDB(t), Looked: func(event string) {
		map[string]*atomic.Int64{"hit": &hits, "miss": &misses}[event].Add(1)
	}})
	ctx, m := t.Context(), populate(t, s)
	unknownToken, _ := mint(tokenPrefix)
	_, otherKey, err := s.CreateServer(ctx, m.project.ID, "other", "")
	wantCode(t, err, "")
	settle(t, s) // else the announcement of what was just made may overtake a look-up
	lookups := func(try func() error) int64 {
		t.Helper()
		before := s.pool.Stat().AcquireCount()
		err := try()
		wantCode(t, err, proxy.Unauthorized)
		if err.Error() != unauthorized().Error() {
			t.Errorf("the answer differs: %v", err)
		}
		return s.pool.Stat().AcquireCount() - before
	}
	for text, want := range map[string]int64{"": 0, "x": 0, tokenPrefix: 0, m.text + "x": 0, unknownToken[:55] + "!": 0, "e.y.J": 0, unknownToken: 1, strings.Repeat("y", 1<<20): 0} {
		if n := lookups(func() error { _, err := s.Developer(ctx, proxy.Account{}, text); return err }); n != want {
			t.Errorf("token %.60q: %d look-ups, want %d", text, n, want)
		}
	}
	fresh := func() string { text, _ := mint(keyPrefix); return text }
	for name, at := range map[string][2]string{
		"unknown server": {"nobody", fresh()}, "wrong key": {m.server.ID, fresh()}, "key of another server": {m.server.ID, otherKey},
		"unknown server, good key": {"nobody2", m.key}, "no server": {"", fresh()}, "odd server": {"\x00\xff" + strings.Repeat("x", 5000), fresh()},
	} {
		if n := lookups(func() error { _, err := s.Application(ctx, proxy.Account{}, at[0], at[1]); return err }); n != 1 {
			t.Errorf("%s: %d look-ups, want 1", name, n)
		}
		if n := lookups(func() error { _, err := s.Application(ctx, proxy.Account{}, at[0], at[1]); return err }); n != 0 {
			t.Errorf("%s, again: %d look-ups, want 0", name, n)
		}
	}
	if hits.Load() != 6 || misses.Load() != 7 {
		t.Errorf("told of %d hits and %d misses", hits.Load(), misses.Load())
	}
}

// Ensure who sends a credential of the other kind is told so, by its prefix alone: nothing of it
// is looked up, and one that exists is told what one that never did is told.
func TestCredentialsOfTheOtherKind(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t), JWT: &JWTConfig{Issuer: "https://id.example", Audience: "tenantgate", JWKS: newIssuer(t).file(t)}})
	ctx, m := t.Context(), populate(t, s)
	unknownToken, _ := mint(tokenPrefix)
	unknownKey, _ := mint(keyPrefix)
	for text, asToken := range map[string]bool{m.key: true, unknownKey: true, keyPrefix: true, keyPrefix + "e.y.J": true, keyPrefix + strings.Repeat("y", 1<<20): true,
		m.text: false, unknownToken: false, tokenPrefix: false, tokenPrefix + "\x00": false} {
		before := s.pool.Stat().AcquireCount()
		var err error
		says := "unauthorized: this is an access token, not an API key: send it as Authorization: Bearer <token> " +
			"to the endpoints under /api/developer; here send the API key (tg_srv_…) of the server that X-Server-ID names"
		if asToken {
			_, err = s.Developer(ctx, proxy.Account{}, text)
			says = "unauthorized: this is an API key, not an access token: send it as X-API-Key, with the server's id as X-Server-ID, to GET /api/auth/user/by-email, " +
				"or use it as the password of a Postgres client; here send a developer's access token (tg_dev_…)"
		} else {
			_, err = s.Application(ctx, proxy.Account{}, m.server.ID, text)
		}
		if err == nil || err.Error() != says {
			t.Errorf("%.20q: %v", text, err)
		}
		if n := s.pool.Stat().AcquireCount() - before; n != 0 {
			t.Errorf("%.20q: %d look-ups", text, n)
		}
	}
}

// Ensure who holds a token that has ended is told how it ended, from the store and from memory; that what is nearly the
// token is told nothing; and that a change of the token in the store is seen within a second, whatever was told before.
func TestTokensThatHaveEnded(t *testing.T) {
	url := controlDB(t)
	s := run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	token, text, err := s.CreateToken(ctx, TokenSpec{Projects: []string{m.project.ID}, Scopes: proxy.Read, Expires: time.Now().Add(time.Hour)})
	wantCode(t, err, "")
	settle(t, s)
	says := func(text string) string {
		_, err := s.Developer(ctx, proxy.Account{}, text)
		if err == nil {
			return ""
		}
		wantCode(t, err, proxy.Unauthorized)
		return proxy.AsError(err).Message
	}
	const instead = "; ask for a new one, which an operator makes with tenantgate token create"
	const expired, revoked = "this access token expired at 2026-01-31T09:15:00.123Z" + instead, "this access token was revoked" + instead
	for _, step := range []struct{ set, want string }{
		{"revoked_at = NULL", ""}, // in memory, it is valid
		{"expires_at = '2026-01-31 10:15:00.123+01'", expired}, {"expires_at = now() + interval '1 hour'", ""},
		{"revoked_at = now()", revoked}, {"expires_at = '2026-01-31 10:15:00.123+01'", revoked}, {"revoked_at = NULL", expired},
		{"expires_at = NULL", ""},
	} {
		exec(t, url, "UPDATE tenantgate.tokens SET "+step.set+" WHERE id = $1", token.ID)
		within(t, time.Second, step.set, func() bool { return says(text) == step.want })
		settle(t, s)
		_ = says(text) // what was kept may have been dropped since
		before := s.pool.Stat().AcquireCount()
		if got := says(text); got != step.want || s.pool.Stat().AcquireCount() != before {
			t.Errorf("%s: from memory %q", step.set, got)
		}
		if got := says(text[:len(text)-1] + "!"); got != unauthorized().Message {
			t.Errorf("%s: a text that differs in one character: %q", step.set, got)
		}
	}
	exec(t, url, "DELETE FROM tenantgate.tokens WHERE id = $1", token.ID)
	within(t, time.Second, "removing it", func() bool { return says(text) == unauthorized().Message })
}

func TestExpiryIsCheckedAtEveryUse(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	_, text, err := s.CreateToken(ctx, TokenSpec{Projects: []string{m.project.ID}, Scopes: proxy.Read, Expires: time.Now().Add(700 * time.Millisecond)})
	wantCode(t, err, "")
	newKey := must[string](t)(s.RotateKey(ctx, m.server.ID, 700*time.Millisecond))
	use := func() (token, key error) {
		_, token = s.Developer(ctx, proxy.Account{}, text)
		_, key = s.Application(ctx, proxy.Account{}, m.server.ID, m.key)
		return token, key
	}
	settle(t, s)
	token, key := use()
	wantCode(t, token, "")
	wantCode(t, key, "")
	before := s.pool.Stat().AcquireCount()
	within(t, time.Second, "expiry", func() bool { token, key = use(); return token != nil && key != nil })
	wantCode(t, token, proxy.Unauthorized)
	wantCode(t, key, proxy.Unauthorized)
	if n := s.pool.Stat().AcquireCount() - before; n != 0 {
		t.Errorf("it took %d look-ups: not from memory", n)
	}
	_, err = s.Application(ctx, proxy.Account{}, m.server.ID, newKey)
	wantCode(t, err, "")
}

func TestRotatingAKey(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	opens := func(key string) bool {
		_, err := s.Application(ctx, proxy.Account{}, m.server.ID, key)
		return err == nil
	}
	second := must[string](t)(s.RotateKey(ctx, m.server.ID, time.Hour))
	if !opens(m.key) || !opens(second) {
		t.Error("during the overlap both keys must be valid")
	}
	third := must[string](t)(s.RotateKey(ctx, m.server.ID, 0))
	time.Sleep(confirmWindow) // nobody runs this store, so nobody tells it sooner
	if opens(m.key) || opens(second) || !opens(third) {
		t.Error("without overlap only the newest key is valid")
	}
	_, err := s.RotateKey(ctx, m.server.ID, -time.Second)
	wantCode(t, err, proxy.InvalidRequest)
}

// Ensure of two rotations at once, without overlap, one key is left: the later one's.
func TestRotatingAtOnce(t *testing.T) {
	url := controlDB(t)
	s := open(t, Config{ControlURL: url})
	m := populate(t, s)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := s.RotateKey(t.Context(), m.server.ID, 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := query[int](t, url, "SELECT count(*) FROM tenantgate.server_keys"); n != 1 {
		t.Errorf("%d keys are left", n)
	}
}

func TestTheCloserPolicyApplies(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	check := func(want string) {
		t.Helper()
		within(t, time.Second, "policy "+want, func() bool {
			got, err := s.Server(ctx, proxy.Account{}, m.project.ID, m.server.ID)
			return err == nil && got.Policy == want
		})
		if got := must[proxy.Server](t)(s.GetServer(ctx, m.project.ID, m.server.ID)); got.Policy != want {
			t.Errorf("GetServer says %q, want %q", got.Policy, want)
		}
	}
	check("")
	wantCode(t, s.SetProjectPolicy(ctx, m.project.ID, "wide"), "")
	check("wide")
	wantCode(t, s.SetServerPolicy(ctx, m.server.ID, "close"), "")
	check("close")
	wantCode(t, s.SetServerPolicy(ctx, m.server.ID, ""), "")
	check("wide")
	if projects := must[[]Project](t)(s.ListProjects(ctx)); len(projects) != 1 || projects[0].Policy != "wide" || projects[0].Name != "demo" {
		t.Errorf("listed %+v", projects)
	}
}

func TestActivity(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	for _, active := range []bool{false, false, true} {
		wantCode(t, s.SetServerActive(ctx, m.server.ID, active), "")
		within(t, time.Second, "activity", func() bool {
			byKey, err := s.Application(ctx, proxy.Account{}, m.server.ID, m.key)
			return err == nil && byKey.Active == active
		})
		if got := must[proxy.Server](t)(s.GetServer(ctx, m.project.ID, m.server.ID)); got.Active != active || got.UpdatedAt.Before(m.server.UpdatedAt) {
			t.Errorf("got %+v", got)
		}
	}
}

// settle waits until the caches are at the store's revision, and stay.
func settle(t *testing.T, s *Store) {
	t.Helper()
	within(t, 2*time.Second, "settling", func() bool {
		seq, err := readRevision(t.Context(), s.pool)
		seen, listening := s.revision.current()
		return err == nil && seen == seq && listening && s.fresh.confirmedWithin(pollInterval)
	})
}
