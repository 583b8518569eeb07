package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/policy"
)

// roleTime bounds the look at the statement role, in which nothing may fail the start.
const roleTime = 5 * time.Second

// warnOfRole tells the operator what the role of statements can do and should not, and
// what the policies admit and it can't do. The service runs either way.
func (sv *service) warnOfRole(ctx context.Context, db databases) error {
	ctx, cancel := context.WithTimeout(ctx, roleTime)
	defer cancel()
	warnings, err := judgeRole(ctx, db.DatabaseURL, sv.files)
	if err != nil && ctx.Err() == nil {
		sv.log.Warn("the role of --database-url could not be checked", "error", err)
	}
	for _, w := range warnings {
		sv.log.Warn(w)
	}
	return nil
}

// connectOnce connects as behind a pooler, too, where nothing can be prepared.
func connectOnce(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading the URL: %w", err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return conn, nil
}

func judgeRole(ctx context.Context, url string, files []*policy.File) (warnings []string, err error) {
	conn, err := connectOnce(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	var role string
	var super, bypasses bool
	err = conn.QueryRow(ctx, `SELECT rolname::text, rolsuper, rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user`).Scan(&role, &super, &bypasses)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading its attributes: %w", err)
	case super:
		return []string{"the role " + role + " of --database-url is a superuser: should a statement ever get past the policy, nothing would stop it. Use a role that owns nothing"}, nil
	case bypasses:
		warnings = append(warnings, "the role "+role+" of --database-url has BYPASSRLS: row-level security would not hold for it. Use a role without it")
	}
	tables, access := admitted(files)
	for _, name := range tables {
		more, err := judgeTable(ctx, conn, role, name, access[name])
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// admitted gives the scoped tables of all policies, and what any of them admits on each.
func admitted(files []*policy.File) (tables []policy.TableName, access map[policy.TableName][]policy.Kind) {
	access = map[policy.TableName][]policy.Kind{}
	for _, f := range files {
		for _, t := range f.Tables {
			name := policy.TableName{Schema: t.Schema, Name: t.Name}
			if !t.Scoped {
				continue
			}
			if !slices.Contains(tables, name) {
				tables = append(tables, name)
			}
			for _, kind := range t.Access {
				if slices.Contains(f.Statement.Kinds, kind) && !slices.Contains(access[name], kind) {
					access[name] = append(access[name], kind)
				}
			}
		}
	}
	return tables, access
}

// judgeTable looks at one table. A grant on some columns is a grant: which, is the
// operator's business.
func judgeTable(ctx context.Context, conn *pgx.Conn, role string, t policy.TableName, access []policy.Kind) (warnings []string, err error) {
	name := pgx.Identifier{t.Schema, t.Name}.Sanitize()
	var owns, usage, sel, ins, upd, del bool
	err = conn.QueryRow(ctx, `SELECT pg_catalog.pg_has_role(c.relowner, 'MEMBER'), pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'),
			pg_catalog.has_any_column_privilege(c.oid, 'SELECT'), pg_catalog.has_any_column_privilege(c.oid, 'INSERT'),
			pg_catalog.has_any_column_privilege(c.oid, 'UPDATE'), pg_catalog.has_table_privilege(c.oid, 'DELETE')
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = $2`, t.Schema, t.Name).Scan(&owns, &usage, &sel, &ins, &upd, &del)
	if err != nil {
		return nil, fmt.Errorf("reading its rights on %s: %w", name, err)
	}
	if owns {
		warnings = append(warnings, fmt.Sprintf("the role %s of --database-url owns %s: use a role that owns nothing", role, name))
	}
	if !usage {
		return append(warnings, fmt.Sprintf("the role %s of --database-url can't reach %s: GRANT USAGE ON SCHEMA %s TO %s", role, name, pgx.Identifier{t.Schema}.Sanitize(), pgx.Identifier{role}.Sanitize())), nil
	}
	may := map[policy.Kind]bool{policy.Select: sel, policy.Insert: ins, policy.Update: upd, policy.Delete: del}
	var lacks []string
	for _, kind := range access {
		if !may[kind] {
			lacks = append(lacks, strings.ToUpper(string(kind)))
		}
	}
	if len(lacks) > 0 {
		slices.Sort(lacks)
		warnings = append(warnings, fmt.Sprintf("the role %s of --database-url may not %s %s, which a policy admits: grant it, or such statements fail", role, strings.Join(lacks, ", "), name))
	}
	return warnings, nil
}
