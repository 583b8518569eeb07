package upstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/policy"
)

// pathSetting is Postgres' setting.
const pathSetting = "search_path"

// closedPath finds nothing but what is Postgres' own.
const closedPath = "pg_catalog, pg_temp"

// searchPath is the search_path of connections: the one that was configured, or else the
// application's, as far as nobody whom statements could become can make anything there.
type searchPath struct {
	fixed bool
	text  atomic.Pointer[string]
	found atomic.Pointer[string] // where the application looks, as it was read last; nil: it was not
}

func newSearchPath(configured string) *searchPath {
	p := &searchPath{fixed: configured != ""}
	configured = cmp.Or(configured, closedPath)
	p.text.Store(&configured)
	return p
}

func (p *searchPath) now() string { return *p.text.Load() }

// adopt takes the path that was found; changed tells whether it is another one than before.
func (p *searchPath) adopt(found string) (changed bool) {
	return !p.fixed && *p.text.Swap(&found) != found
}

// ownersSQL gives the owners of the tables $1[i].$2[i], each with the search_path that Postgres
// gives to its connections. What the server's configuration file says does not show to others.
const ownersSQL = `SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', r.rolname, 'path', coalesce((
    SELECT pg_catalog.substr(c, 13) FROM pg_catalog.pg_db_role_setting AS s CROSS JOIN pg_catalog.unnest(s.setconfig) AS c
    WHERE c LIKE 'search\_path=%' AND s.setrole IN (r.oid, 0) AND s.setdatabase IN (d.oid, 0)
    ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1),
    (SELECT g.boot_val FROM pg_catalog.pg_settings AS g WHERE g.name = 'search_path'))) ORDER BY r.rolname), '[]')
FROM pg_catalog.pg_roles AS r CROSS JOIN pg_catalog.pg_database AS d
WHERE d.datname = pg_catalog.current_database() AND r.oid IN (SELECT c.relowner FROM unnest($1::text[], $2::text[]) AS want(s, r)
  JOIN pg_catalog.pg_namespace AS n ON n.nspname = want.s JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = want.r)`

// owner is a tables' owner.
type owner struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// schemasSQL tells of the schemas $1 that exist whether the role may use them, and who else may make
// something in them: the role, or one that it can become.
const schemasSQL = `SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', n.nspname,
  'usable', pg_catalog.has_schema_privilege(n.oid, 'USAGE'), 'role', pg_catalog.quote_ident(current_user), 'open', EXISTS (SELECT FROM pg_catalog.pg_roles AS r, ` + members + `
    WHERE pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER') AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'CREATE')))), '[]')
FROM pg_catalog.pg_namespace AS n WHERE n.nspname = ANY ($1::text[])`

// schemaFacts is what schemasSQL tells of one.
type schemaFacts struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Open   bool   `json:"open"`
	Role   string `json:"role"`
}

// foundPath is what was found out about where the application looks for names.
type foundPath struct {
	bare    []string          // the schemas where it looks, in order
	schemas []string          // those and others that columns' types are in
	lacks   map[string]string // of those where statements don't look, why
	apart   map[string]bool   // those where the application does not look either: only columns' types are in them
	text    string            // the search_path that statements can have of it
}

// find works out the path of statements. types are the schemas of columns' types.
func (p *searchPath) find(ctx context.Context, conn *pgxpool.Conn, owners []owner, types []string) (foundPath, error) {
	f := foundPath{lacks: map[string]string{}, apart: map[string]bool{}}
	paths := make([][]string, len(owners))
	for i, o := range owners {
		paths[i] = schemasOf(o.Path, o.Name)
		f.schemas = append(f.schemas, paths[i]...)
	}
	configured := schemasOf(p.now(), "")
	if p.fixed {
		f.schemas = append(f.schemas, configured...)
	}
	f.schemas = distinct(append(f.schemas, types...))
	facts, err := readSchemas(ctx, conn, f.schemas)
	if err != nil {
		return f, err
	}
	f.schemas = slices.DeleteFunc(f.schemas, func(s string) bool { return facts[s] == nil })
	exists := func(s string) bool { return s == catalogSchema || facts[s] != nil }
	for i := range paths {
		paths[i] = slices.DeleteFunc(paths[i], func(s string) bool { return !exists(s) })
	}
	f.judge(facts, owners, paths)
	if p.fixed {
		f.configure(slices.DeleteFunc(configured, func(s string) bool { return !exists(s) }), facts)
	}
	return f, nil
}

const catalogSchema = "pg_catalog"

