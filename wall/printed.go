package wall

// What Postgres 15 to 18 print of the wall, which is all that a database tells of it: what it
// keeps are trees. Both say each schema but pg_catalog's where the search path is
// pg_catalog, pg_temp. Neither tells what somebody put into pg_catalog, before it on the
// path or behind a cast from what is meant: that is in pg_depend, where Postgres notes what
// is not its own.

// Printed is Expression on a column as pg_get_expr prints it. It is a query of one text, to
// stand where a is the column's row of pg_attribute.
const Printed = `SELECT CASE
      WHEN t.oid = 'pg_catalog.text'::pg_catalog.regtype THEN '(' || col || E' = ( SELECT server.id\n   FROM ` + Server + `))'
      WHEN t.oid = 'pg_catalog.varchar'::pg_catalog.regtype THEN '((' || col || E')::text = (( SELECT (server.id)::character varying AS id\n   FROM ` + Server + `))::text)'
      ELSE '(' || col || CASE tn.nspname WHEN 'pg_catalog' THEN ' = ' ELSE ' OPERATOR(' || pg_catalog.quote_ident(tn.nspname) || '.=) ' END
        || '( SELECT (server.id)::' || pg_catalog.format_type(t.oid, -1) || E' AS id\n   FROM ` + Server + `))' END
    FROM pg_catalog.pg_type AS t
    JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
    CROSS JOIN LATERAL (SELECT pg_catalog.quote_ident(a.attname)) AS q(col)
    WHERE t.oid = a.atttypid`

// Alone is that a policy p runs no function that somebody made. A cast is one, and does not
// show in what is printed.
const Alone = `NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.objid = p.oid
    AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass)`

// What there is to know of the relation Server, the row c of pg_class: that it evaluates its
// own condition before its reader's, that it reads the keys as its reader, and that its
// query is Objects'. Up to Postgres 15 a column is printed with its table's name.
const (
	Barrier = `EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS o WHERE o.option_name = 'security_barrier' AND o.option_value::pg_catalog.bool)`
	Invoker = `EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS o WHERE o.option_name = 'security_invoker' AND o.option_value::pg_catalog.bool)`
	Defined = `(c.relkind = 'v' AND pg_catalog.replace(pg_catalog.pg_get_viewdef(c.oid), 'k."', '"') = $view$` + printedView + `$view$
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
      WHERE r.ev_class = c.oid AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS read WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = read.oid
        AND (read.oid = c.oid OR read.relname = 'keys' AND read.relnamespace = c.relnamespace))))`
)

// printedView is the view's query as pg_get_viewdef prints it.
const printedView = ` SELECT NULLIF(current_setting('` + Setting + `'::text, true), ''::text) AS id
   FROM ONLY ` + Keys + ` k
  WHERE (encode(sha256(("outer" || sha256(("inner" || convert_to(current_setting('` + Setting + `'::text, true), 'UTF8'::name))))), 'hex'::text) = current_setting('` + Signature + `'::text, true));`
