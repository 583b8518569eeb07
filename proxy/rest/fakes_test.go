package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What the fake store holds.
const (
	token     = "tg_dev_all" // every scope, on project p1
	projectID = "p1"
	serverID  = "s1"
	apiKey    = "tg_srv_key"
)

var moment = time.Date(2026, 1, 31, 9, 15, 0, 0, time.UTC)

// store is a proxy.Directory, a rest.Servers and a rest.EndUsers in memory.
type store struct {
	mu      sync.Mutex
	servers []proxy.Server
	tokens  map[string]proxy.Caller
	users   map[string]proxy.EndUser // by e-mail
	calls   []string
	askers  []proxy.Account                 // in the order of their look-ups
	delay   func(ctx context.Context) error // what a look-up waits for; nil: nothing
}

func newStore() *store {
	caller := func(scopes proxy.Scope) proxy.Caller {
		return proxy.Caller{TokenID: "t", Projects: []string{projectID, "gone"}, Scopes: scopes}
	}
	phone := "+49 30 1"
	return &store{
		servers: []proxy.Server{
			{ID: serverID, ProjectID: projectID, Name: "Shop", Description: "", CreatedAt: moment, UpdatedAt: moment, Active: true},
			{ID: "off", ProjectID: projectID, Name: "Old", Description: "asleep", CreatedAt: moment, UpdatedAt: moment},
		},
		tokens: map[string]proxy.Caller{
			token: caller(proxy.Manage | proxy.Read | proxy.Write), "manage": caller(proxy.Manage),
			"read": caller(proxy.Read), "write": caller(proxy.Write), "both": caller(proxy.Read | proxy.Write), "nothing": caller(0),
		},
		users: map[string]proxy.EndUser{
			"ada+1@example.com": {ID: "u1", ExternalUserID: "x1", Username: "ada", Email: "Ada+1@example.com", PhoneNumber: &phone},
		},
	}
}

func (s *store) note(ctx context.Context, call string) error {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	delay := s.delay
	s.mu.Unlock()
	if delay != nil {
		return delay(ctx)
	}
	return nil
}

func (s *store) asks(asker proxy.Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.askers = append(s.askers, asker)
}

func (s *store) setDelay(delay func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
}

func (s *store) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *store) Developer(ctx context.Context, asker proxy.Account, token string) (proxy.Caller, error) {
	s.asks(asker)
	if err := s.note(ctx, "Developer"); err != nil {
		return proxy.Caller{}, err
	}
	caller, found := s.tokens[token]
	if !found {
		return proxy.Caller{}, proxy.Refuse(proxy.Unauthorized, "this access token is not valid")
	}
	return caller, nil
}

// Verifier and Holder are for the other front end.
func (*store) Verifier(context.Context, proxy.Account, string) (proxy.Verifier, error) {
	return proxy.Verifier{}, errors.ErrUnsupported
}

func (*store) Recheck(context.Context, string, proxy.KeyID) (proxy.Session, error) {
	return proxy.Session{}, errors.ErrUnsupported
}

func (s *store) Application(ctx context.Context, asker proxy.Account, id, key string) (proxy.Server, error) {
	s.asks(asker)
	if err := s.note(ctx, "Application"); err != nil {
		return proxy.Server{}, err
	}
	if server, err := s.find(projectID, id); err == nil && key == apiKey {
		return server, nil
	}
	return proxy.Server{}, proxy.Refuse(proxy.Unauthorized, "the server id and the API key do not belong together")
}

func (s *store) Server(ctx context.Context, asker proxy.Account, project, id string) (proxy.Server, error) {
	s.asks(asker)
	if err := s.note(ctx, "Server"); err != nil {
		return proxy.Server{}, err
	}
	return s.find(project, id)
}

func (s *store) Project(ctx context.Context, asker proxy.Account, id string) error {
	s.asks(asker)
	if err := s.note(ctx, "Project"); err != nil {
		return err
	}
	if id != projectID {
		return proxy.Refuse(proxy.NotFound, "there is no such project or server, or the credentials do not reach it")
	}
	return nil
}

func (s *store) find(project, id string) (proxy.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range s.servers {
		if server.ProjectID == project && server.ID == id {
			return server, nil
		}
	}
	return proxy.Server{}, proxy.Refuse(proxy.NotFound, "there is no such project or server, or the credentials do not reach it")
}

func (s *store) CreateServer(ctx context.Context, project, name, description string) (proxy.Server, string, error) {
	if err := s.note(ctx, "CreateServer"); err != nil {
		return proxy.Server{}, "", err
	}
	s.mu.Lock()
	id := "new" + strconv.Itoa(len(s.servers))
	s.mu.Unlock()
	return s.CreateServerWithID(ctx, project, id, name, description)
}

// CreateServerWithID takes ids that are not empty and without blanks.
func (s *store) CreateServerWithID(ctx context.Context, project, id, name, description string) (proxy.Server, string, error) {
	if err := s.note(ctx, "CreateServerWithID "+id); err != nil {
		return proxy.Server{}, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case id == "" || strings.Contains(id, " "):
		return proxy.Server{}, "", &proxy.Error{Code: proxy.InvalidRequest, Message: "no blanks", Hint: "leave them out"}
	case slices.ContainsFunc(s.servers, func(server proxy.Server) bool { return server.ID == id }):
		return proxy.Server{}, "", proxy.Refuse(proxy.ConstraintViolation, "it is taken")
	}
	server := proxy.Server{ID: id, ProjectID: project, Name: name, Description: description, CreatedAt: moment, UpdatedAt: moment, Active: true}
	s.servers = append(s.servers, server)
	return server, "tg_srv_new", nil
}

