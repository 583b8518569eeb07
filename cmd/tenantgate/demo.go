package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proxy"
)

// demo gives the demo's credentials: those of the first start, which made project,
// server and token. The data directory keeps them, since the store has only hashes.
func (d *devCommand) demo(ctx context.Context, controlURL, adminURL string) (credentials, error) {
	path := filepath.Join(d.DataDir, "demo.json")
	c, err := readCredentials(path)
	if err != nil {
		return c, err
	}
	c.AdminDatabaseURL = adminURL // its port may have changed
	store, err := control.Open(ctx, control.Config{ControlURL: controlURL})
	if err != nil {
		return c, fmt.Errorf("opening the control store: %w", err)
	}
	defer store.Close()
	if c.ProjectID != "" {
		err := c.renew(ctx, store, path)
		return c, err
	}
	if err := c.make(ctx, store); err != nil {
		return c, err
	}
	if err := plantRows(ctx, adminURL, c.ServerID); err != nil {
		return c, err
	}
	return c, c.keep(path)
}

// keep writes what the next start is to know.
func (c *credentials) keep(path string) error {
	kept := *c
	kept.AdminDatabaseURL = "" // of this start; it holds a password
	return writeJSON(path, kept)
}

// formerKey is how long a demo's key of an earlier version stays valid.
const formerKey = 365 * 24 * time.Hour

// renew makes the server of an earlier version's demo a key that can log in over Postgres'
// protocol. What uses the former one goes on.
func (c *credentials) renew(ctx context.Context, store *control.Store, path string) error {
	v, err := store.Verifier(ctx, proxy.Account{}, c.ServerID)
	if err != nil {
		return fmt.Errorf("looking at the server's key: %w", err)
	}
	if len(v.Keys) > 0 {
		_, err := store.Application(ctx, proxy.Account{}, c.ServerID, c.APIKey)
		c.former = proxy.AsError(err).Code == proxy.Unauthorized
		return nil
	}
	key, err := store.RotateKey(ctx, c.ServerID, formerKey)
	var told *proxy.Error
	if errors.As(err, &told) && told.Code == proxy.NotFound { // somebody removed it
		return nil
	}
	if err != nil {
		return fmt.Errorf("renewing the server's key: %w", err)
	}
	c.APIKey = key
	return c.keep(path)
}

func readCredentials(path string) (c credentials, err error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading the demo's credentials: %w", err)
	}
	if err := json.Unmarshal(src, &c); err != nil {
		return c, fmt.Errorf("reading the demo's credentials in %s: %w", path, err)
	}
	return c, nil
}

func (c *credentials) make(ctx context.Context, store *control.Store) error {
	project, err := store.CreateProject(ctx, "demo")
	if err != nil {
		return fmt.Errorf("making the project: %w", err)
	}
	server, key, err := store.CreateServer(ctx, project.ID, "demo", "Made at the first start")
	if err != nil {
		return fmt.Errorf("making the server: %w", err)
	}
	_, token, err := store.CreateToken(ctx, control.TokenSpec{
		Name: "demo", Projects: []string{project.ID}, Scopes: proxy.Manage | proxy.Read | proxy.Write,
	})
	if err != nil {
		return fmt.Errorf("making the token: %w", err)
	}
	c.ProjectID, c.ServerID, c.APIKey, c.AccessToken = project.ID, server.ID, key, token
	return nil
}

// plantRows gives the demo server something to look at.
func plantRows(ctx context.Context, adminURL, serverID string) error {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connecting as the superuser: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	var batch pgx.Batch
	batch.Queue(`INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, phone_number, password_hash) VALUES
		('ada', $1, 'u-1', 'ada', 'Ada Lovelace', 'ada@example.com', '+44 20 7946 0001', '$argon2id$demo$not-a-real-hash'),
		('grace', $1, 'u-2', 'grace', 'Grace Hopper', 'grace@example.com', NULL, NULL)`, serverID)
	batch.Queue(`INSERT INTO public.conversations (id, server_id, end_user_id, title) VALUES ('c-1', $1, 'ada', 'Notes on the engine')`, serverID)
	batch.Queue(`INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata) VALUES
		('m-1', $1, 'c-1', 'user', 'What can it do?', '{"lang": "en"}'),
		('m-2', $1, 'c-1', 'assistant', 'Whatever we know how to order it to perform.', '{"lang": "en", "tokens": 9}')`, serverID)
	batch.Queue(`INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes) VALUES
		('f-1', $1, 'ada', 'c-1', 'note-g.txt', 'text/plain', 1843)`, serverID)
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("planting the demo's rows: %w", err)
	}
	return nil
}
