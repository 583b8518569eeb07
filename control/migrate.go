package control

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/tenantgate/tenantgate/wall"
)

// The migrations of both databases, in the order of their numbers in each set. A migration that was
// released is never edited.
//
//go:embed migrations
var migrations embed.FS

const (
	migrationLock    = 0x746e_7467 // the advisory lock of all sets; "tntg"
	migrationTimeout = 10 * time.Minute
	lockTimeout      = "10s" // a migration gives up rather than queue everybody else behind it
)

// set is a directory of migrations and where their versions are noted: the control store's
// in its own schema; the bundled tables' in public, where they are. The wall has none: what
// makes it can be run again.
type set struct {
	dir, versions string
	before, after func(ctx context.Context, db *sql.DB) error // run under the lock too
}

// MigrateControl makes or updates the schema tenantgate in the database of url, whose role
// becomes its owner and needs CREATE on the database the first time. It needs a direct
// connection, not one through a pooler in transaction mode. It is safe to repeat, and for
// several processes to run at once: they wait for each other.
func MigrateControl(ctx context.Context, url string) error {
	return migrate(ctx, url, set{
		dir:      "migrations/control",
		versions: "tenantgate.migrations",
		before:   func(ctx context.Context, db *sql.DB) error { return makeSchema(ctx, db, "tenantgate") },
		after:    func(context.Context, *sql.DB) error { return nil },
	})
}

// makeSchema asks first: CREATE SCHEMA IF NOT EXISTS needs the right to create even when
// there is nothing to do.
func makeSchema(ctx context.Context, db *sql.DB, name string) error {
	_, err := db.ExecContext(ctx, `DO $$ BEGIN
		IF to_regnamespace('`+name+`') IS NULL THEN CREATE SCHEMA `+name+`; END IF;
	END $$`)
	if err != nil {
		return fmt.Errorf("making the schema %s, for which a role needs CREATE on the database once: %w", name, err)
	}
	return nil
}

// MigrateBundled makes or updates the four server-scoped tables in schema public of the
// database of url, whose role owns them, and the wall that they rest on (MigrateWall), and
// grants roles what they need. It gives the roles that it granted to, "" for one that was
// left out. It is as safe to repeat and to run at once as MigrateControl. A database that
// has tables of these names already keeps them: the migration of the tables fails and
// changes nothing.
//
// It takes TEMPORARY on the database and CREATE on schema public from PUBLIC, so that who
// runs statements can make nothing: a database with the bundled tables is tenantgate's.
// MigrateWall alone, for a database with tables of its own, leaves both to its owner.
func MigrateBundled(ctx context.Context, url string, roles Roles) (granted Roles, err error) {
	if err := roles.validate(); err != nil {
		return Roles{}, err
	}
	if _, err := MigrateWall(ctx, url, roles); err != nil {
		return Roles{}, err
	}
	err = migrate(ctx, url, set{
		dir:      "migrations/bundled",
		versions: "public.tenantgate_migrations",
		before: func(ctx context.Context, db *sql.DB) error {
			if err := roles.exist(ctx, db); err != nil {
				return err
			}
			if _, err := db.ExecContext(ctx, wall.MakeFormer); err != nil {
				return fmt.Errorf("making what earlier migrations name: %w", err)
			}
			return nil
		},
		after: func(ctx context.Context, db *sql.DB) error {
			if err := dropFormer(ctx, db); err != nil {
				return err
			}
			return roles.grant(ctx, db)
		},
	})
	return roles, err
}

func migrate(ctx context.Context, url string, s set) (err error) {
	ctx, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errURL
	}
	config.RuntimeParams["lock_timeout"] = lockTimeout
	config.RuntimeParams["application_name"] = "tenantgate migrate"
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	return s.runLocked(ctx, db)
}

// runLocked takes the lock on a connection of its own. Goose would take it too late: it
// makes its table of versions, which needs the schema, before.
func (s set) runLocked(ctx context.Context, db *sql.DB) (err error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLock), lock.WithLockTimeout(1, uint64(migrationTimeout.Seconds())))
	if err != nil {
		return fmt.Errorf("making the migration lock: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := locker.SessionLock(ctx, conn); err != nil {
		return fmt.Errorf("waiting for another migration: %w", err)
	}
	defer func() { err = errors.Join(err, locker.SessionUnlock(context.WithoutCancel(ctx), conn)) }()
	return s.run(ctx, db)
}

func (s set) run(ctx context.Context, db *sql.DB) error {
	if err := s.before(ctx, db); err != nil {
		return err
	}
	if s.dir != "" {
		if err := s.up(ctx, db); err != nil {
			return err
		}
	}
	return s.after(ctx, db)
}

// up runs those migrations that were not run yet.
func (s set) up(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, s.dir)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(s.versions), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}
