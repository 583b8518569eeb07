package control

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
)

const (
	keysMinRefresh = 30 * time.Second // between two readings that unknown keys ask for
	keysMaxAge     = 24 * time.Hour   // keys that could not be read again for so long are not trusted
	minRSABits     = 2048
)

// publicKey is one key of the set, with the one algorithm that it may be used with: it is
// the key that says the algorithm, never the token.
type publicKey struct {
	id        string
	algorithm jwa.SignatureAlgorithm
	public    any // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// keys is one reading of the set. It never changes.
type keys struct {
	all  []publicKey
	read time.Time
}

// keySet is a provider's keys as they were last read.
type keySet struct {
	source  keySource
	refresh time.Duration
	log     *slog.Logger
	now     atomic.Pointer[keys]
	turn    chan struct{} // holds one token; who has it may read the source
	tried   time.Time     // when the source was last read or tried; guarded by turn
}

func newKeySet(ctx context.Context, where string, refresh time.Duration, log *slog.Logger) (*keySet, error) {
	source, err := newKeySource(where)
	if err != nil {
		return nil, err
	}
	s := &keySet{source: source, refresh: refresh, log: log, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s, s.load(ctx)
}

// run reads the set again and again until ctx ends.
func (s *keySet) run(ctx context.Context) {
	for {
		sleep(ctx, s.refresh)
		if ctx.Err() != nil {
			return
		}
		<-s.turn
		s.reload(ctx)
		s.turn <- struct{}{}
	}
}

// find gives the key that a token's header names. When there is none the provider may have
// a new one, so the set is read again, but not more often than every keysMinRefresh.
func (s *keySet) find(ctx context.Context, h header) (publicKey, error) {
	k, found := s.now.Load().find(h)
	if !found && known(h.Algorithm) {
		if err := s.readAgain(ctx); err != nil {
			return publicKey{}, err
		}
		k, found = s.now.Load().find(h)
	}
	switch {
	case time.Since(s.now.Load().read) > keysMaxAge:
		return publicKey{}, unreachable(errors.New("the key set for JWTs could not be read for too long"))
	case !found:
		return publicKey{}, unauthorized()
	}
	return k, nil
}

// readAgain lets one caller read while the others wait for what it finds.
func (s *keySet) readAgain(ctx context.Context) error {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return readError("waiting for the key set", ctx.Err())
	}
	defer func() { s.turn <- struct{}{} }()
	if time.Since(s.tried) >= keysMinRefresh {
		s.reload(context.WithoutCancel(ctx)) // others wait for it, whoever leaves
	}
	return nil
}

// reload keeps the old keys when the new ones can't be had.
func (s *keySet) reload(ctx context.Context) {
	if err := s.load(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the key set for JWTs can't be read; the last one is kept", "error", err)
	}
}

func (s *keySet) load(ctx context.Context) error {
	s.tried = time.Now()
	raw, err := s.source.read(ctx)
	if err != nil {
		return fmt.Errorf("reading the key set: %w", err)
	}
	all, err := parseKeys(raw)
	if err != nil {
		return fmt.Errorf("reading the key set: %w", err)
	}
	s.now.Store(&keys{all: all, read: time.Now()})
	return nil
}

// find gives the one key for this algorithm with this id; without an id in the token, the
// only key there is for the algorithm.
func (k *keys) find(h header) (one publicKey, found bool) {
	for _, candidate := range k.all {
		if candidate.algorithm.String() != h.Algorithm || (h.KeyID != "" && candidate.id != h.KeyID) {
			continue
		}
		if found {
			return publicKey{}, false
		}
		one, found = candidate, true
	}
	return one, found
}

func known(algorithm string) bool {
	return algorithm == jwa.RS256().String() || algorithm == jwa.ES256().String() || algorithm == jwa.EdDSA().String()
}

// parseKeys reads the keys of a set that can be used, and passes over the others: a
// provider may have keys for other purposes beside them.
func parseKeys(raw []byte) (all []publicKey, err error) {
	set, err := jwk.Parse(raw, jwk.WithIgnoreParseError(true))
	if err != nil {
		return nil, err
	}
	for i := range set.Len() {
		if k, ok := set.Key(i); ok {
			if usable, ok := usableKey(k); ok {
				all = append(all, usable)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no key for RS256, ES256 or EdDSA")
	}
	return all, nil
}

func usableKey(k jwk.Key) (publicKey, bool) {
	if use, ok := k.KeyUsage(); ok && use != "sig" {
		return publicKey{}, false
	}
	public, err := jwk.PublicRawKeyOf(k)
	if err != nil {
		return publicKey{}, false
	}
	algorithm, ok := algorithmOf(public)
	if named, has := k.Algorithm(); !ok || (has && named.String() != algorithm.String()) {
		return publicKey{}, false
	}
	id, _ := k.KeyID()
	return publicKey{id: id, algorithm: algorithm, public: public}, true
}

func algorithmOf(public any) (jwa.SignatureAlgorithm, bool) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		return jwa.RS256(), public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey:
		return jwa.ES256(), public.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return jwa.EdDSA(), true
	}
	return jwa.EmptySignatureAlgorithm(), false
}
