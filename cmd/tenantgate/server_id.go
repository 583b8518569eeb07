package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// idFlags say what the id of a new server is held against.
type idFlags struct {
	Policy      []string `name:"policy" placeholder:"FILE" help:"Policy file, or the name of a bundled one, as for serve; may be repeated. The policy that the project is assigned, else the first, says which columns hold the id. By default the bundled policies (default, inject, readonly), which list only the bundled tables."`
	DatabaseURL string   `name:"database-url" secret:"" placeholder:"URL" help:"The database that statements run in, as any role: the types of those columns are read there. By default the control store's URL, for the case that one database holds both. (secret)"`
}

// AfterApply sees to it that one database is meant; that of --data-dir holds the control store, too.
func (s *serverCreate) AfterApply(parsed *kong.Context) error {
	if err := s.storeFlags.AfterApply(parsed); err != nil {
		return err
	}
	dir := s.DataDir
	return oneOf(parsed, "databases", "database-url", &s.DatabaseURL, &dir)
}

// idChecker checks ids as the service does that is given the same policies.
type idChecker struct {
	files   []*policy.File
	schema  policy.Schema // scope columns alone
	unknown string        // why the types were not known, when it was asked
}

func (s *serverCreate) checker(ctx context.Context) (*idChecker, error) {
	files, err := policyFiles(s.Policy)
	if err != nil {
		return nil, err
	}
	controlURL, err := s.url()
	if err != nil {
		return nil, err
	}
	k := &idChecker{files: files}
	if k.schema, err = readScopeColumns(ctx, cmp.Or(s.DatabaseURL, controlURL), files); err != nil {
		return nil, fmt.Errorf("looking at the type of the scope columns (--database-url): %w", err)
	}
	return k, nil
}

// server is control.Config.CheckServerID.
func (k *idChecker) server(assigned, id string) error {
	name := cmp.Or(assigned, k.files[0].Name)
	known, err := proxy.CheckServerID(k.files, k.schema, name, id)
	if !known {
		k.unknown = "the database (--database-url) has none of the scoped tables of the policy " + quoted(name)
		if !slices.ContainsFunc(k.files, func(f *policy.File) bool { return f.Name == name }) {
			k.unknown = "the project is assigned the policy " + quoted(name) + ", which was not given"
		}
	}
	return err
}

// note says where the id was not checked.
func (k *idChecker) note(c *console) {
	if k.unknown != "" {
		_, _ = fmt.Fprintf(c.Err, "note: it was not checked whether the scope columns can store this id, since %s; name your policies with --policy\n", k.unknown)
	}
}

// scopeColumnsSQL gives the columns $3[i] of the tables $1[i].$2[i], with their types.
const scopeColumnsSQL = `SELECT n.nspname::text, c.relname::text, a.attname::text, tn.nspname::text, t.typname::text
FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[])) AS want(s, r, a)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = want.s
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = want.r AND c.relkind IN ('r', 'p', 'f')
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attname = want.a AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
ORDER BY 1, 2`

// readScopeColumns gives the policies' tables that exist, cut down to their scope columns.
func readScopeColumns(ctx context.Context, url string, files []*policy.File) (s policy.Schema, err error) {
	ctx, cancel := context.WithTimeout(ctx, roleTime)
	defer cancel()
	conn, err := connectOnce(ctx, url)
	if err != nil {
		return s, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	var schemas, names, columns []string
	for _, f := range files {
		for _, t := range f.Tables {
			if t.Scoped {
				schemas, names, columns = append(schemas, t.Schema), append(names, t.Name), append(columns, t.Column)
			}
		}
	}
	rows, err := conn.Query(ctx, scopeColumnsSQL, schemas, names, columns)
	if err != nil {
		return s, fmt.Errorf("reading the catalog: %w", err)
	}
	var t policy.Table
	var c policy.Column
	_, err = pgx.ForEachRow(rows, []any{&t.Schema, &t.Name, &c.Name, &c.TypeSchema, &c.TypeName}, func() error {
		if last := len(s.Tables) - 1; last >= 0 && s.Tables[last].Schema == t.Schema && s.Tables[last].Name == t.Name { // two policies scope it differently
			s.Tables[last].Columns = append(s.Tables[last].Columns, c)
			return nil
		}
		t.Columns = []policy.Column{c}
		s.Tables = append(s.Tables, t)
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("reading the catalog: %w", err)
	}
	return s, nil
}
