package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/policy"
)

// namesakesSQL reads the functions and operators of the schemas $1 that have the name of one in
// pg_catalog. An operand is easy if its type is pg_catalog's, or what such types are converted to
// unasked.
const namesakesSQL = `WITH found AS (
  SELECT p.oid AS func, NULL::oid AS op, p.pronamespace AS schema, p.proname AS name, p.proargtypes::oid[] AS operands, p.pronargdefaults > 0 OR p.provariadic <> 0
    OR NOT EXISTS (SELECT FROM pg_catalog.pg_proc AS b WHERE b.proname = p.proname AND b.pronamespace = 'pg_catalog'::pg_catalog.regnamespace AND b.pronargs = p.pronargs) AS odd
  FROM pg_catalog.pg_proc AS p
  WHERE p.pronamespace IN (SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname = ANY ($1::text[]))
    AND EXISTS (SELECT FROM pg_catalog.pg_proc AS b WHERE b.proname = p.proname AND b.pronamespace = 'pg_catalog'::pg_catalog.regnamespace)
  UNION ALL
  SELECT o.oprcode, o.oid, o.oprnamespace, o.oprname, pg_catalog.array_remove(ARRAY[o.oprleft, o.oprright], 0),
    NOT EXISTS (SELECT FROM pg_catalog.pg_operator AS b WHERE b.oprname = o.oprname AND b.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace AND b.oprkind = o.oprkind)
  FROM pg_catalog.pg_operator AS o
  WHERE o.oprnamespace IN (SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname = ANY ($1::text[]))
    AND EXISTS (SELECT FROM pg_catalog.pg_operator AS b WHERE b.oprname = o.oprname AND b.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace)
) SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('schema', n.nspname, 'name', f.name, 'operator', f.op IS NOT NULL,
    'text', CASE WHEN f.op IS NULL THEN f.func::pg_catalog.regprocedure::text ELSE f.op::pg_catalog.regoperator::text END,
    'function_schema', pn.nspname, 'function', p.proname, 'definer', p.prosecdef, 'leakproof', p.proleakproof, 'odd', f.odd,
    'extension', (SELECT x.extname FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS x ON x.oid = d.refobjid
      WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass),
    'operands', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('schema', tn.nspname, 'name', t.typname, 'easy', tn.nspname = 'pg_catalog' OR EXISTS (
        SELECT FROM pg_catalog.pg_cast AS c JOIN pg_catalog.pg_type AS s ON s.oid = c.castsource
        WHERE c.casttarget = t.oid AND c.castcontext = 'i' AND s.typnamespace = 'pg_catalog'::pg_catalog.regnamespace)) ORDER BY a.at)
      FROM pg_catalog.unnest(f.operands) WITH ORDINALITY AS a(typ, at) JOIN pg_catalog.pg_type AS t ON t.oid = a.typ JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace)
  ) ORDER BY f.op IS NOT NULL, n.nspname, f.name, f.func, f.op), '[]')
FROM found AS f JOIN pg_catalog.pg_namespace AS n ON n.oid = f.schema JOIN pg_catalog.pg_proc AS p ON p.oid = f.func JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.pronamespace`

// bareSQL gives which tables, views and the like the names $1 mean without a schema, where Postgres
// looks in the schemas $2 in their order.
const bareSQL = `SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('Schema', schema, 'Name', name) ORDER BY name), '[]') FROM (
  SELECT DISTINCT ON (c.relname) n.nspname AS schema, c.relname AS name
  FROM unnest($2::text[]) WITH ORDINALITY AS path(s, at) JOIN pg_catalog.pg_namespace AS n ON n.nspname = path.s
  JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
  WHERE c.relname = ANY ($1::text[]) ORDER BY c.relname, path.at) AS bare`

// catalogNamesake is a namesake as namesakesSQL writes it.
type catalogNamesake struct {
	Schema         string    `json:"schema"`
	Name           string    `json:"name"`
	Operator       bool      `json:"operator"`
	Text           string    `json:"text"`
	FunctionSchema string    `json:"function_schema"`
	Function       string    `json:"function"`
	Definer        bool      `json:"definer"`
	Leakproof      bool      `json:"leakproof"`
	Odd            bool      `json:"odd"`
	Extension      string    `json:"extension"`
	Operands       []operand `json:"operands"`
}

func (n catalogNamesake) asNamesake(lacks string) policy.Namesake {
	out := policy.Namesake{
		Operator: n.Operator, Schema: n.Schema, Name: n.Name, Text: n.Text, Function: policy.FunctionName{Schema: n.FunctionSchema, Name: n.Function},
		Definer: n.Definer, Leakproof: n.Leakproof, Odd: n.Odd, Extension: n.Extension, Lacks: lacks,
	}
	for _, o := range n.Operands {
		t := policy.Type{Schema: o.Schema, Name: o.Name}
		out.Operands = append(out.Operands, t)
		if !o.Easy {
			out.Own = append(out.Own, t)
		}
	}
	return out
}

// fitsOwn tells what can be meant for values of a type of its own.
func (n *catalogNamesake) fitsOwn() bool {
	n.Odd = false
	return slices.ContainsFunc(n.Operands, func(o operand) bool { return !o.Easy })
}

// operand is one of a namesake's; easy, where a value of pg_catalog's types can be it unasked.
type operand struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Easy   bool   `json:"easy"`
}

// readNames adds to a schema what names the application finds beyond pg_catalog, and gives the
// search_path that statements can have of the application's.
func (p *Pool) readNames(ctx context.Context, conn *pgxpool.Conn, s *policy.Schema, owners []owner, tables []policy.TableName) (path string, err error) {
	found, err := p.path.find(ctx, conn, owners, typeSchemas(s.Types))
	if err != nil {
		return "", fmt.Errorf("reading the schemas: %w", err)
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	var list []catalogNamesake
	var bare []policy.TableName
	var batch pgx.Batch
	batch.Queue(pathSQL)
	batch.Queue(namesakesSQL, found.schemas).QueryRow(func(row pgx.Row) error { return scanJSON(row, &list) })
	batch.Queue(bareSQL, names, found.bare).QueryRow(func(row pgx.Row) error { return scanJSON(row, &bare) })
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return "", fmt.Errorf("reading the names: %w", err)
	}
	for _, n := range list {
		if found.apart[n.Schema] && !n.fitsOwn() {
			continue
		}
		s.Namesakes = append(s.Namesakes, n.asNamesake(found.lacks[n.Schema]))
	}
	s.Bare = bare
	return found.text, nil
}
