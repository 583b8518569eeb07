package proof

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/wall"
)

//go:embed schema.sql
var schemaSQL string

//go:embed existing.sql
var existingSQL string

//go:embed existing-rows.sql
var existingRowsSQL string

// Schema says what the tables are like.
type Schema string

// The schemas. Existing has what databases of applications bring: an extension's types, domains,
// triggers, a rule, a table that inherits.
const (
	Bundled  Schema = ""
	Existing Schema = "existing"
)

// sql gives what makes the tables so, before rows are in them and after.
func (s Schema) sql() (before, after string) {
	if s == Existing {
		return existingSQL, existingRowsSQL
	}
	return "", ""
}

// Servers are those on whose behalf statements run. The form of an id decides which scope
// columns it fits.
var Servers = []string{"7", "00000000-0000-4000-8000-000000000007"}

// World is the databases of the proof, on one server. They are templates: what runs
// statements has copies.
type World struct {
	admin string // the superuser's URL
	name  string // what the names of databases and roles start with
	like  Schema
	key   wall.Key
	made  []string // the databases, to be dropped
	idle  []*place // where nobody works at the moment
}

// Build makes the databases. admin is the URL of a superuser; name starts the names of the
// databases and roles that are made, and needs no quotes.
func Build(ctx context.Context, admin, name string, like Schema) (*World, error) {
	w := &World{admin: admin, name: name, like: like, key: wall.Key{ID: 1, Secret: []byte(strings.Repeat("k", wall.Size))}}
	if err := w.build(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("building the proof's databases: %w", err), w.Close(ctx))
	}
	return w, nil
}

func (w *World) build(ctx context.Context) error {
	if err := w.roles(ctx); err != nil {
		return err
	}
	base, err := w.create(ctx, "base", "template0")
	if err != nil {
		return err
	}
	if _, err := control.MigrateBundled(ctx, base, control.Roles{Statement: w.name + "_none", Lookup: w.name + "_nobody", Optional: true}); err != nil {
		return err
	}
	before, after := w.like.sql()
	if err := w.exec(ctx, base, schemaSQL+before); err != nil {
		return err
	}
	for i, server := range Servers {
		for _, kind := range []database{shared, own, shuffled} {
			url, err := w.create(ctx, kind.of(i), w.name+"_base")
			if err != nil {
				return err
			}
			if err := w.exec(ctx, url, content(kind, server)+after); err != nil {
				return fmt.Errorf("filling %s: %w", kind.of(i), err)
			}
			if kind != own {
				err = w.wall(ctx, url)
			}
			if err != nil {
				return err
			}
			if err := w.exec(ctx, url, "VACUUM ANALYZE"); err != nil {
				return err
			}
		}
	}
	return nil
}

// database is one of the databases that each server has in a World.
type database string

// The databases: D, D|s, and D|s with its rows in another order.
const (
	shared   database = "shared"
	own      database = "own"
	shuffled database = "shuffled" // behind the wall too, for who asks as its role
	emptied  database = "emptied"  // D without the rows of others; made where it is asked for
)

func (d database) of(server int) string { return fmt.Sprintf("%s_%d", d, server) }

// roles makes the role of statements, and one that no wall of the database stops.
func (w *World) roles(ctx context.Context) error {
	return w.exec(ctx, w.admin, "CREATE ROLE "+w.role()+" LOGIN PASSWORD '"+password+"'; CREATE ROLE "+w.freeRole()+" BYPASSRLS LOGIN PASSWORD '"+password+"'")
}

func (w *World) role() string     { return w.name + "_role" }
func (w *World) freeRole() string { return w.name + "_free" }

// wall raises the third wall in a database, as far as the migrations did not.
func (w *World) wall(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var sql strings.Builder
	fmt.Fprintf(&sql, "CREATE SCHEMA IF NOT EXISTS %s; %s", wall.Schema, wall.Objects)
	in, out := w.key.Pads()
	fmt.Fprintf(&sql, `INSERT INTO %s VALUES (%d, '\x%x', '\x%x');`, wall.Keys, w.key.ID, in, out)
	fmt.Fprintf(&sql, "GRANT USAGE ON SCHEMA %s, public, shop TO %s; GRANT SELECT ON %s TO %s;", wall.Schema, w.role(), wall.Server, w.role())
	fmt.Fprintf(&sql, "GRANT USAGE ON SCHEMA public, shop TO %s;", w.freeRole())
	for _, t := range statement.Tables() {
		sql.WriteString(w.guard(t))
	}
	_, err = conn.PgConn().Exec(ctx, sql.String()).ReadAll()
	return err
}

// guard gives the grants on a table, and its policy where it is scoped.
func (w *World) guard(t *statement.Table) string {
	name := qualified(t)
	granted := fmt.Sprintf("GRANT ALL ON %s TO %s;", name, w.freeRole()) + grants(t, name, w.role())
	if t.ScopeType == "" {
		return granted
	}
	typ := map[statement.Type]string{statement.Text: "text", statement.Big: "int8", statement.UUID: "uuid"}[t.ScopeType]
	// The table is locked before its grants are changed: an autovacuum between the two would wait for the one and hold the other.
	return fmt.Sprintf(`ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
		DO $do$ DECLARE condition text := $sql$%[3]s$sql$; BEGIN
			IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = '%[1]s'::regclass AND attname = '%[4]s' AND atttypid = 'varchar'::regtype) THEN condition := $sql$%[5]s$sql$; END IF;
			IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = '%[1]s'::regclass AND polname = '%[2]s') THEN
				EXECUTE 'CREATE POLICY %[2]s ON %[1]s USING (' || condition || ') WITH CHECK (' || condition || ')';
			END IF; END $do$;`,
		name, wall.Policy, wall.Expression(t.Scope(), "pg_catalog", typ), t.Scope(), wall.Expression(t.Scope(), "pg_catalog", "varchar")) + granted
}

// grants gives the role what the policy gives, column by column.
func grants(t *statement.Table, name, role string) string {
	var read, write []string
	for _, c := range t.Columns {
		if !c.Hidden {
			read = append(read, statement.Quote(c.Name))
		}
		if !c.Fixed {
			write = append(write, statement.Quote(c.Name))
		}
	}
	sql := fmt.Sprintf("GRANT SELECT (%s) ON %s TO %s;", strings.Join(read, ", "), name, role)
	if t.ScopeType == "" {
		return sql
	}
	columns := strings.Join(write, ", ")
	return sql + fmt.Sprintf("GRANT INSERT (%s), UPDATE (%s), DELETE ON %s TO %s;", columns, columns, name, role)
}

// create makes a database as a copy and gives its URL.
func (w *World) create(ctx context.Context, suffix, template string) (string, error) {
	name := w.name + "_" + suffix
	if err := w.exec(ctx, w.admin, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", err
	}
	w.made = append(w.made, name)
	u, err := url.Parse(w.admin)
	if err != nil {
		return "", errors.New("the superuser's URL is not one")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// exec runs SQL, of several statements where they need no parameters.
func (w *World) exec(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return err
	}
	return nil
}

// Close drops what Build and the workers made.
func (w *World) Close(ctx context.Context) error {
	var all error
	for _, p := range w.idle {
		for _, s := range []*session{p.shared, p.own, p.shuffled} {
			s.close(ctx)
		}
	}
	for _, name := range w.made {
		all = errors.Join(all, w.exec(ctx, w.admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
	}
	return errors.Join(all, w.exec(ctx, w.admin, "DROP ROLE IF EXISTS "+w.role()), w.exec(ctx, w.admin, "DROP ROLE IF EXISTS "+w.freeRole()))
}
