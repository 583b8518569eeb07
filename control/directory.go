package control

import (
	"context"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// token is what is kept in memory of a developer's token. Projects of caller are shared by
// all who get it; nobody changes them.
type token struct {
	digest  digest
	caller  proxy.Caller
	expires time.Time // zero: never
	revoked bool
}

// key is what is kept of a server's API key.
type key struct {
	digest    digest
	projectID string
	serverID  string
	expires   time.Time // zero: valid until rotated
}

// serverKey names a server as a caller reaches it: one that is looked for in the wrong
// project is not there.
type serverKey struct{ projectID, serverID string }

// project is what is kept of a project.
type project struct{ policy string }

// Developer gives the caller behind an access token of tenantgate, or behind a JWT when
// that is configured. Who presents a token that the store knows is told that it was revoked or has expired; a guess
// learns nothing. The caller's projects are shared and must not be changed. The store is asked
// in asker's turn, here, in Application, Verifier, Server and Project.
func (s *Store) Developer(ctx context.Context, asker proxy.Account, text string) (proxy.Caller, error) {
	if strings.HasPrefix(text, keyPrefix) {
		return proxy.Caller{}, keyForToken()
	}
	if s.jwt != nil && !strings.HasPrefix(text, tokenPrefix) {
		return s.jwt.caller(ctx, text)
	}
	d, ok := parse(tokenPrefix, text)
	if !ok {
		return proxy.Caller{}, unauthorized()
	}
	t, found, err := s.tokens.get(ctx, asker, d)
	if err != nil {
		return proxy.Caller{}, err
	}
	switch {
	case !t.digest.equal(d) || !found:
		return proxy.Caller{}, unauthorized()
	case t.revoked:
		return proxy.Caller{}, revokedToken()
	case expired(t.expires):
		return proxy.Caller{}, expiredToken(t.expires, newToken)
	}
	return t.caller, nil
}

// Application gives the server whose API key this is, active or not. A key is looked up by
// what was presented and only then compared with the server that was named, so an unknown
// server and a wrong key are the same look-up.
func (s *Store) Application(ctx context.Context, asker proxy.Account, serverID, apiKey string) (proxy.Server, error) {
	if strings.HasPrefix(apiKey, tokenPrefix) {
		return proxy.Server{}, tokenForKey()
	}
	d, ok := parse(keyPrefix, apiKey)
	if !ok {
		return proxy.Server{}, unauthorized()
	}
	server, _, err := s.holder(ctx, asker, serverID, d)
	return server, err
}

// holder gives the server if the key of this digest is one of its keys now, and until when
// it is one; zero: until it is rotated.
func (s *Store) holder(ctx context.Context, asker proxy.Account, serverID string, d digest) (proxy.Server, time.Time, error) {
	k, found, err := s.keys.get(ctx, asker, d)
	if err != nil {
		return proxy.Server{}, time.Time{}, err
	}
	named := sameText(k.serverID, serverID)
	if !k.digest.equal(d) || !named || !found || expired(k.expires) {
		return proxy.Server{}, time.Time{}, unauthorized()
	}
	server, err := s.Server(ctx, proxy.Account{}, k.projectID, k.serverID)
	if err != nil && isNotFound(err) { // it was removed a moment ago
		return proxy.Server{}, time.Time{}, unauthorized()
	}
	return server, k.expires, err
}

// Server gives a server of a project, with the policy that applies to it.
func (s *Store) Server(ctx context.Context, asker proxy.Account, projectID, serverID string) (proxy.Server, error) {
	if !validID(projectID) || !validID(serverID) {
		return proxy.Server{}, noServer()
	}
	server, found, err := s.servers.get(ctx, asker, serverKey{projectID, serverID})
	if err != nil {
		return proxy.Server{}, err
	}
	if !found {
		return proxy.Server{}, noServer()
	}
	if server.Policy != "" {
		return server, nil
	}
	of, found, err := s.projects.get(ctx, asker, projectID)
	if err != nil {
		return proxy.Server{}, err
	}
	if !found { // never served without the policy that may restrict it
		return proxy.Server{}, noServer()
	}
	server.Policy = of.policy
	return server, nil
}

// Project tells whether the project exists.
func (s *Store) Project(ctx context.Context, asker proxy.Account, projectID string) error {
	if !validID(projectID) {
		return noProject()
	}
	_, found, err := s.projects.get(ctx, asker, projectID)
	if err == nil && !found {
		return noProject()
	}
	return err
}

// sameText compares in time that does not depend on where two texts differ, nor on their
// lengths.
func sameText(a, b string) bool { return digestOf(a).equal(digestOf(b)) }

// expired is asked at every use: what is kept in memory does not age by itself.
func expired(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

func noServer() *proxy.Error {
	return proxy.Unreached()
}

func noProject() *proxy.Error { return proxy.Unreached() }
