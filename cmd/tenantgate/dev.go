package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded"
)

// devDatabase is the embedded cluster's database, for statements and the control store alike.
const devDatabase = "tenantgate"

// The roles of the embedded database. Their passwords are made anew at each start.
const (
	controlRole   = "tenantgate_control"
	statementRole = "tenantgate_statement"
	lookupRole    = "tenantgate_lookup"
)

// devCommand is the embedded default.
type devCommand struct {
	settings
	DataDir         string `name:"data-dir" default:".tenantgate" help:"Directory of the embedded Postgres and the demo's credentials; created when missing."`
	PGBin           string `name:"pg-bin" placeholder:"DIR" help:"Folder with initdb and postgres; by default the usual places are searched."`
	CredentialsFile string `name:"credentials-file" placeholder:"FILE" help:"Write the demo's URLs and credentials there as JSON (mode 0600) when the service is ready."`
}

// Run starts Postgres, fills it, and serves until the process is told to stop.
func (d *devCommand) Run(ctx context.Context, c *console) error {
	if d.LogFormat == "auto" {
		d.LogFormat = "text" // a person reads it
	}
	log, finish := newLog(c.Err, d.LogLevel, d.LogFormat)
	defer finish()
	if d.PGAddr == auto {
		d.PGAddr = devPGAddr
	}
	sv, err := open(ctx, &d.settings, log)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; another tenantgate may be running (with make: make run ARGS=\"--http-addr 127.0.0.1:8081 --ops-addr 127.0.0.1:9091 --pg-addr 127.0.0.1:6433 --data-dir .tenantgate2\")", err)
	}
	if err != nil {
		return err
	}
	defer sv.close()
	cluster, err := embedded.Start(ctx, embedded.Config{BinDir: d.PGBin, CacheDir: postgresCache(), DataDir: d.DataDir, Log: log})
	if err != nil {
		return sv.unlessStopped(ctx, err)
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := cluster.Stop(stopping); err != nil {
			log.Error("stopping the embedded Postgres", "error", err)
		}
	}()
	asked := ctx
	ctx, cancel := whileRunning(ctx, cluster)
	defer cancel()
	db, err := prepareCluster(ctx, cluster)
	if err != nil {
		return sv.unlessStopped(asked, fmt.Errorf("preparing the embedded database: %w", err))
	}
	demo, err := d.demo(ctx, db.ControlDatabaseURL, cluster.AdminURL(devDatabase))
	if err != nil {
		return sv.unlessStopped(asked, fmt.Errorf("preparing the demo: %w", err))
	}
	err = sv.serve(ctx, db, func() error { return d.announce(c, sv, cluster.Home(), demo) })
	return errors.Join(err, cluster.Err())
}

// postgresCache is where the Makefile puts a Postgres that it had to fetch.
func postgresCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "tenantgate", "postgres")
}

// whileRunning gives a context that ends with the cluster, should that end by itself.
func whileRunning(ctx context.Context, cluster *embedded.Cluster) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-cluster.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-watched }
}

// prepareCluster makes database, roles and tables, and gives the URLs to work with.
func prepareCluster(ctx context.Context, cluster *embedded.Cluster) (databases, error) {
	passwords := map[string]string{controlRole: rand.Text(), statementRole: rand.Text(), lookupRole: rand.Text()}
	if err := makeRoles(ctx, cluster, passwords); err != nil {
		return databases{}, err
	}
	u := func(role string) string { return cluster.URL(role, passwords[role], devDatabase) }
	db := databases{DatabaseURL: u(statementRole), ControlDatabaseURL: u(controlRole), LookupDatabaseURL: u(lookupRole)}
	if err := control.MigrateControl(ctx, db.ControlDatabaseURL); err != nil {
		return databases{}, err
	}
	roles, admin := control.Roles{Statement: statementRole, Lookup: lookupRole}, cluster.AdminURL(devDatabase)
	if _, err := control.MigrateBundled(ctx, admin, roles); err != nil {
		return databases{}, err
	}
	return db, control.WallKeys{ControlURL: db.ControlDatabaseURL, OwnerURL: admin}.Ensure(ctx)
}

func makeRoles(ctx context.Context, cluster *embedded.Cluster, passwords map[string]string) error {
	conn, err := pgx.Connect(ctx, cluster.AdminURL("postgres"))
	if err != nil {
		return fmt.Errorf("connecting as the superuser: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	for role, password := range passwords {
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&exists); err != nil {
			return fmt.Errorf("looking for role %s: %w", role, err)
		}
		verb := map[bool]string{false: "CREATE", true: "ALTER"}[exists]
		// The password is base32 of our own making: nothing in it needs quoting.
		if _, err := conn.Exec(ctx, verb+" ROLE "+role+" LOGIN PASSWORD '"+password+"'"); err != nil {
			return fmt.Errorf("making role %s: %w", role, err)
		}
	}
	if _, err := conn.Exec(ctx, "ALTER ROLE "+statementRole+" SET temp_file_limit = '1GB'"); err != nil { // of each connection
		return fmt.Errorf("bounding temporary files: %w", err)
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", devDatabase).Scan(&exists); err != nil {
		return fmt.Errorf("looking for the database: %w", err)
	}
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+devDatabase); err != nil {
			return fmt.Errorf("making the database: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, "GRANT CREATE ON DATABASE "+devDatabase+" TO "+controlRole); err != nil {
		return fmt.Errorf("granting: %w", err)
	}
	return nil
}

// credentials are what a developer needs to try the service, and what the credentials
// file holds.
type credentials struct {
	BaseURL          string `json:"baseUrl,omitempty"`
	OpsURL           string `json:"opsUrl,omitempty"`
	PgURL            string `json:"pgUrl,omitempty"` // as a server, where Postgres' protocol is listened for
	ProjectID        string `json:"projectId"`
	AccessToken      string `json:"accessToken"`
	ServerID         string `json:"serverId"`
	APIKey           string `json:"apiKey"`
	AdminDatabaseURL string `json:"adminDatabaseUrl,omitempty"`

	former bool // the key is not the server's any more
}

// writeJSON writes a file that only its owner can read, whole or not at all.
func writeJSON(path string, value any) error {
	src, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it is gone when all went well
	if _, err := temporary.Write(append(src, '\n')); err != nil {
		_ = temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
