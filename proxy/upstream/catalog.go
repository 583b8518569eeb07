package upstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/policy"
)

// schemaTime bounds one reading of the catalog.
const schemaTime = 10 * time.Second

// pathSQL has the catalog's functions print every name that is not pg_catalog's with its
// schema, whatever the session's path is. Compiling the query costs a second of the database's
// processor, and running it some milliseconds.
const pathSQL = `SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('jit', 'off', true)`

// schemaSQL reads the tables named by $1[i].$2[i] in one statement, and so in one
// snapshot: a table and its columns are of the same moment. $3[i] is the scope column.
// A column is not_null if it is so in all tables that inherit from the table: each may allow
// NULL for itself. Of a foreign table Postgres does not check it. OFFSET 0 has it use the index
// of pg_inherits.
const schemaSQL = `SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
  'schema', n.nspname, 'name', c.relname, 'oid', c.oid::int8,
  'columns', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', a.attname, 'type_schema', tn.nspname, 'type', t.typname,
      'element_schema', en.nspname, 'element', e.typname, 'not_null', a.attnotnull AND NOT kin.far AND a.attname <> ALL (kin.nullable),
      'base_schema', bn.nspname, 'base', b.typname,
      'collation', CASE WHEN a.attcollation <> coalesce(b.typcollation, t.typcollation) THEN (SELECT pg_catalog.format('%I.%I', cn.nspname, co.collname)
        FROM pg_catalog.pg_collation AS co JOIN pg_catalog.pg_namespace AS cn ON cn.oid = co.collnamespace WHERE co.oid = a.attcollation) ELSE '' END,
      'spans', a.atttypmod >= 0 AND (a.atttypmod >> 16) & 32767 <> 32767 AND a.atttypid IN ('pg_catalog.interval'::pg_catalog.regtype, 'pg_catalog.interval[]'::pg_catalog.regtype),
      'identity', a.attidentity <> '', 'virtual', a.attgenerated = 'v', 'generated', a.attgenerated <> '',
      'down', CASE WHEN tn.nspname <> 'pg_catalog' THEN (WITH RECURSIVE down AS (
          SELECT 0 AS depth, t.*
          UNION ALL SELECT depth + 1, u.* FROM down JOIN pg_catalog.pg_type AS u ON u.oid = CASE
            WHEN down.typtype = 'd' THEN down.typbasetype WHEN down.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc THEN down.typelem END
        ) SELECT pg_catalog.json_agg(pg_catalog.json_build_object('oid', down.oid::int8, 'kind', down.typtype, 'schema', dn.nspname, 'name', down.typname,
            'array_oid', coalesce(da.oid, 0)::int8, 'array', coalesce(da.typname, '')) ORDER BY depth)
        FROM down JOIN pg_catalog.pg_namespace AS dn ON dn.oid = down.typnamespace LEFT JOIN pg_catalog.pg_type AS da ON da.oid = down.typarray) END,
      'unreadable', NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'),
      'no_insert', NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'INSERT'), 'no_update', NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'UPDATE'),
      'loose', EXISTS (SELECT FROM pg_catalog.pg_collation AS co WHERE co.oid = a.attcollation AND NOT co.collisdeterministic)) ORDER BY a.attnum), '[]')
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
    LEFT JOIN LATERAL (WITH RECURSIVE down AS (
        SELECT t.typtype, t.typbasetype, t.typcollation, t.typname, t.typnamespace
        UNION ALL SELECT u.typtype, u.typbasetype, u.typcollation, u.typname, u.typnamespace FROM down JOIN pg_catalog.pg_type AS u ON u.oid = down.typbasetype
      ) SELECT * FROM down WHERE t.typtype = 'd' AND down.typtype <> 'd') AS b ON true
    LEFT JOIN pg_catalog.pg_namespace AS bn ON bn.oid = b.typnamespace
    LEFT JOIN pg_catalog.pg_type AS e ON e.oid = t.typelem AND t.typelem <> 0
    LEFT JOIN pg_catalog.pg_namespace AS en ON en.oid = e.typnamespace
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'keys', (SELECT coalesce(pg_catalog.json_agg((
      SELECT pg_catalog.json_agg(coalesce(ka.attname, '') ORDER BY k.at)
      FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, at)
      LEFT JOIN pg_catalog.pg_attribute AS ka ON ka.attrelid = c.oid AND ka.attnum = k.attnum AND k.attnum <> 0
      WHERE k.at <= i.indnkeyatts) ORDER BY ic.relname), '[]')
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS ic ON ic.oid = i.indexrelid
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indislive),
  'rls', ` + tableRLS + `
  ) ORDER BY n.nspname, c.relname), '[]')
FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[])) AS want(s, r, scope)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = want.s
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = want.r
CROSS JOIN LATERAL (WITH RECURSIVE part AS (
    SELECT c.oid UNION SELECT h.inhrelid FROM part CROSS JOIN LATERAL (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = part.oid OFFSET 0) AS h
  ) SELECT pg_catalog.array_agg(oid) AS oids FROM part) AS parts
CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS pc WHERE pc.oid = ANY (parts.oids) AND pc.relkind = 'f') AS far,
    ARRAY(SELECT pa.attname FROM pg_catalog.pg_attribute AS pa WHERE pa.attrelid = ANY (parts.oids) AND pa.attnum > 0 AND NOT pa.attnotnull
      UNION ALL SELECT pa.attname FROM pg_catalog.pg_constraint AS k JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = k.conrelid AND pa.attnum = ANY (k.conkey)
      WHERE k.conrelid = ANY (parts.oids) AND k.contype = 'n' AND NOT k.convalidated) AS nullable) AS kin
WHERE c.relkind IN ('r', 'p', 'f')`

