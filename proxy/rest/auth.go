package rest

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/proxy"
)

// The challenges of RFC 9110 section 11.6.1. The first two are RFC 6750's.
const (
	challengeBearer  = `Bearer realm="tenantgate"`
	challengeInvalid = challengeBearer + `, error="invalid_token"`
	challengeKey     = `ServerKey realm="tenantgate", headers="X-Server-ID X-API-Key"`
)

// developer authenticates the bearer token.
func (r *request) developer(ctx context.Context) (proxy.Caller, error) {
	defer r.stage("auth", time.Now())
	r.challenge = challengeBearer
	token := bearer(string(r.head.value[fieldAuthorization]))
	if token == "" {
		return proxy.Caller{}, proxy.Refuse(proxy.Unauthorized, "send a developer access token as Authorization: Bearer <token>"+r.insteadOfKey())
	}
	r.challenge = challengeInvalid
	caller, err := r.server.cfg.Gate.Developer(ctx, r.conn.asker(), token)
	r.known = err == nil
	if err == nil {
		r.sender = caller.Account()
		r.logProject = r.sender.Project
		if caller.Reaches(r.projectID) {
			r.logProject = r.projectID
		}
		if !r.conn.settled() {
			err = r.bindConnection(r.sender)
		}
	}
	return caller, err
}

// insteadOfKey says where an API key belongs, to a request that has one where a token is needed.
func (r *request) insteadOfKey() string {
	if len(r.head.value[fieldAPIKey]) == 0 {
		return ""
	}
	return "; an API key looks end users up, or is the password of a Postgres client"
}

// bindConnection notes whose the connection is by the request's credentials; an error where it had to go.
func (r *request) bindConnection(a proxy.Account) error {
	if r.conn.authenticated(a) {
		return nil
	}
	return noPlace()
}

// asker is whose the look-up of a request's credentials is: its network's until the connection has
// shown valid ones, and then whose it was first. A balancer's known connections so share no line
// with strangers.
func (c *conn) asker() proxy.Account {
	if c.known.Load() {
		return c.holder
	}
	return proxy.AccountOf(proxy.NetworkOf(c.Conn))
}

// bearer gives the token of RFC 6750 section 2.1, or "" when the header holds none.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || strings.ContainsAny(token, " \t,") {
		return ""
	}
	return token
}

// application authenticates a server by its key. What differs between an unknown
// server and a wrong key stays inside the gate.
func (r *request) application(ctx context.Context) (proxy.Server, error) {
	defer r.stage("auth", time.Now())
	r.challenge = challengeKey
	serverID, key := string(r.head.value[fieldServerID]), string(r.head.value[fieldAPIKey])
	if serverID == "" || key == "" {
		return proxy.Server{}, proxy.Refuse(proxy.Unauthorized, "send the server's id as X-Server-ID and its API key as X-API-Key")
	}
	server, err := r.server.cfg.Gate.Application(ctx, r.conn.asker(), serverID, key)
	r.known = err == nil
	if err == nil {
		r.reached, r.sender, r.logProject = server.ID, server.Account(), server.ProjectID
		if !r.conn.settled() {
			err = r.bindConnection(r.sender)
		}
	}
	return server, err
}

// reachProject authenticates the caller, then asks whether the path's project is theirs.
func (r *request) reachProject(ctx context.Context) (proxy.Caller, error) {
	caller, err := r.developer(ctx)
	if err != nil {
		return caller, err
	}
	if err := checkIDs(r.projectID); err != nil {
		return caller, err
	}
	return caller, r.server.cfg.Gate.Project(ctx, caller, r.projectID)
}

// reachServer does the same for the path's server.
func (r *request) reachServer(ctx context.Context) (proxy.Caller, proxy.Server, error) {
	caller, err := r.developer(ctx)
	if err != nil {
		return caller, proxy.Server{}, err
	}
	if err := checkIDs(r.projectID, r.serverID); err != nil {
		return caller, proxy.Server{}, err
	}
	server, err := r.server.cfg.Gate.Server(ctx, caller, r.projectID, r.serverID)
	if err == nil {
		r.reached = server.ID
	}
	return caller, server, err
}

// maxID is the longest id, in bytes, that the gate is asked about.
const maxID = 200

// checkIDs refuses as missing what can be nobody's id.
func checkIDs(ids ...string) error {
	for _, id := range ids {
		if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
			return proxy.Refuse(proxy.NotFound, "there is no such project or server, or the credentials do not reach it")
		}
	}
	return nil
}

// scopeNames spells the scopes as tokens do.
func scopeNames(scope proxy.Scope) string {
	var names []string
	for _, known := range []struct {
		scope proxy.Scope
		name  string
	}{{proxy.Manage, "manage"}, {proxy.Read, "read"}, {proxy.Write, "write"}} {
		if scope.Has(known.scope) {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " ")
}

// need refuses a caller that has none of the scopes.
func (r *request) need(caller proxy.Caller, anyOf proxy.Scope) error {
	if caller.Scopes&anyOf != 0 {
		return nil
	}
	names := scopeNames(anyOf)
	r.challenge = challengeBearer + `, error="insufficient_scope", scope="` + names + `"`
	return proxy.Refuse(proxy.InsufficientScope, "this needs a token with the scope "+strings.ReplaceAll(names, " ", " or "))
}

// needActive refuses work for a server that an operator has switched off.
func needActive(server proxy.Server) error {
	if server.Active {
		return nil
	}
	return proxy.Deactivated()
}
