package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// fromServers reads servers with the policy that applies: their own, else their project's.
const fromServers = `SELECT ` + serverColumns + `, coalesce(nullif(s.policy, ''), p.policy)`

// CreateServer makes an active server with a fresh id and a key. The key's text is given
// this once; the store keeps its hash. The name is trimmed. NotFound when there is no such
// project, InvalidRequest when name or description are not what the interface allows, or its rows
// can't have such an id (Config.CheckServerID), LimitReached when the project has as many servers as it may.
func (s *Store) CreateServer(ctx context.Context, projectID, name, description string) (proxy.Server, string, error) {
	return s.CreateServerWithID(ctx, projectID, newID(), name, description)
}

// CreateServerWithID is CreateServer for a platform whose tenants have ids already: 1 to
// 128 printable ASCII characters without spaces and slashes. ConstraintViolation when a
// server of any project has the id, which is not told apart from one of this project.
func (s *Store) CreateServerWithID(ctx context.Context, projectID, id, name, description string) (proxy.Server, string, error) {
	if !validID(projectID) {
		return proxy.Server{}, "", noProject()
	}
	if err := checkID(id); err != nil {
		return proxy.Server{}, "", err
	}
	name, err := proxy.TidyName(name)
	if err == nil {
		err = proxy.CheckDescription(description)
	}
	if err == nil {
		err = s.checkRows(ctx, projectID, id)
	}
	if err != nil {
		return proxy.Server{}, "", err
	}
	var server proxy.Server
	var key newKey
	err = s.manage(ctx, proxy.Account{Project: projectID, Server: id}, func(ctx context.Context) (err error) {
		if key, err = s.mintKey(id); err == nil {
			server, err = s.insertServer(ctx, id, projectID, name, description, key.kept.ID[:], key.kept.Stored[:], key.kept.Server[:])
		}
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows), sqlState(err) == "23503":
		return proxy.Server{}, "", s.noPlace(ctx, projectID)
	case sqlState(err) == "23505":
		return proxy.Server{}, "", &proxy.Error{Code: proxy.ConstraintViolation, Message: "a server with this id exists already, in this project or in another",
			Hint: "use that server if it is yours, or another id"}
	case err != nil:
		return proxy.Server{}, "", s.writeFailed("creating a server", err)
	}
	return server, key.text, nil
}

// checkRows refuses an id that rows of the project's servers can't have. Whether there is such a project, the insert tells.
func (s *Store) checkRows(ctx context.Context, projectID, id string) error {
	if s.cfg.CheckServerID == nil {
		return nil
	}
	p, _, err := s.projects.get(ctx, proxy.Account{Project: projectID}, projectID)
	if err != nil {
		return err
	}
	return s.cfg.CheckServerID(p.policy, id)
}

