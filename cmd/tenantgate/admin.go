package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/policies"
)

// projectCommand manages projects.
type projectCommand struct {
	Create    projectCreate    `cmd:"" help:"Create a project."`
	List      projectList      `cmd:"" help:"List all projects."`
	SetPolicy projectSetPolicy `cmd:"" help:"Assign a policy to the servers of a project that have none of their own."`
}

type projectCreate struct {
	storeFlags
	Name string `arg:"" help:"Its name, 1 to 100 characters."`
}

type projectList struct{ storeFlags }

type projectSetPolicy struct {
	storeFlags
	ID     string `arg:"" help:"The project's id."`
	Policy string `arg:"" help:"The policy's name; \"\" for none."`
}

type projectJSON struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Policy    string  `json:"policy"`
	CreatedAt *string `json:"createdAt"`
}

func projects(list ...control.Project) (out []projectJSON, t table) {
	t.columns = []string{"ID", "NAME", "POLICY", "CREATED"}
	for _, p := range list {
		j := projectJSON{p.ID, p.Name, p.Policy, stamp(p.CreatedAt)}
		out = append(out, j)
		t.rows = append(t.rows, []any{j.ID, j.Name, orDash(&j.Policy), orDash(j.CreatedAt)})
	}
	return out, t
}

// Run makes a project.
func (p *projectCreate) Run(ctx context.Context, c *console) error {
	if err := checkName(p.Name); err != nil {
		return err
	}
	return p.with(ctx, func(s *control.Store) error {
		made, err := s.CreateProject(ctx, strings.TrimSpace(p.Name))
		if err != nil {
			return err
		}
		list, t := projects(made)
		return p.print(c, list[0], t)
	})
}

// Run lists the projects.
func (p *projectList) Run(ctx context.Context, c *console) error {
	return p.with(ctx, func(s *control.Store) error {
		all, err := s.ListProjects(ctx)
		if err != nil {
			return err
		}
		list, t := projects(all...)
		return p.print(c, append([]projectJSON{}, list...), t)
	})
}

// Run assigns the policy.
func (p *projectSetPolicy) Run(ctx context.Context, c *console) error {
	return p.with(ctx, func(s *control.Store) error {
		if err := s.SetProjectPolicy(ctx, p.ID, p.Policy); err != nil {
			return missing(err, "project", p.ID)
		}
		return p.assigned(c, p.ID, p.Policy)
	})
}

// done tells that something was changed that has nothing to show.
func (f *storeFlags) done(c *console, id, what string) error {
	return f.print(c, map[string]string{"id": id, "result": what}, table{columns: []string{id + ": " + what}})
}

// assigned tells that a policy was assigned by its name. Which policies there are is the
// running service's business: the store knows names alone.
func (f *storeFlags) assigned(c *console, id, policy string) error {
	what := "policy set"
	if policy == "" {
		what = "policy removed"
	}
	err := f.done(c, id, what)
	if err == nil {
		noteOfPolicy(c, policy)
	}
	return err
}

// noteOfPolicy says what becomes of a name that a running service does not know, and more
// where it is none of the bundled policies', as after a slip of the pen.
func noteOfPolicy(c *console, policy string) {
	if policy == "" {
		return
	}
	which := "each running service"
	if bundled := policies.Names(); !slices.Contains(bundled, policy) {
		which = "this is none of the bundled policies (" + strings.Join(bundled, ", ") + "): " + which
	}
	fmt.Fprintf(c.Err, "note: %s must have loaded a policy named %q (see serve --policy); a service without it refuses every statement of the servers that it is assigned to\n", which, policy)
}

// tokenCommand manages developers' access tokens.
type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and show it, only this once."`
	List   tokenList   `cmd:"" help:"List all tokens, including revoked ones."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token; it is refused everywhere within a second."`
}

type tokenCreate struct {
	storeFlags
	Project []string `name:"project" required:"" env:"-" placeholder:"ID" help:"Project that the token may use; may be repeated."`
	Scope   []string `name:"scope" env:"-" default:"manage,read,write" placeholder:"SCOPE" help:"manage (servers), read or write (statements); may be repeated. Without it the token has all three."`
	Expires string   `name:"expires" env:"-" placeholder:"DURATION" help:"How long it is valid, such as 90d or 12h. Without it the token does not expire."`
	Name    string   `name:"name" env:"-" help:"A name for the list."`
	Policy  string   `name:"policy" env:"-" help:"Policy for statements with this token; it overrides the server's and the project's."`
}

