package control

import (
	"context"
	"database/sql"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a control store from before keys logged in over Postgres' protocol comes over: its
// keys stay good over HTTP, log nobody in, and the next ones do; what was made stays.
func TestKeysFromBeforeTheListener(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	url := pgtest.Database(t)
	migrateControlTo(t, url, 4)
	key, d := mint(keyPrefix)
	exec(t, url, `INSERT INTO tenantgate.projects (id, name) VALUES ('p', 'p'); INSERT INTO tenantgate.servers (id, project_id, name) VALUES ('s', 'p', 's')`)
	exec(t, url, `INSERT INTO tenantgate.server_keys (hash, server_id) VALUES ($1, 's')`, d[:])
	for range 2 {
		if err := MigrateControl(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	s := run(t, Config{ControlURL: url})
	got, err := s.Application(t.Context(), proxy.Account{}, "s", key)
	if err != nil || got.ID != "s" {
		t.Fatalf("over HTTP: %+v, %v", got, err)
	}
	if n := len(verifierOf(t, s, "s").Keys); n != 0 {
		t.Errorf("%d keys log in", n)
	}
	if ids := must[[]string](t)(s.WithoutLogin(t.Context(), "p")); !slices.Equal(ids, []string{"s"}) {
		t.Errorf("%q are without a login", ids)
	}
	settle(t, s)
	second := must[string](t)(s.RotateKey(t.Context(), "s", time.Hour))
	within(t, time.Second, "the new key", func() bool { _, ok := verifies(t, verifierOf(t, s, "s"), second); return ok })
	_, err = s.Application(t.Context(), proxy.Account{}, "s", key)
	wantCode(t, err, "")
	if ids := must[[]string](t)(s.WithoutLogin(t.Context(), "p")); len(ids) != 0 {
		t.Errorf("%q are without a login", ids)
	}
	_, err = s.Recheck(t.Context(), "s", proxy.KeyID(d))
	wantCode(t, err, "")
}

// Ensure the database itself refuses half a verifier, and a second secret for salts.
func TestShapesOfVerifiers(t *testing.T) {
	url := controlDB(t)
	populate(t, open(t, Config{ControlURL: url}))
	conn := connect(t, url)
	for _, spoil := range []string{
		"UPDATE tenantgate.server_keys SET stored_key = NULL", "UPDATE tenantgate.server_keys SET server_key = NULL",
		"UPDATE tenantgate.server_keys SET server_key = 'x'", "UPDATE tenantgate.server_keys SET stored_key = stored_key || stored_key",
		"UPDATE tenantgate.login_salt SET secret = 'x'", "INSERT INTO tenantgate.login_salt (one, secret) SELECT false, secret FROM tenantgate.login_salt",
	} {
		if _, err := conn.Exec(t.Context(), spoil); sqlState(err) != "23514" {
			t.Errorf("%s: %v", spoil, err)
		}
	}
}

// migrateControlTo makes the control store as a former version left it.
func migrateControlTo(t *testing.T, url string, version int64) {
	t.Helper()
	db := stdlib.OpenDB(*must[*pgx.ConnConfig](t)(pgx.ParseConfig(url)))
	defer func() { _ = db.Close() }()
	err := makeSchema(t.Context(), db, "tenantgate")
	if err == nil {
		err = upTo(t.Context(), db, version)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func upTo(ctx context.Context, db *sql.DB, version int64) error {
	files, err := fs.Sub(migrations, "migrations/control")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName("tenantgate.migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}
