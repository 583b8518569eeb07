package main

import (
	"context"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proxy"
)

// serverCommand manages servers, the tenants.
type serverCommand struct {
	List       serverList       `cmd:"" help:"List the servers of a project, or of all projects."`
	Create     serverCreate     `cmd:"" help:"Create a server, with an id of your choice if needed, and show its API key, only this once."`
	Activate   serverActivate   `cmd:"" help:"Allow look-ups and statements of a server again."`
	Deactivate serverDeactivate `cmd:"" help:"Refuse look-ups and statements of a server, everywhere within a second."`
	RotateKey  serverRotateKey  `cmd:"" help:"Give a server a new API key and show it, only this once."`
	SetPolicy  serverSetPolicy  `cmd:"" help:"Assign a policy to a server; it overrides its project's."`
}

type serverList struct {
	storeFlags
	Project string `name:"project" env:"-" placeholder:"ID" help:"Only servers of this project."`
}

type serverCreate struct {
	storeFlags
	idFlags
	Project     string  `name:"project" required:"" env:"-" placeholder:"ID" help:"The owning project."`
	ID          *string `name:"id" env:"-" help:"Its id: if rows of this server already exist, the value of their server_id. It is refused if the type of a scope column can't store it; if the types are not known (--policy, --database-url), a note says that the id was not checked. By default a new UUID."`
	Description string  `name:"description" env:"-" help:"A description, up to 1000 characters."`
	Name        string  `arg:"" help:"Its name, 1 to 100 characters."`
}

// serverFlags name one server.
type serverFlags struct {
	storeFlags
	ID string `arg:"" help:"The server's id."`
}

type (
	serverActivate   struct{ serverFlags }
	serverDeactivate struct{ serverFlags }
)

type serverRotateKey struct {
	serverFlags
	Overlap string `name:"overlap" env:"-" default:"0s" help:"How long the current key stays valid beside the new one, such as 24h; by default it ends at once."`
}

type serverSetPolicy struct {
	serverFlags
	Policy string `arg:"" help:"The policy's name; \"\" for the project's."`
}

type serverJSON struct {
	ID          string  `json:"id"`
	APIKey      string  `json:"apiKey,omitempty"`
	ProjectID   string  `json:"projectId"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	IsActive    bool    `json:"isActive"`
	Policy      string  `json:"policy"`
	PgLogin     *bool   `json:"pgLogin,omitempty"` // of a list: one of its keys can be a password of Postgres' protocol
	CreatedAt   *string `json:"createdAt"`
	UpdatedAt   *string `json:"updatedAt"`
}

func serverView(s proxy.Server) serverJSON {
	return serverJSON{ID: s.ID, ProjectID: s.ProjectID, Name: s.Name, Description: s.Description, IsActive: s.Active,
		Policy: s.Policy, CreatedAt: stamp(s.CreatedAt), UpdatedAt: stamp(s.UpdatedAt)}
}

// Run lists the servers.
func (l *serverList) Run(ctx context.Context, c *console) error {
	return l.with(ctx, func(s *control.Store) error {
		projects := []string{l.Project}
		if l.Project == "" {
			all, err := s.ListProjects(ctx)
			if err != nil {
				return err
			}
			projects = nil
			for _, p := range all {
				projects = append(projects, p.ID)
			}
		}
		list := []serverJSON{}
		out := table{columns: []string{"ID", "PROJECT", "NAME", "ACTIVE", "POLICY", "CREATED", "PG LOGIN"}}
		for _, id := range projects {
			servers, err := serversOf(ctx, s, id)
			if err != nil {
				return missing(err, "project", id)
			}
			for _, j := range servers {
				list = append(list, j)
				out.rows = append(out.rows, []any{j.ID, j.ProjectID, j.Name, j.IsActive, orDash(&j.Policy), orDash(j.CreatedAt), j.login()})
			}
		}
		return l.print(c, list, out)
	})
}

// serversOf gives the servers of a project, with whether one can log in as them.
func serversOf(ctx context.Context, s *control.Store, projectID string) (list []serverJSON, err error) {
	servers, _, err := s.ListServers(ctx, projectID, 0, "")
	if err != nil {
		return nil, err
	}
	without, err := s.WithoutLogin(ctx, projectID)
	if err != nil {
		return nil, err
	}
	old := map[string]bool{}
	for _, id := range without {
		old[id] = true
	}
	for _, server := range servers {
		j, can := serverView(server), !old[server.ID]
		j.PgLogin = &can
		list = append(list, j)
	}
	return list, nil
}

// login says what to do where the keys are from before they could log in.
func (j serverJSON) login() string {
	if j.PgLogin != nil && *j.PgLogin {
		return "yes"
	}
	return "after rotate-key"
}

// Run makes a server.
func (s *serverCreate) Run(ctx context.Context, c *console) error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	check, err := s.checker(ctx)
	if err != nil {
		return err
	}
	return s.configured(ctx, control.Config{CheckServerID: check.server}, func(store *control.Store) (err error) {
		var made proxy.Server
		var key string
		if name := strings.TrimSpace(s.Name); s.ID != nil {
			made, key, err = store.CreateServerWithID(ctx, s.Project, *s.ID, name, s.Description)
		} else {
			made, key, err = store.CreateServer(ctx, s.Project, name, s.Description)
		}
		if err != nil {
			return missing(err, "project", s.Project)
		}
		j := serverView(made)
		j.APIKey = key
		if err = s.printKey(c, j, ""); err == nil && s.ID != nil {
			check.note(c)
		}
		return err
	})
}

// printKey shows a server with its key.
func (f *storeFlags) printKey(c *console, j serverJSON, more string) error {
	return f.print(c, j, table{columns: []string{"ID", "API KEY"}, rows: [][]any{{j.ID, j.APIKey}},
		note: "The key is shown this once; store it now." + more})
}

// Run activates a server.
func (s *serverActivate) Run(ctx context.Context, c *console) error {
	return s.setActive(ctx, c, true, "active")
}

// Run deactivates a server.
func (s *serverDeactivate) Run(ctx context.Context, c *console) error {
	return s.setActive(ctx, c, false, "inactive")
}

func (f *serverFlags) setActive(ctx context.Context, c *console, active bool, what string) error {
	return f.with(ctx, func(s *control.Store) error {
		if err := s.SetServerActive(ctx, f.ID, active); err != nil {
			return missing(err, "server", f.ID)
		}
		return f.done(c, f.ID, what)
	})
}

// Run rotates a key.
func (s *serverRotateKey) Run(ctx context.Context, c *console) error {
	overlap, err := parseSpan(s.Overlap)
	if err != nil {
		return err
	}
	return s.with(ctx, func(store *control.Store) error {
		key, err := store.RotateKey(ctx, s.ID, overlap)
		if err != nil {
			return missing(err, "server", s.ID)
		}
		if s.JSON {
			return s.print(c, map[string]string{"id": s.ID, "apiKey": key}, table{})
		}
		former := " The former ones are refused from now on."
		if overlap > 0 {
			former = " The former one works until " + *stamp(time.Now().Add(overlap)) + "."
		}
		return s.printKey(c, serverJSON{ID: s.ID, APIKey: key}, former)
	})
}

// Run assigns the policy.
func (s *serverSetPolicy) Run(ctx context.Context, c *console) error {
	return s.with(ctx, func(store *control.Store) error {
		if err := store.SetServerPolicy(ctx, s.ID, s.Policy); err != nil {
			return missing(err, "server", s.ID)
		}
		return s.assigned(c, s.ID, s.Policy)
	})
}
