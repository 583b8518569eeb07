package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/wall"
)

// MigrateWall makes or updates what row-level security tells servers apart by
// (wall.Objects), in the database that statements run in, and grants its use to the
// statement role.
// The role of url becomes its owner and needs CREATE on the database the first time. It
// gives the roles that it granted to and touches no table: which have the policy is up to
// their owner. It is as safe to repeat and to run at once as MigrateControl.
func MigrateWall(ctx context.Context, url string, roles Roles) (granted Roles, err error) {
	if err := roles.validate(); err != nil {
		return Roles{}, err
	}
	err = migrate(ctx, url, set{
		before: func(ctx context.Context, db *sql.DB) error {
			if err := roles.look(ctx, db, &roles.Statement); err != nil {
				return err
			}
			return makeSchema(ctx, db, wall.Schema)
		},
		after: func(ctx context.Context, db *sql.DB) error {
			if _, err := db.ExecContext(ctx, wall.Objects); err != nil { // one transaction
				return fmt.Errorf("making the wall: %w", err)
			}
			if err := dropFormer(ctx, db); err != nil {
				return err
			}
			return roles.grantWall(ctx, db)
		},
	})
	return roles, err
}

// dropFormer ends the function that the view replaced, or what it gives.
func dropFormer(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, wall.DropFormer); err != nil {
		return fmt.Errorf("dropping the wall's former function: %w", err)
	}
	return nil
}

// grantWall lets the statement role read the view, and nobody look at the keys.
func (r *Roles) grantWall(ctx context.Context, db *sql.DB) error {
	if r.Statement == "" {
		return nil
	}
	for _, statement := range []string{
		"GRANT USAGE ON SCHEMA " + wall.Schema + " TO " + quoted(r.Statement),
		"GRANT SELECT ON " + wall.Server + " TO " + quoted(r.Statement),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("granting the use of the wall: %w", err)
		}
	}
	return nil
}

// lookupPolicy lets the look-up read the end users of all servers: it asks for one server
// by its own condition, and signs nothing.
const lookupPolicy = "tenantgate_lookup"

// openToLookup adds the look-up role to those for whom lookupPolicy is, if it is not there:
// to change a policy locks the table.
func (r *Roles) openToLookup(ctx context.Context, tx *sql.Tx) error {
	if r.Lookup == "" {
		return nil
	}
	var there bool
	var roles string
	err := tx.QueryRowContext(ctx, `SELECT pg_catalog.count(*) > 0, coalesce(pg_catalog.string_agg(r.rolname, E'\n'), '') FROM pg_catalog.pg_policy p
		LEFT JOIN pg_catalog.pg_roles r ON r.oid = ANY (p.polroles) WHERE p.polrelid = 'public.end_users'::regclass AND p.polname = $1`, lookupPolicy).
		Scan(&there, &roles)
	if err != nil {
		return fmt.Errorf("reading the policies of end_users: %w", err)
	}
	names := strings.FieldsFunc(roles, func(r rune) bool { return r == '\n' })
	if slices.Contains(names, r.Lookup) {
		return nil
	}
	list := quoted(r.Lookup)
	for _, name := range names {
		list += ", " + quoted(name)
	}
	const on = " POLICY " + lookupPolicy + " ON public.end_users"
	if there {
		return execute(ctx, tx, []string{"ALTER" + on + " TO " + list})
	}
	return execute(ctx, tx, []string{"CREATE" + on + " FOR SELECT TO " + list + " USING (true)"})
}
