package control

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"github.com/tenantgate/tenantgate/proxy"
)

// issuer is an identity provider with one key of each kind.
type issuer struct {
	rsa     *rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	ed      ed25519.PrivateKey
	private jwk.Set
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{
		rsa: must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048)),
		ec:  must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)),
	}
	_, i.ed, _ = ed25519.GenerateKey(rand.Reader)
	i.private = jwk.NewSet()
	for id, raw := range map[string]any{"r": i.rsa, "e": i.ec, "d": i.ed} {
		addKey(t, i.private, id, raw)
	}
	return i
}

func addKey(t *testing.T, set jwk.Set, id string, raw any) {
	t.Helper()
	key := must[jwk.Key](t)(jwk.Import(raw))
	if err := key.Set(jwk.KeyIDKey, id); err != nil {
		t.Fatal(err)
	}
	if err := set.AddKey(key); err != nil {
		t.Fatal(err)
	}
}

// jwks is the public set as the issuer serves it.
func (i *issuer) jwks(t *testing.T) []byte {
	t.Helper()
	return must[[]byte](t)(json.Marshal(must[jwk.Set](t)(jwk.PublicSetOf(i.private))))
}

func (i *issuer) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(path, i.jwks(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type claims map[string]any

// good are claims that permit everything; the changes are put over them, nil removes one.
func good(changes claims) claims {
	all := claims{
		"iss": "https://id.example", "aud": "tenantgate", "sub": "dev-1", "jti": "t-1", "exp": time.Now().Add(time.Hour).Unix(),
		"projects": []string{"p1", "p2"}, "scope": "read write other",
	}
	for name, value := range changes {
		all[name] = value
		if value == nil {
			delete(all, name)
		}
	}
	return all
}

func sign(t *testing.T, alg jwa.SignatureAlgorithm, key any, id string, c claims, more ...func(jws.Headers)) string {
	t.Helper()
	headers := jws.NewHeaders()
	if id != "" {
		_ = headers.Set(jws.KeyIDKey, id)
	}
	for _, set := range more {
		set(headers)
	}
	payload := must[[]byte](t)(json.Marshal(c))
	return string(must[[]byte](t)(jws.Sign(payload, jws.WithKey(alg, key, jws.WithProtectedHeaders(headers)))))
}

func testVerifier(t *testing.T, where string, change func(*JWTConfig)) *verifier {
	t.Helper()
	cfg := JWTConfig{Issuer: "https://id.example", Audience: "tenantgate", JWKS: where}
	if change != nil {
		change(&cfg)
	}
	v, err := newVerifier(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJWTsThatAreGood(t *testing.T) {
	i := newIssuer(t)
	v := testVerifier(t, i.file(t), nil)
	want := proxy.Caller{TokenID: "jwt:t-1", Projects: []string{"p1", "p2"}, Scopes: proxy.Read | proxy.Write}
	for name, text := range map[string]string{
		"RS256":              sign(t, jwa.RS256(), i.rsa, "r", good(nil)),
		"ES256":              sign(t, jwa.ES256(), i.ec, "e", good(nil)),
		"EdDSA":              sign(t, jwa.EdDSA(), i.ed, "d", good(nil)),
		"no kid":             sign(t, jwa.ES256(), i.ec, "", good(nil)),
		"one of the auds":    sign(t, jwa.ES256(), i.ec, "e", good(claims{"aud": []string{"x", "tenantgate"}})),
		"nbf within skew":    sign(t, jwa.ES256(), i.ec, "e", good(claims{"nbf": time.Now().Add(20 * time.Second).Unix()})),
		"exp within skew":    sign(t, jwa.ES256(), i.ec, "e", good(claims{"exp": time.Now().Add(-20 * time.Second).Unix()})),
		"scopes in an array": sign(t, jwa.ES256(), i.ec, "e", good(claims{"scope": []string{"write", "read"}})),
	} {
		if got, err := v.caller(t.Context(), text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestJWTClaimsAreMappedAsConfigured(t *testing.T) {
	i := newIssuer(t)
	v := testVerifier(t, i.file(t), func(c *JWTConfig) {
		c.ProjectsClaim, c.ScopesClaim, c.ManageScope = "https://x.example/projects", "roles", "tg:admin"
	})
	for name, try := range map[string]struct {
		claims claims
		want   proxy.Caller
	}{
		"mapped":            {claims{"https://x.example/projects": "p9", "roles": []string{"tg:admin", "read"}}, proxy.Caller{TokenID: "jwt:t-1", Projects: []string{"p9"}, Scopes: proxy.Manage | proxy.Read}},
		"missing":           {claims{"jti": nil}, proxy.Caller{TokenID: "jwt-sub:dev-1"}},
		"of another form":   {claims{"https://x.example/projects": claims{"a": 1}, "roles": 7, "jti": "a b", "sub": nil}, proxy.Caller{TokenID: "jwt"}},
		"mixed":             {claims{"https://x.example/projects": []any{"a", 1}, "roles": []any{"read", nil}}, proxy.Caller{TokenID: "jwt:t-1"}},
		"too many":          {claims{"https://x.example/projects": make([]string, maxProjects+1)}, proxy.Caller{TokenID: "jwt:t-1"}},
		"in the wrong case": {claims{"Roles": "read", "HTTPS://x.example/projects": "p"}, proxy.Caller{TokenID: "jwt:t-1"}},
		"the default name":  {claims{"roles": "manage"}, proxy.Caller{TokenID: "jwt:t-1"}},
	} {
		got, err := v.caller(t.Context(), sign(t, jwa.ES256(), i.ec, "e", good(try.claims)))
		if err != nil || !reflect.DeepEqual(got, try.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// Ensure who holds a token that lacks nothing but time is told when it expired.
func TestJWTsThatHaveExpired(t *testing.T) {
	i := newIssuer(t)
	v := testVerifier(t, i.file(t), nil)
	exp := time.Date(2026, 1, 31, 9, 15, 0, 0, time.UTC)
	_, err := v.caller(t.Context(), sign(t, jwa.ES256(), i.ec, "e", good(claims{"exp": exp.Unix(), "iat": exp.Unix() - 60})))
	const says = "unauthorized: this access token expired at 2026-01-31T09:15:00.000Z; get a new one from the identity provider that issued it"
	if err == nil || err.Error() != says {
		t.Errorf("got %v", err)
	}
}

func TestJWTsThatAreBad(t *testing.T) {
	i := newIssuer(t)
	v := testVerifier(t, i.file(t), nil)
	fine, bad := badJWTs(t, i)
	if _, err := v.caller(t.Context(), fine); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for name, text := range bad {
		caller, err := v.caller(t.Context(), text)
		if err == nil {
			t.Errorf("%s: taken as %+v", name, caller)
			continue
		}
		wantCode(t, err, proxy.Unauthorized)
		if err.Error() != unauthorized().Error() {
			t.Errorf("%s: the answer differs: %v", name, err)
		}
	}
}

// badJWTs gives a good token and what differs from it in one thing.
func badJWTs(t *testing.T, i *issuer) (fine string, bad map[string]string) {
	t.Helper()
	other := newIssuer(t)
	es := func(changes claims, more ...func(jws.Headers)) string {
		return sign(t, jwa.ES256(), i.ec, "e", good(changes), more...)
	}
	fine = es(nil)
	parts := strings.Split(fine, ".")
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	publicPEM := must[[]byte](t)(jwk.EncodePEM(must[jwk.Key](t)(jwk.Import(i.rsa.Public()))))
	ownKey := must[jwk.Key](t)(jwk.Import(other.ec.Public()))
	ago := time.Now().Add(-time.Minute).Unix()
	return fine, map[string]string{
		"other issuer's key":    sign(t, jwa.ES256(), other.ec, "e", good(nil)),
		"unknown kid":           sign(t, jwa.ES256(), i.ec, "zz", good(nil)),
		"another key's kid":     sign(t, jwa.ES256(), i.ec, "r", good(nil)),
		"issuer":                es(claims{"iss": "https://evil.example"}),
		"no issuer":             es(claims{"iss": nil}),
		"audience":              es(claims{"aud": "another"}),
		"no audience":           es(claims{"aud": nil}),
		"expired, other issuer": es(claims{"exp": ago, "iss": "https://evil.example"}),
		"expired, not ours":     es(claims{"exp": ago, "aud": "another"}),
		"expired, not yet":      es(claims{"exp": ago, "nbf": time.Now().Add(time.Minute).Unix()}),
		"expired, other's key":  sign(t, jwa.ES256(), other.ec, "e", good(claims{"exp": ago})),
		"no expiry":             es(claims{"exp": nil}),
		"expiry as a text":      es(claims{"exp": "never"}),
		"not yet":               es(claims{"nbf": time.Now().Add(time.Minute).Unix()}),
		"issued in the future":  es(claims{"iat": time.Now().Add(time.Hour).Unix()}),
		"algorithm none":        encode(`{"alg":"none","kid":"e"}`) + "." + parts[1] + ".",
		"no algorithm":          encode(`{"kid":"e"}`) + "." + parts[1] + "." + parts[2],
		"algorithm twice":       encode(`{"alg":"ES256","alg":"none","kid":"e"}`) + "." + parts[1] + "." + parts[2],
		"HS256 with public key": sign(t, jwa.HS256(), publicPEM, "r", good(nil)),
		"HS256":                 sign(t, jwa.HS256(), []byte("secret-secret-secret-secret-secret"), "e", good(nil)),
		"RS512":                 sign(t, jwa.RS512(), i.rsa, "r", good(nil)),
		"PS256":                 sign(t, jwa.PS256(), i.rsa, "r", good(nil)),
		"key in the header":     sign(t, jwa.ES256(), other.ec, "", good(nil), func(h jws.Headers) { _ = h.Set(jws.JWKKey, ownKey) }),
		"key set in the header": sign(t, jwa.ES256(), other.ec, "x", good(nil), func(h jws.Headers) { _ = h.Set(jws.JWKSetURLKey, "https://evil.example/") }),
		"critical extension":    es(nil, func(h jws.Headers) { _ = h.Set("x", 1); _ = h.Set(jws.CriticalKey, []string{"x"}) }),
		"other payload":         parts[0] + "." + encode(`{"iss":"https://id.example","aud":"tenantgate","exp":9999999999,"scope":"manage"}`) + "." + parts[2],
		"cut":                   fine[:len(fine)-4],
		"signature empty":       parts[0] + "." + parts[1] + ".",
		"four parts":            fine + ".x",
		"two parts":             parts[0] + "." + parts[1],
		"JSON form":             `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"padding":               parts[0] + "==." + parts[1] + "." + parts[2],
		"empty":                 "",
		"huge":                  es(claims{"pad": strings.Repeat("A", maxJWT)}),
		"payload no object":     string(must[[]byte](t)(jws.Sign([]byte(`"x"`), jws.WithKey(jwa.ES256(), i.ec)))),
		"payload null":          string(must[[]byte](t)(jws.Sign([]byte(`null`), jws.WithKey(jwa.ES256(), i.ec)))),
		"payload a token":       string(must[[]byte](t)(jws.Sign([]byte(fine), jws.WithKey(jwa.ES256(), i.ec)))),
	}
}

func TestKeysThatAreNotUsed(t *testing.T) {
	weak := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 1024))
	p384 := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	i := newIssuer(t)
	set := jwk.NewSet()
	addKey(t, set, "p384", p384)
	addKey(t, set, "enc", i.rsa)
	addKey(t, set, "other", i.ec)
	addKey(t, set, "secret", []byte("a symmetric key has no place here"))
	enc, _ := set.LookupKeyID("enc")
	_ = enc.Set(jwk.KeyUsageKey, "enc")
	ec, _ := set.LookupKeyID("other")
	_ = ec.Set(jwk.AlgorithmKey, jwa.ES384())
	if all, err := parseKeys(must[[]byte](t)(json.Marshal(set))); err == nil {
		t.Errorf("%d keys are used", len(all))
	}
	if _, ok := algorithmOf(weak.Public()); ok {
		t.Error("an RSA key of 1024 bits is used")
	}
	addKey(t, set, "good", i.ed)
	raw := must[[]byte](t)(json.Marshal(set))
	raw = []byte(strings.Replace(string(raw), `"keys":[`, `"keys":[{"kty":"of-the-future","kid":"f"},`, 1))
	if all, err := parseKeys(raw); err != nil || len(all) != 1 || all[0].id != "good" {
		t.Errorf("got %d keys, %v", len(all), err)
	}
}

func TestJWTConfigurationsThatFail(t *testing.T) {
	i := newIssuer(t)
	empty := filepath.Join(t.TempDir(), "empty")
	huge := filepath.Join(t.TempDir(), "huge")
	for path, text := range map[string]string{empty: `{"keys":[]}`, huge: string(i.jwks(t)) + strings.Repeat(" ", maxKeySet)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, try := range []struct {
		message string
		cfg     JWTConfig
	}{
		{"are required", JWTConfig{Audience: "a", JWKS: i.file(t)}},
		{"are required", JWTConfig{Issuer: "i", JWKS: i.file(t)}},
		{"are required", JWTConfig{Issuer: "i", Audience: "a"}},
		{"no such file", JWTConfig{Issuer: "i", Audience: "a", JWKS: "/nowhere"}},
		{"no key for", JWTConfig{Issuer: "i", Audience: "a", JWKS: empty}},
		{"larger than", JWTConfig{Issuer: "i", Audience: "a", JWKS: huge}},
		{"https only", JWTConfig{Issuer: "i", Audience: "a", JWKS: "http://id.example/jwks"}},
		{"https only", JWTConfig{Issuer: "i", Audience: "a", JWKS: "file:///jwks"}},
		{"connection refused", JWTConfig{Issuer: "i", Audience: "a", JWKS: "https://127.0.0.1:1/"}},
	} {
		if _, err := newVerifier(t.Context(), try.cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), try.message) {
			t.Errorf("got %v, want %q", err, try.message)
		}
	}
}

// idp serves an issuer's keys, or something else.
type idp struct {
	served  atomic.Int64
	body    atomic.Pointer[[]byte] // nil: an error
	hold    atomic.Bool            // an answer waits for release
	release chan bool
}

func (p *idp) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.served.Add(1)
	if p.hold.Load() {
		<-p.release
	}
	if body := p.body.Load(); body != nil {
		_, _ = w.Write(*body)
		return
	}
	http.Error(w, "down", http.StatusBadGateway)
}

// Ensure a new key is found when it is first used, and that unknown keys do not make the
// provider be asked again and again.
func TestKeysAreReadAgainWithinBounds(t *testing.T) {
	noLeaks(t)
	before, after := newIssuer(t), newIssuer(t)
	p, jwks := &idp{release: make(chan bool)}, before.jwks(t)
	p.body.Store(&jwks)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	v := testVerifier(t, server.URL, nil)
	set := jwk.NewSet()
	addKey(t, set, "new", after.ec)
	rolled := must[[]byte](t)(json.Marshal(must[jwk.Set](t)(jwk.PublicSetOf(set))))
	p.body.Store(&rolled)
	use := func() error {
		_, err := v.caller(t.Context(), sign(t, jwa.ES256(), after.ec, "new", good(nil)))
		return err
	}
	for range 20 {
		wantCode(t, use(), proxy.Unauthorized)
	}
	if n := p.served.Load(); n != 1 {
		t.Errorf("read %d times within the bound, want once", n)
	}
	v.keys.tried = time.Now().Add(-keysMinRefresh)
	p.hold.Store(true)
	leaving, leave := context.WithCancel(t.Context())
	go func() { _, _ = v.caller(leaving, sign(t, jwa.ES256(), after.ec, "new", good(nil))) }()
	within(t, 5*time.Second, "reading", func() bool { return p.served.Load() == 2 })
	leave() // a caller who leaves does not spoil it for the others
	time.Sleep(50 * time.Millisecond)
	p.hold.Store(false)
	close(p.release)
	wantCode(t, use(), "")
	if n := p.served.Load(); n != 2 {
		t.Errorf("read %d times, want twice", n)
	}
	p.body.Store(nil)
	v.keys.tried = time.Time{}
	_, err := v.caller(t.Context(), sign(t, jwa.ES256(), after.ec, "zz", good(nil)))
	wantCode(t, err, proxy.Unauthorized)
	wantCode(t, use(), "") // the last keys are kept
	v.keys.now.Store(&keys{all: v.keys.now.Load().all, read: time.Now().Add(-keysMaxAge - time.Second)})
	wantCode(t, use(), proxy.UpstreamUnavailable)
}

// Ensure a store takes both kinds of tokens, and JWTs only when they are configured.
func TestAStoreWithJWTs(t *testing.T) {
	url, i := controlDB(t), newIssuer(t)
	s := run(t, Config{ControlURL: url, JWT: &JWTConfig{Issuer: "https://id.example", Audience: "tenantgate", JWKS: i.file(t)}})
	m := populate(t, s)
	text := sign(t, jwa.ES256(), i.ec, "e", good(claims{"projects": m.project.ID}))
	caller, err := s.Developer(t.Context(), proxy.Account{}, text)
	if err != nil || !caller.Reaches(m.project.ID) || caller.Reaches("p1") {
		t.Errorf("a JWT: %+v, %v", caller, err)
	}
	_, err = s.Developer(t.Context(), proxy.Account{}, m.text)
	wantCode(t, err, "")
	_, err = open(t, Config{ControlURL: url}).Developer(t.Context(), proxy.Account{}, text)
	wantCode(t, err, proxy.Unauthorized)
	_, err = Open(t.Context(), Config{ControlURL: url, JWT: &JWTConfig{}})
	if err == nil {
		t.Error("opened with an empty configuration")
	}
}
