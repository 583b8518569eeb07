package control

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// Project is a project as operators see it.
type Project struct {
	ID        string
	Name      string
	Policy    string    // the name of the policy assigned to it; "" for none
	CreatedAt time.Time // UTC, milliseconds
}

// CreateProject makes a project with a fresh id. The name is trimmed; InvalidRequest when
// it is not one that a server could have.
func (s *Store) CreateProject(ctx context.Context, name string) (Project, error) {
	name, err := proxy.TidyName(name)
	if err != nil {
		return Project{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, `INSERT INTO tenantgate.projects (id, name) VALUES ($1, $2)
		RETURNING id, name, policy, created_at`, newID(), name)
	if err == nil {
		var p Project
		if p, err = pgx.CollectExactlyOneRow(rows, scanProject); err == nil {
			return p, nil
		}
	}
	return Project{}, s.writeFailed("creating a project", err)
}

// ListProjects gives all projects, the oldest first.
func (s *Store) ListProjects(ctx context.Context) ([]Project, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT id, name, policy, created_at FROM tenantgate.projects ORDER BY created_at, id`)
	if err == nil {
		var all []Project
		if all, err = pgx.CollectRows(rows, scanProject); err == nil {
			return all, nil
		}
	}
	return nil, readError("listing projects", err)
}

// SetProjectPolicy assigns a policy to a project by name, for the servers that have none
// of their own; "" assigns none. NotFound when there is no such project.
func (s *Store) SetProjectPolicy(ctx context.Context, projectID, policy string) error {
	return s.change(ctx, "assigning a policy", noProject(), `UPDATE tenantgate.projects SET policy = $2 WHERE id = $1`, projectID, policy)
}

func scanProject(row pgx.CollectableRow) (p Project, err error) {
	err = row.Scan(&p.ID, &p.Name, &p.Policy, &p.CreatedAt)
	p.CreatedAt = millis(p.CreatedAt)
	return p, err
}
