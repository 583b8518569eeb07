package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Roles are the database roles that work with the bundled tables. Neither owns anything.
type Roles struct {
	Statement string // runs developers' statements: reads and writes the four tables, but no password hash
	Lookup    string // serves the e-mail look-up: reads end_users of all servers; another role than Statement
	Optional  bool   // a role that does not exist is left out instead of being an error
}

// Missing gives the SQL that makes a role which the migration left out.
func Missing(role string) string {
	return "CREATE ROLE " + quoted(role) + " LOGIN PASSWORD '…' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS"
}

func (r *Roles) validate() error {
	switch {
	case r.Statement == "" || r.Lookup == "":
		return errors.New("naming the roles: both the statement role and the look-up role are needed")
	case r.Statement == r.Lookup:
		return errors.New("naming the roles: the look-up reads what statements may not, so it needs a role of its own")
	}
	return nil
}

// grant gives the roles what they need and takes from everybody what nobody needs. It runs
// at every migration, so that it also serves roles that were named later.
func (r *Roles) grant(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("granting: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	readable, err := readableColumns(ctx, tx)
	if err != nil {
		return err
	}
	if err := execute(ctx, tx, slices.Concat(r.grants(readable), r.revokes())); err != nil {
		return err
	}
	if err := r.openToLookup(ctx, tx); err != nil {
		return err
	}
	if err := r.check(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func execute(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("granting: %w", err)
		}
	}
	return nil
}

// readableColumns lists what statements may read of end_users: all but the password hash.
// A column that is added later can be read after the next migration.
func readableColumns(ctx context.Context, tx *sql.Tx) (list string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' ORDER BY attnum) FROM pg_catalog.pg_attribute
		WHERE attrelid = 'public.end_users'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'password_hash'`).Scan(&list)
	if err != nil {
		return "", fmt.Errorf("reading the columns of end_users: %w", err)
	}
	return list, nil
}

// exist makes sure that both roles exist and neither is the one that will own the tables.
// One that may be left out is "" afterwards.
func (r *Roles) exist(ctx context.Context, db *sql.DB) error {
	return r.look(ctx, db, &r.Statement, &r.Lookup)
}

func (r *Roles) look(ctx context.Context, db *sql.DB, roles ...*string) error {
	for _, role := range roles {
		var found, owner bool
		err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1), current_user = $1`, *role).Scan(&found, &owner)
		switch {
		case err != nil:
			return fmt.Errorf("looking for the role %q: %w", *role, err)
		case owner:
			return fmt.Errorf("the role %q would own the tables; name a role that owns nothing", *role)
		case !found && r.Optional:
			*role = ""
		case !found:
			return fmt.Errorf("the role %q does not exist; create it with: %s", *role, Missing(*role))
		}
	}
	return nil
}

func (r *Roles) grants(readable string) (statements []string) {
	const schema = "GRANT USAGE ON SCHEMA public TO "
	if r.Statement != "" {
		statements = append(statements, schema+quoted(r.Statement),
			"GRANT SELECT, INSERT, UPDATE, DELETE ON public.conversations, public.messages, public.files TO "+quoted(r.Statement),
			"GRANT INSERT, UPDATE, DELETE ON public.end_users TO "+quoted(r.Statement),
			"REVOKE SELECT ON public.end_users FROM "+quoted(r.Statement), // on its columns too
			"GRANT SELECT ("+readable+") ON public.end_users TO "+quoted(r.Statement))
	}
	if r.Lookup != "" {
		statements = append(statements, schema+quoted(r.Lookup), "GRANT SELECT ON public.end_users TO "+quoted(r.Lookup))
	}
	return statements
}

// revokes takes CREATE and TEMPORARY from everybody. Where the owner of the tables owns
// neither schema nor database, Postgres warns and does nothing: that is for their owners.
func (*Roles) revokes() []string {
	return []string{
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC",
		"DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$",
	}
}

// check makes sure of the grant that Postgres only warns about when it could not make it.
func (r *Roles) check(ctx context.Context, tx *sql.Tx) error {
	var missing []string
	for _, role := range []string{r.Statement, r.Lookup} {
		if role == "" {
			continue
		}
		var usage bool
		err := tx.QueryRowContext(ctx, `SELECT has_schema_privilege($1, 'public', 'USAGE')`, role).Scan(&usage)
		if err != nil {
			return fmt.Errorf("checking the grants: %w", err)
		}
		if !usage {
			missing = append(missing, quoted(role))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("the owner of the tables may not grant the use of schema public; its owner must: "+
		"GRANT USAGE ON SCHEMA public TO %s", strings.Join(missing, ", "))
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
