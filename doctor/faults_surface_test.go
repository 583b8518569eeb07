package doctor

var surfaceFaults = []fault{
	{name: "a function of a mighty owner", sql: `CREATE FUNCTION all_of_it() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'`, want: "leak surface-definer public.all_of_it()"},
	{name: "a function of another owner", sql: `CREATE FUNCTION part_of_it(OUT text, int DEFAULT 1) LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; ALTER FUNCTION part_of_it(int) OWNER TO @other`, want: "risk surface-definer public.part_of_it(OUT text, integer)"},
	{name: "a procedure", sql: `CREATE PROCEDURE act() LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER PROCEDURE act() OWNER TO @other`, want: "risk surface-definer public.act()"},
	{name: "a function that a policy allows", sql: `CREATE FUNCTION allowed() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'`, want: "leak surface-definer public.allowed()", left: "surface-definer"},
	{name: "functions that nobody reaches", sql: `CREATE SCHEMA far; CREATE FUNCTION far.f() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; CREATE FUNCTION g() RETURNS text LANGUAGE sql AS 'SELECT 1::text'`},
	{name: "an untrusted language", sql: `CREATE FUNCTION native(cstring) RETURNS int LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'`, want: "leak surface-language public.native(cstring)"},
	{name: "files", sql: `GRANT EXECUTE ON FUNCTION pg_read_file(text) TO @role`, want: "leak surface-restricted pg_catalog.pg_read_file(text)"},
	{name: "dblink", sql: `CREATE EXTENSION dblink`, want: "risk surface-extension dblink"},
	{name: "a harmless extension", sql: `CREATE EXTENSION pg_trgm`},
	{name: "a foreign server", sql: `CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN SERVER s TO @role`, want: "risk surface-server s"},
	{name: "statements", sql: `CREATE EXTENSION pg_stat_statements; REVOKE SELECT ON pg_stat_statements_info FROM PUBLIC`, want: "leak surface-statements public.pg_stat_statements"},
	{name: "a leakproof function", sql: `CREATE FUNCTION sure(text) RETURNS bool LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT true'`, want: "risk surface-leakproof public.sure(text)"},
	{name: "a function of Postgres made leakproof", sql: `ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF`, want: "leak surface-leakproof pg_catalog.textlike(text, text)", open: "public.orders public.items", says: "which Postgres itself does not mark so"},
	{name: "a cast", sql: `CREATE FUNCTION number(text) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE CAST (text AS int) WITH FUNCTION number(text) AS IMPLICIT`, want: "risk surface-cast text AS integer"},
	{name: "an operator", sql: `CREATE FUNCTION same(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR public.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = same); ALTER OPERATOR public.=== (text, text) OWNER TO @other`,
		want: "note surface-operator public.===(text, text)", left: "surface-operator"},
}