// judge tells of each schema whether statements can look there as the application does.
func (f *foundPath) judge(facts map[string]*schemaFacts, owners []owner, paths [][]string) {
	path := []string{catalogSchema}
	for _, s := range f.schemas {
		at := slices.IndexFunc(paths, func(path []string) bool { return slices.Contains(path, s) })
		switch {
		case at < 0:
			f.apart[s] = true
			f.lacks[s] = fmt.Sprintf("the schema %s is not on the search_path of the tables' owner: give --search-path", s)
		case slices.ContainsFunc(paths, func(path []string) bool { return !slices.Equal(path, paths[at]) }):
			f.lacks[s] = fmt.Sprintf("the schema %s is not used, since the tables' owners differ in their search_path (%s): give --search-path", s, ownersPaths(owners))
		case slices.Contains(paths[at], catalogSchema) && slices.Index(paths[at], s) < slices.Index(paths[at], catalogSchema):
			f.lacks[s] = fmt.Sprintf("the schema %s comes before pg_catalog on the search_path of %s: put pg_catalog first there", s, owners[at].Name)
		default:
			f.bare = append(f.bare, s)
			if f.lacks[s] = facts[s].lacks(); f.lacks[s] == "" {
				path = append(path, quoteName(s))
			}
		}
	}
	f.text = strings.Join(append(path, "pg_temp"), ", ")
}

// configure judges by the path that was configured, in place of the owners'.
func (f *foundPath) configure(path []string, facts map[string]*schemaFacts) {
	f.bare = path
	for _, s := range f.schemas {
		switch {
		case !slices.Contains(path, s):
			f.lacks[s] = fmt.Sprintf("the schema %s is not in --search-path: put it between pg_catalog and pg_temp", s)
		case !facts[s].Usable:
			f.apart[s], f.lacks[s] = false, facts[s].unusable()
		default:
			f.apart[s], f.lacks[s] = false, ""
		}
	}
}

func (s *schemaFacts) lacks() string {
	switch {
	case s.Open:
		return fmt.Sprintf("anybody, or at least %s, may make functions in the schema %s: REVOKE CREATE ON SCHEMA %[3]s FROM PUBLIC, %[1]s", s.Role, s.Name, quoteName(s.Name))
	case !s.Usable:
		return s.unusable()
	}
	return ""
}

func (s *schemaFacts) unusable() string {
	return fmt.Sprintf("%s may not use the schema %s: GRANT USAGE ON SCHEMA %s TO %[1]s", s.Role, s.Name, quoteName(s.Name))
}

func ownersPaths(owners []owner) string {
	list := make([]string, len(owners))
	for i, o := range owners {
		list[i] = o.Name + ": " + o.Path
	}
	return strings.Join(list, "; ")
}

// readSchemas gives what is known of the schemas that exist.
func readSchemas(ctx context.Context, conn *pgxpool.Conn, names []string) (map[string]*schemaFacts, error) {
	var list []schemaFacts
	if err := readJSON(ctx, conn, &list, schemasSQL, names); err != nil {
		return nil, err
	}
	facts := map[string]*schemaFacts{}
	for i := range list {
		facts[list[i].Name] = &list[i]
	}
	return facts, nil
}

// readJSON runs a query of the catalog that gives one JSON value.
func readJSON(ctx context.Context, conn *pgxpool.Conn, into any, sql string, args ...any) error {
	var batch pgx.Batch
	batch.Queue(pathSQL)
	batch.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return scanJSON(row, into) })
	return conn.SendBatch(ctx, &batch).Close()
}

// schemasOf reads a search_path as Postgres does (SplitIdentifierString), "$user" being the user's
// own schema. pg_temp is left out, and so is pg_catalog where it is first, as it always is.
func schemasOf(path, user string) []string {
	var list []string
	for len(path) > 0 {
		var name string
		name, path = nextName(path)
		if name == "$user" {
			name = user
		}
		if name != "" && name != "pg_temp" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > 0 && list[0] == catalogSchema {
		return list[1:]
	}
	return list
}

// nextName gives the first name of a list and what comes behind its comma.
func nextName(list string) (name, rest string) {
	list = strings.TrimLeft(list, " \t\n\r\f\v")
	if !strings.HasPrefix(list, `"`) {
		name, rest, _ = strings.Cut(list, ",")
		return strings.ToLower(strings.TrimSpace(name)), rest
	}
	var b strings.Builder
	for i := 1; i < len(list); i++ {
		switch {
		case list[i] != '"':
			b.WriteByte(list[i])
		case i+1 < len(list) && list[i+1] == '"':
			b.WriteByte('"')
			i++
		default:
			_, rest, _ = strings.Cut(list[i+1:], ",")
			return b.String(), rest
		}
	}
	return b.String(), ""
}

func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && s != catalogSchema && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// typeSchemas gives the schemas outside pg_catalog of the columns' types.
func typeSchemas(types []policy.Type) []string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = t.Schema
	}
	return list
}