func (s *store) UpdateServer(ctx context.Context, project, id string, name, description *string) (proxy.Server, error) {
	if err := s.note(ctx, "UpdateServer"); err != nil {
		return proxy.Server{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.servers, func(server proxy.Server) bool { return server.ID == id && server.ProjectID == project })
	if name != nil {
		s.servers[i].Name = *name
	}
	if description != nil {
		s.servers[i].Description = *description
	}
	s.servers[i].UpdatedAt = moment.Add(1234567 * time.Microsecond)
	return s.servers[i], nil
}

func (s *store) GetServer(ctx context.Context, project, id string) (proxy.Server, error) {
	if err := s.note(ctx, "GetServer"); err != nil {
		return proxy.Server{}, err
	}
	return s.find(project, id)
}

// ListServers pages with the position as the cursor.
func (s *store) ListServers(ctx context.Context, _ string, limit int, cursor string) ([]proxy.Server, string, error) {
	if err := s.note(ctx, "ListServers"); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	start := 0
	if cursor != "" {
		at, err := strconv.Atoi(strings.TrimPrefix(cursor, "after "))
		if err != nil {
			return nil, "", proxy.Refuse(proxy.InvalidRequest, "cursor: take the one of the Link header as it is")
		}
		start = at
	}
	rest := s.servers[min(start, len(s.servers)):]
	if limit == 0 || len(rest) <= limit {
		return slices.Clone(rest), "", nil
	}
	return slices.Clone(rest[:limit]), "after " + strconv.Itoa(start+limit), nil
}

func (s *store) ByEmail(ctx context.Context, _ proxy.Account, email string) (proxy.EndUser, error) {
	if err := s.note(ctx, "ByEmail "+email); err != nil {
		return proxy.EndUser{}, err
	}
	user, found := s.users[strings.ToLower(email)]
	if !found {
		return proxy.EndUser{}, proxy.Refuse(proxy.UserNotFound, "no user of this server has that e-mail address")
	}
	return user, nil
}

// catalog is the bundled schema.
type catalog struct{}

func (catalog) Adopted() {}

func (catalog) Schema(context.Context, []policy.TableName) (schema policy.Schema, err error) {
	err = json.Unmarshal(policies.BundledSchema(), &schema)
	return schema, err
}

// gate is the real one with places where a test can make it fail.
type gate struct {
	*proxy.Gate
	admit   func() (proxy.Place, error)
	refuses error // is told instead of whose a token is
	check   func(ctx context.Context) error
	refresh func() (bool, error)
}

func (g *gate) Developer(ctx context.Context, asker proxy.Account, token string) (proxy.Caller, error) {
	if g.refuses != nil {
		return proxy.Caller{}, g.refuses
	}
	return g.Gate.Developer(ctx, asker, token)
}

func (g *gate) Admit(ctx context.Context, subject proxy.Subject) (proxy.Place, error) {
	if g.admit != nil {
		return g.admit()
	}
	return g.Gate.Admit(ctx, subject)
}

func (g *gate) Check(ctx context.Context, subject proxy.Subject, text string) (*policy.Approved, error) {
	if g.check != nil {
		if err := g.check(ctx); err != nil {
			return nil, err
		}
	}
	return g.Gate.Check(ctx, subject, text)
}

func (g *gate) Refresh(ctx context.Context, since time.Time) (bool, error) {
	if g.refresh != nil {
		return g.refresh()
	}
	return g.Gate.Refresh(ctx, since)
}

// counts is a proxy.Recorder and a rest.Recorder that remembers.
type counts struct {
	mu       sync.Mutex
	requests []string // "endpoint code"
	stages   []string
	events   []string // "rejected code", "statement kind code", "overridden n"
}

func (c *counts) Request(endpoint, code string, _ float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, endpoint+" "+code)
}

func (c *counts) Stage(stage string, _ float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stages = append(c.stages, stage)
}

func (c *counts) Rejected(code, frontend string)       { c.event("rejected " + code + " " + frontend) }
func (c *counts) Statement(kind, code string)          { c.event("statement " + kind + " " + code) }
func (c *counts) PlanCache(string)                     {}
func (c *counts) SchemaRefresh(string)                 {}
func (c *counts) ScopedTables(int, int)                {}
func (c *counts) FoundTables(_, _ map[string][]string) {}

// Short counts what the front end refuses; the gate's is not of interest here.
func (c *counts) Short(what, whose string) {
	if what == "answers" || what == "bodies" || what == "handshakes" || what == "messages" {
		c.event("short of " + what + ": " + whose)
	}
}

// happened counts an event.
func (c *counts) happened(event string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.events {
		if text == event {
			n++
		}
	}
	return n
}

func (c *counts) Evicted(frontend string, authenticated bool) {
	c.event("evicted " + frontend + " " + strconv.FormatBool(authenticated))
}

func (c *counts) Overridden(n int) {
	if n > 0 {
		c.event("overridden " + strconv.Itoa(n))
	}
}

func (c *counts) event(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, text)
}

func (c *counts) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}