// catalogTable is a table as schemaSQL writes it.
type catalogTable struct {
	Schema  string          `json:"schema"`
	Name    string          `json:"name"`
	OID     uint32          `json:"oid"`
	Columns []catalogColumn `json:"columns"`
	Keys    [][]string      `json:"keys"`
	RLS     rlsOfTable      `json:"rls"`
}

type catalogColumn struct {
	Name          string `json:"name"`
	TypeSchema    string `json:"type_schema"`
	Type          string `json:"type"`
	ElementSchema string `json:"element_schema"`
	Element       string `json:"element"`
	BaseSchema    string `json:"base_schema"`
	Base          string `json:"base"`
	NotNull       bool   `json:"not_null"`
	Spans         bool   `json:"spans"`
	Identity      bool   `json:"identity"`
	Unreadable    bool   `json:"unreadable"`
	NoInsert      bool   `json:"no_insert"`
	NoUpdate      bool   `json:"no_update"`
	Collation     string `json:"collation"`
	Virtual       bool   `json:"virtual"`
	Generated     bool   `json:"generated"`
	Loose         bool   `json:"loose"`
	Down          []step `json:"down"` // from a type outside pg_catalog to what it rests on
}

// step is a type on the way from a domain to what it is over, and from an array to its
// elements. Its own array has the same schema.
type step struct {
	OID      uint32 `json:"oid"`
	Kind     string `json:"kind"` // pg_type.typtype
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	ArrayOID uint32 `json:"array_oid"`
	Array    string `json:"array"`
}

// Schema reads the named tables that exist, ordered by schema and name, the types outside
// pg_catalog that their columns have, an array's element type with the array's, and whether
// row-level security stands behind each (catalog_wall.go). Ordinary, partitioned and foreign tables
// count. A view is absent as if it did not exist: what it reads cannot be restricted from
// outside it. The error is an *proxy.Error.
func (p *Pool) Schema(ctx context.Context, tables []policy.TableName) (policy.Schema, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	l, err := p.acquireOwn(ctx)
	if err != nil {
		return policy.Schema{}, err
	}
	defer p.release(l, ownTurn)
	read, err := p.readAll(ctx, l.conn, tables)
	if err != nil {
		return policy.Schema{}, err
	}
	p.descriptions.see(read.rows, namesRead{read.path, read.schema.Namesakes})
	tried, err := p.tryWall(ctx, l.conn, read.role)
	if err != nil {
		p.cfg.Recorder.UpstreamError(classConnect)
		return policy.Schema{}, unavailable("the database's row-level security cannot be tried", err)
	}
	s := read.schema
	s.Tables = slices.Clone(s.Tables)
	for i := range s.Tables {
		p.judge(&s.Tables[i], read.rows[i].RLS, tried)
	}
	attachFindings(read.findings, s.Tables)
	p.path.found.Store(&read.path)
	return s, nil
}

// Adopted has statements find names where the schema that was given last says.
func (p *Pool) Adopted() {
	if found := p.path.found.Load(); found != nil && p.path.adopt(*found) {
		p.replace()
		p.log.Info("statements find functions and operators where the application does", "search_path", *found)
	}
}

// readAll reads the catalog, where it is not as it was when it was last read (catalog_sign.go).
func (p *Pool) readAll(ctx context.Context, conn *pgxpool.Conn, tables []policy.TableName) (*catalogRead, error) {
	sign, err := readSign(ctx, conn)
	scopes := p.scopes(tables)
	if last := p.lastRead.Load(); err == nil && last.holds(sign, tables, scopes) {
		return last, nil
	}
	read := &catalogRead{sign: sign, at: time.Now(), tables: slices.Clone(tables), scopes: scopes}
	var owners []owner
	if err == nil {
		read.rows, owners, read.role, err = p.readCatalog(ctx, conn, tables)
	}
	if err == nil {
		read.schema = asSchema(read.rows)
		read.path, err = p.readNames(ctx, conn, &read.schema, owners, tables)
	}
	if err != nil {
		p.cfg.Recorder.UpstreamError(classConnect)
		return nil, unavailable("the database's catalog cannot be read", err)
	}
	if read.findings, err = p.find(ctx, conn); err != nil {
		p.cfg.Recorder.UpstreamError(classConnect)
		return nil, unavailable("what stands behind the database's tables cannot be read", err)
	}
	p.lastRead.Store(read)
	return read, nil
}

