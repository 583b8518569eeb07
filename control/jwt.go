package control

import (
	"context"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/tenantgate/tenantgate/proxy"
)

// JWTConfig admits the tokens of one identity provider as developers' access tokens: JWTs
// (RFC 7519) in compact form, signed with RS256, ES256 or EdDSA (RFC 7518, RFC 8037).
type JWTConfig struct {
	Issuer   string // the iss claim must be this; required
	Audience string // the aud claim must hold this; required
	// JWKS is where the provider's key set (RFC 7517) is: a file's path, or an https URL;
	// http is taken for the own machine only. Required.
	JWKS          string
	ProjectsClaim string        // an id or an array of ids; default "projects"
	ScopesClaim   string        // an array, or one text separated by spaces; default "scope"
	ManageScope   string        // what in it stands for manage; default "manage"
	ReadScope     string        // for read; default "read"
	WriteScope    string        // for write; default "write"
	Skew          time.Duration // between the clocks, for exp, nbf and iat; default 30s, at most 5m
	Refresh       time.Duration // between two readings of the key set; default 10m, at least 1m
}

const (
	maxJWT      = 16 << 10 // bytes
	maxProjects = 1000     // of one token
	maxSkew     = 5 * time.Minute
)

func (c JWTConfig) withDefaults() JWTConfig {
	for field, value := range map[*string]string{
		&c.ProjectsClaim: "projects", &c.ScopesClaim: "scope",
		&c.ManageScope: "manage", &c.ReadScope: "read", &c.WriteScope: "write",
	} {
		if *field == "" {
			*field = value
		}
	}
	c.Skew = min(positive(c.Skew, 30*time.Second), maxSkew)
	c.Refresh = max(positive(c.Refresh, 10*time.Minute), time.Minute)
	return c
}

// verifier checks JWTs against one provider's keys.
type verifier struct {
	cfg  JWTConfig
	keys *keySet
}

func newVerifier(ctx context.Context, cfg JWTConfig, log *slog.Logger) (*verifier, error) {
	cfg = cfg.withDefaults()
	if cfg.Issuer == "" || cfg.Audience == "" || cfg.JWKS == "" {
		return nil, errors.New("configuring JWTs: issuer, audience and jwks are required")
	}
	keys, err := newKeySet(ctx, cfg.JWKS, cfg.Refresh, log)
	if err != nil {
		return nil, err
	}
	return &verifier{cfg: cfg, keys: keys}, nil
}

// header is what is read of a token's header before its signature is checked: enough to
// choose a key, and nothing that the choice could be led astray by. A key in the header
// (jwk, jku, x5c) is not looked at.
type header struct {
	Algorithm string         `json:"alg"`
	KeyID     string         `json:"kid"`
	Critical  jsontext.Value `json:"crit"`
}

// caller gives the caller that a token names. What is not a good token is Unauthorized, and one that is good but for its
// age is told when it expired;
// UpstreamUnavailable when the keys are too old to decide.
func (v *verifier) caller(ctx context.Context, text string) (proxy.Caller, error) {
	h, ok := readHeader(text)
	if !ok {
		return proxy.Caller{}, unauthorized()
	}
	k, err := v.keys.find(ctx, h)
	if err != nil {
		return proxy.Caller{}, err
	}
	payload, err := jws.Verify([]byte(text), jws.WithKey(k.algorithm, k.public), jws.WithCompact())
	if err != nil {
		return proxy.Caller{}, unauthorized()
	}
	token, err := v.validate(payload)
	switch {
	case errors.Is(err, jwt.TokenExpiredError()):
		at, _ := token.Expiration()
		return proxy.Caller{}, expiredToken(at, "; get a new one from the identity provider that issued it")
	case err != nil:
		return proxy.Caller{}, unauthorized()
	}
	return v.read(token), nil
}

// readHeader reads the header of a compact JWS. What it does not understand, it refuses:
// JWS in JSON form, encrypted tokens, critical extensions (RFC 7515 §4.1.11).
func readHeader(text string) (h header, ok bool) {
	if len(text) > maxJWT || strings.Count(text, ".") != 2 {
		return h, false
	}
	first, _, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return h, false
	}
	return h, h.Critical == nil
}

// validate checks the claims of a payload whose signature is good. Expiry comes last, so that it is the error of a token
// that lacks nothing else.
func (v *verifier) validate(payload []byte) (jwt.Token, error) {
	token := jwt.New()
	if err := stdjson.Unmarshal(payload, token); err != nil {
		return nil, err
	}
	return token, jwt.Validate(token, jwt.WithResetValidators(true), jwt.WithValidator(jwt.IsIssuedAtValid()), jwt.WithValidator(jwt.IsNbfValid()),
		jwt.WithRequiredClaim(jwt.ExpirationKey), jwt.WithIssuer(v.cfg.Issuer), jwt.WithAudience(v.cfg.Audience),
		jwt.WithValidator(jwt.IsExpirationValid()), jwt.WithAcceptableSkew(v.cfg.Skew))
}

// read maps the claims. A claim that is missing or of another form permits nothing.
func (v *verifier) read(token jwt.Token) proxy.Caller {
	projects := texts(token, v.cfg.ProjectsClaim, false)
	if len(projects) > maxProjects {
		projects = nil
	}
	return proxy.Caller{TokenID: logID(token), Projects: projects, Scopes: v.scopes(token)}
}

func (v *verifier) scopes(token jwt.Token) (all proxy.Scope) {
	for _, name := range texts(token, v.cfg.ScopesClaim, true) {
		switch name {
		case v.cfg.ManageScope:
			all |= proxy.Manage
		case v.cfg.ReadScope:
			all |= proxy.Read
		case v.cfg.WriteScope:
			all |= proxy.Write
		}
	}
	return all
}

// texts reads a claim that is a text or an array of texts.
func texts(token jwt.Token, claim string, split bool) (all []string) {
	var value any
	if token.Get(claim, &value) != nil {
		return nil
	}
	switch value := value.(type) {
	case string:
		if split {
			return strings.Fields(value)
		}
		return []string{value}
	case []any:
		for _, item := range value {
			text, ok := item.(string)
			if !ok {
				return nil
			}
			all = append(all, text)
		}
	}
	return all
}

// logID names a token in logs: its jti, else its subject, where they are fit to be logged.
func logID(token jwt.Token) string {
	if id, ok := token.JwtID(); ok && validID(id) {
		return "jwt:" + id
	}
	if subject, ok := token.Subject(); ok && validID(subject) {
		return "jwt-sub:" + subject
	}
	return "jwt"
}
