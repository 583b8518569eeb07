package main

import (
	"context"
	"fmt"

	"github.com/tenantgate/tenantgate/control"
)

// migrateCommand makes the tables. It can be run again at any time, by several at once.
type migrateCommand struct {
	storeFlags
	OwnerDatabaseURL string `name:"owner-database-url" secret:"" placeholder:"URL" help:"Role that shall own the bundled tables (end_users, conversations, messages, files), in the database that statements run in. Leave it out where that database has tables of its own. (secret)"`
	StatementRole    string `name:"statement-role" default:"tenantgate_statement" help:"Role that statements run as; it gets the grants it needs on the bundled tables."`
	LookupRole       string `name:"lookup-role" default:"tenantgate_lookup" help:"Role that the look-up by e-mail reads as."`
}

// Run migrates.
func (m *migrateCommand) Run(ctx context.Context, c *console) error {
	controlURL, err := m.url()
	if err != nil {
		return err
	}
	if err := control.MigrateControl(ctx, controlURL); err != nil {
		return fmt.Errorf("migrating the control store: %w", err)
	}
	result := map[string]bool{"control": true, "bundled": m.OwnerDatabaseURL != ""}
	text := "the control store is up to date"
	if m.OwnerDatabaseURL != "" {
		roles := control.Roles{Statement: m.StatementRole, Lookup: m.LookupRole}
		if err := control.MigrateBundled(ctx, m.OwnerDatabaseURL, roles); err != nil {
			return fmt.Errorf("migrating the bundled schema: %w", err)
		}
		text += "\nthe bundled tables are up to date"
	}
	return m.print(c, result, table{columns: []string{text}})
}