// judge says of a table whether it is Walled.
func (p *Pool) judge(t *policy.Table, rls rlsOfTable, tried tried) {
	scope := p.cfg.Wall.Scopes[policy.TableName{Schema: t.Schema, Name: t.Name}]
	t.Dark = rls.dark(tried.blind)
	switch {
	case p.cfg.Wall.Key != nil:
		t.Lacks = cmp.Or(tried.lacks, rls.lacks(scope))
		t.Walled = t.Lacks == ""
	case t.Dark:
		t.Lacks = "this service signs nothing, because row-level security is off here (--rls), and on in the database"
	}
}

// readCatalog reads the tables and what the role may, in one transaction.
func (p *Pool) readCatalog(ctx context.Context, conn *pgxpool.Conn, tables []policy.TableName) (rows []catalogTable, owners []owner, role rlsOfRole, err error) {
	schemas, names := make([]string, len(tables)), make([]string, len(tables))
	for i, t := range tables {
		schemas[i], names[i] = t.Schema, t.Name
	}
	var batch pgx.Batch
	batch.Queue(pathSQL)
	batch.Queue(schemaSQL, schemas, names, p.scopes(tables)).QueryRow(func(row pgx.Row) error { return scanJSON(row, &rows) })
	batch.Queue(ownersSQL, schemas, names).QueryRow(func(row pgx.Row) error { return scanJSON(row, &owners) })
	batch.Queue(roleRLS).QueryRow(func(row pgx.Row) error { return scanJSON(row, &role) })
	return rows, owners, role, conn.SendBatch(ctx, &batch).Close()
}

// scopes gives the tables' scope columns.
func (p *Pool) scopes(tables []policy.TableName) []string {
	scopes := make([]string, len(tables))
	for i, t := range tables {
		scopes[i] = p.cfg.Wall.Scopes[t]
	}
	return scopes
}

func scanJSON(row pgx.Row, into any) error {
	var text []byte
	if err := row.Scan(&text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading the catalog: %w", err)
	}
	return nil
}

func asSchema(rows []catalogTable) policy.Schema {
	var s policy.Schema
	for _, r := range rows {
		t := policy.Table{Schema: r.Schema, Name: r.Name, OID: r.OID, Keys: r.Keys}
		for _, c := range r.Columns {
			t.Columns = append(t.Columns, policy.Column{Name: c.Name, TypeSchema: c.TypeSchema, TypeName: c.Type, Base: policy.Type{Schema: c.BaseSchema, Name: c.Base}, NotNull: c.NotNull, Unreadable: c.Unreadable, NoInsert: c.NoInsert, NoUpdate: c.NoUpdate, Collation: c.Collation, Virtual: c.Virtual, Generated: c.Generated, Identity: c.Identity, Loose: c.Loose, Spans: c.Spans})
			s.Types = addType(s.Types, c.TypeSchema, c.Type)
			s.Types = addType(s.Types, c.ElementSchema, c.Element)
			s.Given = addGiven(s.Given, c.Down)
		}
		s.Tables = append(s.Tables, t)
	}
	slices.SortFunc(s.Types, func(a, b policy.Type) int {
		if d := strings.Compare(a.Schema, b.Schema); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	s.Types = slices.Compact(s.Types)
	slices.SortFunc(s.Given, func(a, b policy.GivenType) int { return cmp.Compare(a.OID, b.OID) })
	s.Given = slices.Compact(s.Given)
	return s
}

// addGiven adds the types on a column's way down that parameters may be given, and their arrays:
// beside a domain's column Postgres finds what the domain is over, in = ANY ($1) an array of it.
// What has fields is left out, and so are ranges.
func addGiven(given []policy.GivenType, down []step) []policy.GivenType {
	if len(down) == 0 {
		return given
	}
	last := down[len(down)-1]
	if last.Kind != "b" && last.Kind != "e" {
		return given
	}
	rests := policy.Type{Schema: last.Schema, Name: last.Name}
	for i, t := range down {
		if t.Schema == "pg_catalog" {
			continue
		}
		read := down[i+slices.IndexFunc(down[i:], func(t step) bool { return t.Kind != "d" })]
		own := policy.GivenType{OID: t.OID, Type: policy.Type{Schema: read.Schema, Name: read.Name}, Rests: rests}
		if t.Kind == "d" {
			own.Domain = policy.Type{Schema: t.Schema, Name: t.Name}
		}
		given = append(given, own)
		if t.ArrayOID != 0 {
			given = append(given, policy.GivenType{OID: t.ArrayOID, Type: policy.Type{Schema: t.Schema, Name: t.Array}, Rests: rests})
		}
	}
	return given
}

func addType(types []policy.Type, schema, name string) []policy.Type {
	if schema == "" || schema == "pg_catalog" {
		return types
	}
	return append(types, policy.Type{Schema: schema, Name: name})
}
