package doctor

const (
	// far makes a function that runs as its owner, in a schema that the role may not use.
	far = `CREATE SCHEMA far; CREATE FUNCTION far.f(text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; `
	// castToUUID makes a cast of somebody's own, and uuidWall a wall that needs one.
	castToUUID = `CREATE FUNCTION as_uuid(text) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'; CREATE CAST (text AS uuid) WITH FUNCTION as_uuid(text); `
	uuidWall   = `ALTER TABLE items DROP CONSTRAINT items_order; DROP POLICY tenantgate_server ON items; ALTER TABLE items ALTER server_id TYPE uuid USING gen_random_uuid();
		CREATE POLICY tenantgate_server ON items TO @role USING (server_id = (SELECT id::pg_catalog.uuid FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id::pg_catalog.uuid FROM tenantgate_wall.server))`
)

var surfaceFaults = []fault{
	{name: "a function of a mighty owner", sql: `CREATE FUNCTION all_of_it() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'`, want: "breach surface-definer public.all_of_it()"},
	{name: "a function of another owner", sql: `CREATE FUNCTION part_of_it(OUT text, int DEFAULT 1) LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; ALTER FUNCTION part_of_it(int) OWNER TO @other`, want: "risk surface-definer public.part_of_it(OUT text, integer)"},
	{name: "a procedure", sql: `CREATE PROCEDURE act() LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER PROCEDURE act() OWNER TO @other`, want: "risk surface-definer public.act()"},
	{name: "a function that a policy allows", sql: `CREATE FUNCTION allowed() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'`, want: "breach surface-definer public.allowed()", left: "surface-definer"},
	{name: "functions that nobody reaches", sql: `CREATE SCHEMA far; CREATE FUNCTION far.f() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; CREATE FUNCTION g() RETURNS text LANGUAGE sql AS 'SELECT 1::text'`},
	{name: "a function among the system's", sql: `CREATE FUNCTION pg_catalog.odd() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; CREATE FUNCTION information_schema.more() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; ALTER FUNCTION information_schema.more() OWNER TO @other`,
		want: "breach surface-definer pg_catalog.odd()\nrisk surface-definer information_schema.more()"},
	{name: "an operator of a function out of reach", sql: far + `CREATE OPERATOR public.@@@ (RIGHTARG = text, FUNCTION = far.f); ALTER FUNCTION far.f(text) OWNER TO @other`, want: "risk surface-through far.f(text)", says: "the operator public.@@@"},
	{name: "a cast by a function out of reach", sql: far + `CREATE TYPE shape AS ENUM ('a'); CREATE FUNCTION far.g(shape) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; CREATE CAST (shape AS text) WITH FUNCTION far.g(shape)`, want: "breach surface-through far.g(public.shape)"},
	{name: "an aggregate of a function out of reach", sql: `CREATE SCHEMA far; CREATE FUNCTION far.h(text, text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT $1'; REVOKE ALL ON FUNCTION far.h(text, text) FROM PUBLIC; CREATE AGGREGATE public.agg(text) (SFUNC = far.h, STYPE = text)`, want: "breach surface-through far.h(text, text)", says: "public.agg(text)"},
	{name: "a function that calls one out of reach", sql: far + `CREATE FUNCTION public.f(text) RETURNS text BEGIN ATOMIC SELECT far.f($1); END`, want: "breach surface-through far.f(text)", says: "public.f(text)"},
	{name: "an operator that calls one at a remove", sql: far + `CREATE FUNCTION far.g(text) RETURNS text BEGIN ATOMIC SELECT far.f($1); END; CREATE OPERATOR public.@@@ (RIGHTARG = text, FUNCTION = far.g)`, want: "breach surface-through far.f(text)", says: "the operator public.@@@"},
	{name: "an operator of a function that is kept", sql: far + `CREATE OPERATOR public.@@@ (RIGHTARG = text, FUNCTION = far.f); REVOKE ALL ON FUNCTION far.f(text) FROM PUBLIC; CREATE OPERATOR far.@@@@ (RIGHTARG = text, FUNCTION = far.f)`},
	{name: "an untrusted language", sql: `CREATE FUNCTION native(cstring) RETURNS int LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'`, want: "breach surface-language public.native(cstring)"},
	{name: "files", sql: `GRANT EXECUTE ON FUNCTION pg_read_file(text) TO @role`, want: "breach surface-restricted pg_catalog.pg_read_file(text)"},
	{name: "dblink", sql: `CREATE EXTENSION dblink`, want: "risk surface-extension dblink"},
	{name: "a harmless extension", sql: `CREATE EXTENSION pg_trgm`},
	{name: "a foreign server", sql: `CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN SERVER s TO @role`, want: "risk surface-server s"},
	{name: "statements", sql: `CREATE EXTENSION pg_stat_statements; REVOKE SELECT ON pg_stat_statements_info FROM PUBLIC`, want: "breach surface-statements public.pg_stat_statements"},
	{name: "a leakproof function", sql: `CREATE FUNCTION sure(text) RETURNS bool LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT true'`, want: "risk surface-leakproof public.sure(text)"},
	{name: "a function of Postgres made leakproof", sql: `ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF`, want: "breach surface-leakproof pg_catalog.textlike(text, text)", open: "public.orders public.items", says: "which no Postgres from 15 to 18 marks so"},
	{name: "a cast", sql: `CREATE FUNCTION number(text) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE CAST (text AS int) WITH FUNCTION number(text) AS IMPLICIT`, want: "risk surface-cast text AS integer"},
	{name: "a cast that is written", sql: castToUUID + uuidWall, want: "breach wall-function public.items\nrisk surface-cast text AS uuid", open: "public.items"},
	{name: "a cast that came after the wall", sql: uuidWall + ";" + castToUUID, want: "risk surface-cast text AS uuid"},
	{name: "a cast that no id goes through", sql: `CREATE FUNCTION number(text) RETURNS date LANGUAGE sql AS 'SELECT NULL::date'; CREATE CAST (text AS date) WITH FUNCTION number(text)`},
	{name: "an operator", sql: `CREATE FUNCTION same(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR public.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = same); ALTER OPERATOR public.=== (text, text) OWNER TO @other`,
		want: "note surface-operator public.===(text, text)", left: "surface-operator"},
}
