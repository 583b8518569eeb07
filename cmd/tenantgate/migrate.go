package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/wall"
)

// migrateCommand makes the tables and the wall. It can be run again at any time, by several
// at once.
type migrateCommand struct {
	storeFlags
	OwnerDatabaseURL string `name:"owner-database-url" secret:"" placeholder:"URL" help:"The database that statements run in, as the role that will own what tenantgate creates there: the schema tenantgate_wall (row-level security's view and keys) and, without --no-tables, the bundled tables. Never the role of serve's --database-url. By default the control store's URL, for the case that one database holds both. (secret)"`
	ControlOnly      bool   `name:"control-only" help:"Create only the control store, and nothing in the database that statements run in."`
	Moved            bool   `name:"moved" env:"-" help:"Record that statements run in this database from now on, and no longer in the previous one. Without this flag, a database other than the previous one gets row-level security's view, but no key and no tables."`
	NoTables         bool   `name:"no-tables" help:"Do not create the bundled tables, because the database that statements run in has tables of its own. What row-level security needs is still created."`
	StatementRole    string `name:"statement-role" placeholder:"ROLE" help:"Role that statements run as; it gets the grants that it needs. By default tenantgate_statement, if that role exists."`
	LookupRole       string `name:"lookup-role" placeholder:"ROLE" help:"Role that the look-up by e-mail reads as. By default tenantgate_lookup, if that role exists."`
}

// Run migrates.
func (m *migrateCommand) Run(ctx context.Context, c *console) error {
	switch {
	case m.ControlOnly && m.OwnerDatabaseURL != "":
		return errors.New("--control-only and --owner-database-url contradict each other: use one")
	case m.ControlOnly && m.Moved:
		return errors.New("--moved records the database that --control-only does not touch: use one")
	case m.ControlOnly && m.NoTables:
		return errors.New("--control-only creates even less than --no-tables: use one")
	}
	controlURL, err := m.url()
	if err != nil {
		return err
	}
	said, err := controlPart.migrated(ctx, controlURL, func() error { return control.MigrateControl(ctx, controlURL) })
	if err != nil {
		return fmt.Errorf("migrating the control store: %w", err)
	}
	result := map[string]bool{"control": true, "wall": !m.ControlOnly, "bundled": !m.ControlOnly && !m.NoTables}
	text := table{columns: []string{said}}
	if m.ControlOnly {
		return m.print(c, result, text)
	}
	if said, text.note, err = m.statements(ctx, controlURL); err != nil {
		return err
	}
	text.columns[0] += said
	return m.print(c, result, text)
}

// statements makes what belongs where statements run. It says what it did; note says which
// roles are missing. The key comes before the tables, of which nobody sees a row without one.
func (m *migrateCommand) statements(ctx context.Context, controlURL string) (said, note string, err error) {
	wanted := control.Roles{Statement: m.StatementRole, Lookup: m.LookupRole, Optional: m.StatementRole == "" && m.LookupRole == ""}
	for name, byDefault := range map[*string]string{&wanted.Statement: statementRole, &wanted.Lookup: lookupRole} {
		if *name == "" {
			*name = byDefault
		}
	}
	owner := cmp.Or(m.OwnerDatabaseURL, controlURL)
	keys := control.WallKeys{ControlURL: controlURL, OwnerURL: owner, Moved: m.Moved}
	if err := keys.Fits(ctx); err != nil {
		return "", "", err
	}
	var granted control.Roles
	did, err := wallPart.migrated(ctx, owner, func() (err error) {
		if granted, err = control.MigrateWall(ctx, owner, wanted); err != nil {
			return err
		}
		return keys.Ensure(ctx)
	})
	if err != nil {
		return "", "", fmt.Errorf("making what row-level security needs (--control-only leaves it out): %w", err)
	}
	said = "\n" + did
	if !m.NoTables {
		did, err = bundledPart.migrated(ctx, owner, func() (err error) {
			granted, err = control.MigrateBundled(ctx, owner, wanted)
			return err
		})
		if err != nil {
			return "", "", fmt.Errorf("migrating the bundled tables (--no-tables leaves them out): %w", err)
		}
		said += "\n" + did
	}
	return said + m.granted(granted), missingRoles(wanted, granted), nil
}

// granted says what the roles may do, and what is left to do where tables were left alone.
func (m *migrateCommand) granted(to control.Roles) (said string) {
	if to.Statement != "" {
		said = "\n" + to.Statement + " may read " + wall.Server
		if !m.NoTables {
			said += ", and read and write the bundled tables, but read no password hash"
		}
	}
	if to.Lookup != "" && !m.NoTables {
		said += "\n" + to.Lookup + " may read end_users"
	}
	if m.NoTables {
		said += "\nyour own tables were not changed: tenantgate doctor prints what they lack"
	}
	return said
}

// missingRoles says which roles were left out because they are not there.
func missingRoles(wanted, granted control.Roles) (note string) {
	for _, role := range [][2]string{{wanted.Statement, granted.Statement}, {wanted.Lookup, granted.Lookup}} {
		if role[1] == "" {
			note += fmt.Sprintf("there is no role %s, so nothing was granted to it. Make it, then migrate again:\n  %s;\n", role[0], control.Missing(role[0]))
		}
	}
	return note
}

// whereAndWho says what a URL leads to, without its password.
func whereAndWho(url string) string {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return "the database"
	}
	return fmt.Sprintf("database %s on %s, as role %s", config.Database, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), config.User)
}
