package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/control"
)

// migrateCommand makes the tables. It can be run again at any time, by several at once.
type migrateCommand struct {
	storeFlags
	OwnerDatabaseURL string `name:"owner-database-url" secret:"" placeholder:"URL" help:"Owner of the bundled tables (end_users, conversations, messages, files), in the database that statements run in. Without it they are made in the control store's database, as its role. (secret)"`
	ControlOnly      bool   `name:"control-only" help:"Leave the bundled tables out: the database that statements run in has tables of its own."`
	StatementRole    string `name:"statement-role" placeholder:"ROLE" help:"Role that statements run as; it is granted what it needs on the bundled tables. Without it tenantgate_statement, where there is such a role."`
	LookupRole       string `name:"lookup-role" placeholder:"ROLE" help:"Role that the look-up by e-mail reads as. Without it tenantgate_lookup, where there is such a role."`
}

// Run migrates.
func (m *migrateCommand) Run(ctx context.Context, c *console) error {
	if m.ControlOnly && m.OwnerDatabaseURL != "" {
		return errors.New("--control-only and --owner-database-url contradict each other: give one")
	}
	controlURL, err := m.url()
	if err != nil {
		return err
	}
	if err := control.MigrateControl(ctx, controlURL); err != nil {
		return fmt.Errorf("migrating the control store: %w", err)
	}
	result := map[string]bool{"control": true, "bundled": !m.ControlOnly}
	text := table{columns: []string{"the control store is up to date: schema tenantgate in " + whereAndWho(controlURL)}}
	if !m.ControlOnly {
		text.columns[0] += "\nthe bundled tables are up to date: schema public in " + whereAndWho(m.owner(controlURL))
		if text.note, err = m.bundled(ctx, controlURL); err != nil {
			return fmt.Errorf("migrating the bundled tables (--control-only leaves them out): %w", err)
		}
	}
	return m.print(c, result, text)
}

// owner is the URL that the bundled tables are made with.
func (m *migrateCommand) owner(controlURL string) string {
	if m.OwnerDatabaseURL != "" {
		return m.OwnerDatabaseURL
	}
	return controlURL
}

// whereAndWho says what a URL leads to, without its password.
func whereAndWho(url string) string {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return "the database"
	}
	return fmt.Sprintf("database %s on %s, as role %s", config.Database, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), config.User)
}

// bundled makes the bundled tables; note says which roles are missing.
func (m *migrateCommand) bundled(ctx context.Context, controlURL string) (note string, err error) {
	wanted := control.Roles{Statement: m.StatementRole, Lookup: m.LookupRole, Optional: m.StatementRole == "" && m.LookupRole == ""}
	for name, byDefault := range map[*string]string{&wanted.Statement: statementRole, &wanted.Lookup: lookupRole} {
		if *name == "" {
			*name = byDefault
		}
	}
	granted, err := control.MigrateBundled(ctx, m.owner(controlURL), wanted)
	for _, role := range [][2]string{{wanted.Statement, granted.Statement}, {wanted.Lookup, granted.Lookup}} {
		if role[1] == "" {
			note += fmt.Sprintf("there is no role %s, so nothing was granted to it. Make it, then migrate again:\n  %s;\n", role[0], control.Missing(role[0]))
		}
	}
	return note, err
}
