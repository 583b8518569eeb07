package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/wall"
)

// database is a Postgres with the bundled tables, filled, and a control store for one
// project.
type database struct {
	cluster                         *embedded.Cluster
	config                          embedded.Config
	dir                             string
	hand, statement, control, admin string // URLs: of who writes by hand, of tenantgate's roles, of the superuser
	project, token, apiKey          string // the key is the server's
	hostile                         hostile
	key                             wall.Key // which tenantgate signs with
	version                         string   // of Postgres
}

// The database and its roles. Who writes by hand is not bound by row-level security.
const (
	databaseName  = "bench"
	handRole      = "bench_hand"
	statementRole = "bench_statement"
	controlRole   = "bench_control"
)

// password is everybody's: the cluster listens on 127.0.0.1 and is gone at the end.
const password = "bench"

// makeDatabase starts a Postgres in a directory of its own and fills it.
func makeDatabase(ctx context.Context, binDir string) (*database, error) {
	dir, err := os.MkdirTemp("", "tenantgate-bench-")
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir}
	// Of the default, 100, the fronts would leave too few to 64 clients of pgbench.
	d.config = embedded.Config{BinDir: binDir, DataDir: dir, Settings: map[string]string{"max_connections": "300"}}
	if d.cluster, err = embedded.Start(ctx, d.config); err != nil {
		return nil, fmt.Errorf("starting Postgres: %w", err)
	}
	if err := d.fill(ctx); err != nil {
		d.stop(ctx)
		return nil, fmt.Errorf("filling the database: %w", err)
	}
	return d, nil
}

func (d *database) fill(ctx context.Context) error {
	err := run(ctx, d.cluster.AdminURL("postgres"), "CREATE DATABASE "+databaseName,
		"CREATE ROLE "+handRole+" LOGIN BYPASSRLS PASSWORD '"+password+"'",
		"CREATE ROLE "+statementRole+" LOGIN NOINHERIT PASSWORD '"+password+"'",
		"CREATE ROLE "+controlRole+" LOGIN PASSWORD '"+password+"'",
		"GRANT CREATE ON DATABASE "+databaseName+" TO "+controlRole)
	if err != nil {
		return err
	}
	d.name()
	if err := control.MigrateControl(ctx, d.control); err != nil {
		return err
	}
	if _, err := control.MigrateBundled(ctx, d.admin, control.Roles{Statement: statementRole, Lookup: handRole}); err != nil {
		return err
	}
	if err := (control.WallKeys{ControlURL: d.control, OwnerURL: d.admin}).Ensure(ctx); err != nil {
		return err
	}
	if err := d.ask(ctx, "SHOW server_version", &d.version); err != nil {
		return err
	}
	if err := d.ask(ctx, "SELECT secret FROM "+wall.Secrets, &d.key.Secret); err != nil {
		return err
	}
	if err := run(ctx, d.admin, append([]string{"GRANT SELECT, INSERT, UPDATE ON messages TO " + handRole}, rowsSQL...)...); err != nil {
		return err
	}
	return d.register(ctx)
}

// name notes where the cluster is reached.
func (d *database) name() {
	url := func(role string) string { return d.cluster.URL(role, password, databaseName) }
	d.admin = d.cluster.AdminURL(databaseName)
	d.hand, d.statement, d.control = url(handRole), url(statementRole), url(controlRole)
}

// restart cuts Postgres off, with backends that nothing else ends, and starts it again.
func (d *database) restart(ctx context.Context) error {
	at, cut := context.WithCancel(ctx)
	cut()
	_ = d.cluster.Stop(at) // it tells that it was killed, as it was to be
	started, err := embedded.Start(ctx, d.config)
	if err == nil {
		d.cluster = started
		d.name()
	}
	return err
}

// register makes the project, its server and a token.
func (d *database) register(ctx context.Context) error {
	store, err := control.Open(ctx, control.Config{ControlURL: d.control})
	if err != nil {
		return err
	}
	defer store.Close()
	project, err := store.CreateProject(ctx, "bench")
	if err != nil {
		return err
	}
	if _, d.apiKey, err = store.CreateServerWithID(ctx, project.ID, server, "bench", ""); err != nil {
		return err
	}
	d.project = project.ID
	_, d.token, err = store.CreateToken(ctx, control.TokenSpec{Projects: []string{project.ID}, Scopes: proxy.Read | proxy.Write})
	return err
}

// addServers registers servers from prefix + "1" on, those that are there already left out.
// It is for before tenantgate starts, which is not told of them: announcing a row takes
// longer the more a transaction has announced.
func (d *database) addServers(ctx context.Context, prefix string, n int) error {
	return run(ctx, d.admin, "SET session_replication_role = replica",
		fmt.Sprintf(`INSERT INTO tenantgate.servers (id, project_id, name) SELECT '%s' || s, '%s', 'bench' FROM generate_series(1, %d) AS s
			ON CONFLICT DO NOTHING`, prefix, d.project, n),
		"ANALYZE tenantgate.servers")
}

// ask reads the one value of a query.
func (d *database) ask(ctx context.Context, query string, into any) error {
	conn, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	return conn.QueryRow(ctx, query).Scan(into)
}

func run(ctx context.Context, url string, texts ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	for _, text := range texts {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// stop ends Postgres and removes what it held.
func (d *database) stop(ctx context.Context) {
	_ = d.cluster.Stop(context.WithoutCancel(ctx))
	_ = os.RemoveAll(d.dir)
}