type tokenList struct{ storeFlags }

type tokenRevoke struct {
	storeFlags
	ID string `arg:"" help:"The token's id (not the token)."`
}

type tokenJSON struct {
	ID        string   `json:"id"`
	Token     string   `json:"token,omitempty"`
	Name      string   `json:"name"`
	Projects  []string `json:"projects"`
	Scopes    []string `json:"scopes"`
	Policy    string   `json:"policy"`
	CreatedAt *string  `json:"createdAt"`
	ExpiresAt *string  `json:"expiresAt"`
	RevokedAt *string  `json:"revokedAt"`
}

func tokenView(t control.Token) tokenJSON {
	j := tokenJSON{ID: t.ID, Name: t.Name, Projects: t.Projects, Policy: t.Policy, Scopes: []string{},
		CreatedAt: stamp(t.CreatedAt), ExpiresAt: stamp(t.ExpiresAt), RevokedAt: stamp(t.RevokedAt)}
	for _, name := range []string{"manage", "read", "write"} {
		if scope, err := control.ParseScope(name); err == nil && t.Scopes.Has(scope) {
			j.Scopes = append(j.Scopes, name)
		}
	}
	return j
}

// Run makes a token.
func (t *tokenCreate) Run(ctx context.Context, c *console) error {
	spec := control.TokenSpec{Name: t.Name, Projects: t.Project, Policy: t.Policy}
	for _, name := range t.Scope {
		scope, err := control.ParseScope(name)
		if err != nil {
			return err
		}
		spec.Scopes |= scope
	}
	if t.Expires != "" {
		valid, err := parseSpan(t.Expires)
		if err != nil {
			return err
		}
		spec.Expires = time.Now().Add(valid)
	}
	return t.with(ctx, func(s *control.Store) error {
		made, text, err := s.CreateToken(ctx, spec)
		if err != nil {
			return missing(err, "project", strings.Join(t.Project, ", or no "))
		}
		j := tokenView(made)
		j.Token = text
		err = t.print(c, j, table{columns: []string{"ID", "TOKEN", "SCOPES", "EXPIRES"}, rows: [][]any{{j.ID, j.Token, strings.Join(j.Scopes, ","), expiry(j)}},
			note: "The token is shown this once; store it now."})
		if err == nil {
			noteOfPolicy(c, t.Policy)
		}
		return err
	})
}

func expiry(j tokenJSON) string {
	if j.ExpiresAt == nil {
		return "never"
	}
	return *j.ExpiresAt
}

// parseSpan reads a duration that may be given in days.
func parseSpan(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n == 0 {
			return 0, fmt.Errorf("%q is not a number of days such as 90d", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 90d or 12h", s)
	}
	return d, nil
}

// Run lists the tokens.
func (t *tokenList) Run(ctx context.Context, c *console) error {
	return t.with(ctx, func(s *control.Store) error {
		all, err := s.ListTokens(ctx)
		if err != nil {
			return err
		}
		list := []tokenJSON{}
		out := table{columns: []string{"ID", "NAME", "PROJECTS", "SCOPES", "POLICY", "CREATED", "EXPIRES", "REVOKED"}}
		for _, item := range all {
			j := tokenView(item)
			list = append(list, j)
			out.rows = append(out.rows, []any{j.ID, orDash(&j.Name), strings.Join(j.Projects, ","), strings.Join(j.Scopes, ","),
				orDash(&j.Policy), orDash(j.CreatedAt), expiry(j), orDash(j.RevokedAt)})
		}
		return t.print(c, list, out)
	})
}

// Run revokes a token.
func (t *tokenRevoke) Run(ctx context.Context, c *console) error {
	return t.with(ctx, func(s *control.Store) error {
		if err := s.RevokeToken(ctx, t.ID); err != nil {
			return missing(err, "token with the id", t.ID)
		}
		return t.done(c, t.ID, "revoked")
	})
}