// insertServer inserts a server and its key, or gives pgx.ErrNoRows where its project has as many
// as it may. Two that come at once wait for one another: the count is a statement of its own,
// which sees what was committed before.
func (s *Store) insertServer(ctx context.Context, id, projectID string, values ...any) (server proxy.Server, err error) {
	batch := &pgx.Batch{} // one transaction
	batch.Queue(`SELECT FROM tenantgate.projects WHERE id = $1 FOR NO KEY UPDATE`, projectID)
	batch.Queue(`
		WITH made AS MATERIALIZED (SELECT tenantgate.now_ms() AS at
				WHERE $8 = 0 OR (SELECT count(*) FROM tenantgate.servers WHERE project_id = $2) < $8),
			s AS (INSERT INTO tenantgate.servers (id, project_id, name, description, created_at, updated_at)
				SELECT $1, $2, $3, $4, at, at FROM made RETURNING *),
			k AS (INSERT INTO tenantgate.server_keys (hash, server_id, stored_key, server_key) SELECT $5, s.id, $6, $7 FROM s)
		`+fromServers+` FROM s JOIN tenantgate.projects p ON p.id = s.project_id`,
		append(append([]any{id, projectID}, values...), s.cfg.MaxServers)...)
	results := s.pool.SendBatch(ctx, batch)
	defer func() { err = errors.Join(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return proxy.Server{}, err
	}
	return scanServer(results.QueryRow())
}

// noPlace tells why a server was not made: its project is not there, or full.
func (s *Store) noPlace(ctx context.Context, projectID string) error {
	if s.cfg.MaxServers == 0 {
		return noProject()
	}
	if err := s.Project(ctx, proxy.Account{}, projectID); err != nil {
		return err
	}
	return &proxy.Error{Code: proxy.LimitReached, Message: fmt.Sprintf("this project has as many servers as it may, %d", s.cfg.MaxServers),
		Hint: "use a server that is there, or ask the operator for more"}
}

// UpdateServer changes what is not nil and gives the server as it is then. With nothing to
// change, nothing is changed, updatedAt included. NotFound when there is none,
// InvalidRequest as with CreateServer.
func (s *Store) UpdateServer(ctx context.Context, projectID, serverID string, name, description *string) (proxy.Server, error) {
	if name == nil && description == nil {
		return s.GetServer(ctx, projectID, serverID)
	}
	if err := checkChange(&name, description); err != nil {
		return proxy.Server{}, err
	}
	return s.server(ctx, s.writeFailed, `
		UPDATE tenantgate.servers SET name = coalesce($3::text, name), description = coalesce($4::text, description),
			updated_at = tenantgate.now_ms() WHERE project_id = $1 AND id = $2 RETURNING *`,
		projectID, serverID, name, description)
}

// checkChange holds what is to be changed to the rules, and trims the name.
func checkChange(name **string, description *string) error {
	if *name != nil {
		tidy, err := proxy.TidyName(**name)
		if err != nil {
			return err
		}
		*name = &tidy
	}
	if description != nil {
		return proxy.CheckDescription(*description)
	}
	return nil
}

// GetServer gives a server of a project as the store has it now. NotFound when there is none.
func (s *Store) GetServer(ctx context.Context, projectID, serverID string) (proxy.Server, error) {
	return s.server(ctx, readError,
		`SELECT * FROM tenantgate.servers WHERE project_id = $1 AND id = $2`, projectID, serverID)
}

// server runs a statement that names a server by its first two parameters and answers its
// row; tell makes an error of what fails.
func (s *Store) server(ctx context.Context, tell func(string, error) error, statement, projectID, serverID string, more ...any) (proxy.Server, error) {
	if !validID(projectID) || !validID(serverID) {
		return proxy.Server{}, noServer()
	}
	var server proxy.Server
	err := s.manage(ctx, proxy.Account{Project: projectID, Server: serverID}, func(ctx context.Context) (err error) {
		server, err = scanServer(s.pool.QueryRow(ctx,
			`WITH s AS (`+statement+`) `+fromServers+` FROM s JOIN tenantgate.projects p ON p.id = s.project_id`,
			append([]any{projectID, serverID}, more...)...))
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return proxy.Server{}, noServer()
	case err != nil:
		return proxy.Server{}, tell("reading or updating a server", err)
	}
	return server, nil
}

// SetServerActive lets a server's data be reached, or no longer. Every process follows
// within a second. NotFound when there is no such server.
func (s *Store) SetServerActive(ctx context.Context, serverID string, active bool) error {
	return s.change(ctx, "activating a server", noServer(), `
		UPDATE tenantgate.servers SET updated_at = CASE WHEN active = $2 THEN updated_at ELSE tenantgate.now_ms() END, active = $2
		WHERE id = $1`, serverID, active)
}

// SetServerPolicy assigns a policy to a server by name; "" leaves it to the project's.
func (s *Store) SetServerPolicy(ctx context.Context, serverID, policy string) error {
	return s.change(ctx, "assigning a policy", noServer(), `UPDATE tenantgate.servers SET policy = $2 WHERE id = $1`, serverID, policy)
}

// change runs an update of one row that is named by the first parameter; missing is the
// answer when there is no such row.
func (s *Store) change(ctx context.Context, doing string, missing *proxy.Error, statement, id string, more ...any) error {
	if !validID(id) {
		return missing
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	tag, err := s.pool.Exec(ctx, statement, append([]any{id}, more...)...)
	switch {
	case err != nil:
		return s.writeFailed(doing, err)
	case tag.RowsAffected() == 0:
		return missing
	}
	return nil
}
