package wall

// view is the query of the view Server. It has one row, the id of the server that the
// transaction's Setting names, where Signature is that of one of the keys; whatever else the
// settings hold, it has none, and no error (a text that can't be written in UTF-8 is one,
// where the database's encoding is another). An empty id is NULL: no server has it, whoever
// signed it.
//
// The signature is made anew from the id and compared whole, so there is nothing to parse
// that could fail, and no other form of it is taken. A key counts in Keys alone: what
// inherits from that has rights of its own.
//
// It is for the policies, which ask it for the id and nothing else. Who asks more of it can
// have a condition of his own, one without a column, set another id after the signature
// was looked at: what he is told then is what he set.
//
// It is evaluated once for each scoped table of each statement, and written for that. A view
// reads with its owner's rights at no cost, where a SECURITY DEFINER function, which this was
// once, has Postgres change the user, start a language and run a statement in a statement:
// 81,000 instructions to the view's 57,000, as valgrind counts them. Two settings are
// cheaper than one to take apart, by 8,000. NULLIF is 1,800 of them.
//
// Names are resolved when the view is made, and say their schemas all the same. NULLIF can't
// for its operator: Objects has a search path on which nothing stands in for it.
const view = `SELECT NULLIF(pg_catalog.current_setting('` + Setting + `', true), '') AS id
    FROM ONLY ` + Keys + ` AS k
    WHERE pg_catalog.encode(pg_catalog.sha256(k."outer" OPERATOR(pg_catalog.||) pg_catalog.sha256(k."inner" OPERATOR(pg_catalog.||)
        pg_catalog.convert_to(pg_catalog.current_setting('` + Setting + `', true), 'UTF8'))), 'hex') OPERATOR(pg_catalog.=) pg_catalog.current_setting('` + Signature + `', true)`

// Objects makes Keys, with no key in it, Database and Server in the schema, which must be
// there. It can be run again: the keys and the database's id stay, and the view is made
// as it is here, if it is not: to replace it waits for all statements. Nobody but their
// owner may use them; who may read the view is granted after. The search path is
// pg_catalog, pg_temp from then on until the transaction ends.
//
// A key is kept as what Pads gives. Two are valid while one is being replaced; were they
// equal, the view would have two rows, and every statement an error. That is refused by a
// digest of theirs, since Postgres writes what is there twice into its log.
const Objects = `SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
CREATE TABLE IF NOT EXISTS ` + Keys + ` (
    id      integer PRIMARY KEY,
    "inner" bytea NOT NULL,
    "outer" bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT keys_id_positive CHECK (id > 0),
    CONSTRAINT keys_pads_shape CHECK (octet_length("inner") = 64 AND octet_length("outer") = 64)
);
REVOKE ALL ON ` + Keys + ` FROM PUBLIC;
CREATE TABLE IF NOT EXISTS ` + Database + ` (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid NOT NULL DEFAULT gen_random_uuid()
);
REVOKE ALL ON ` + Database + ` FROM PUBLIC;
INSERT INTO ` + Database + ` DEFAULT VALUES ON CONFLICT DO NOTHING;
CREATE UNIQUE INDEX IF NOT EXISTS keys_differ ON ` + Keys + ` (sha256("inner"));
DO $do$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass('` + Server + `') AND ` + Barrier + ` AND NOT ` + Invoker + ` AND ` + Defined + `) THEN
        CREATE OR REPLACE VIEW ` + Server + ` WITH (security_barrier = true) AS ` + view + `;
    END IF;
END $do$;
REVOKE ALL ON ` + Server + ` FROM PUBLIC;
`

// Until version 00003 of the bundled tables a function of the view's name did the view's work. Who has
// tables of their own may have policies that call it: there it stays, and gives NULL.
const (
	former = Server + `()`
	// MakeFormer has the migration that names the function, the second, find one. It gives
	// no server.
	MakeFormer = `DO $$ BEGIN
    IF to_regclass('public.tenantgate_migrations') IS NOT NULL THEN
        IF EXISTS (SELECT FROM public.tenantgate_migrations WHERE version_id >= 2) THEN RETURN; END IF;
    END IF;
    IF to_regprocedure('` + former + `') IS NULL THEN
        CREATE FUNCTION ` + former + ` RETURNS text LANGUAGE sql AS 'SELECT NULL::pg_catalog.text';
        REVOKE ALL ON FUNCTION ` + former + ` FROM PUBLIC;
    END IF;
END $$`
	// DropFormer ends the function. If something depends on it, it gives no server from then
	// on, and reads no key.
	DropFormer = `DO $$ BEGIN
    DROP FUNCTION IF EXISTS ` + former + `;
EXCEPTION WHEN dependent_objects_still_exist THEN
    CREATE OR REPLACE FUNCTION ` + former + ` RETURNS text LANGUAGE sql AS 'SELECT NULL::pg_catalog.text';
END $$`
)
