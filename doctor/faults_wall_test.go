package doctor

const (
	again  = `CREATE POLICY tenantgate_server ON orders `
	remade = `CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER `
)

// secrets makes the control store's table of secrets in the database of the tests.
const secrets = `CREATE SCHEMA tenantgate; CREATE TABLE tenantgate.wall_keys (id int, secret bytea); GRANT USAGE ON SCHEMA tenantgate TO @role; `

var wallFaults = []fault{
	{name: "no wall", sql: `DROP POLICY tenantgate_server ON orders; ALTER TABLE orders DISABLE ROW LEVEL SECURITY`, want: "leak wall-missing public.orders", open: "public.orders"},
	{name: "no wall at all", sql: `DROP SCHEMA tenantgate_wall CASCADE; ALTER TABLE orders DISABLE ROW LEVEL SECURITY; ALTER TABLE items DISABLE ROW LEVEL SECURITY; DROP POLICY reports ON orders`,
		want: "leak function-missing tenantgate_wall.server()\nleak wall-missing public.items\nleak wall-missing public.orders", open: "public.orders public.items", left: "function-missing\nwall-missing\nwall-missing"},
	{name: "before the migration", mend: true, sql: `DROP SCHEMA tenantgate_wall CASCADE; ALTER TABLE orders DISABLE ROW LEVEL SECURITY; GRANT SELECT ON unnamed TO @role`,
		want: "leak function-missing tenantgate_wall.server()\nleak wall-missing public.orders\nrisk wall-policy public.items\nrisk grants-unnamed public.unnamed", says: `which "tenantgate migrate" makes`,
		open: "public.orders public.items", left: "function-missing\nwall-missing\nwall-policy"},
	{name: "switched off", sql: `ALTER TABLE orders DISABLE ROW LEVEL SECURITY`, want: "leak wall-off public.orders", open: "public.orders"},
	{name: "no policy", sql: `DROP POLICY tenantgate_server ON orders`, want: "risk wall-policy public.orders", open: "public.orders"},
	{name: "another condition", sql: `ALTER POLICY tenantgate_server ON orders USING (server_id = current_setting('tenantgate.server'))`, want: "leak wall-expression public.orders", open: "public.orders"},
	{name: "another check", sql: `ALTER POLICY tenantgate_server ON orders WITH CHECK (true)`, want: "leak wall-expression public.orders", open: "public.orders"},
	{name: "another column", sql: `ALTER POLICY tenantgate_server ON orders USING (id = (SELECT tenantgate_wall.server()))`, want: "leak wall-expression public.orders", open: "public.orders"},
	{name: "another operator", sql: `CREATE FUNCTION yes(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = yes);
		ALTER POLICY tenantgate_server ON orders USING (server_id OPERATOR(public.=) (SELECT tenantgate_wall.server()))`, want: "leak wall-expression public.orders", open: "public.orders"},
	{name: "another command", sql: `DROP POLICY tenantgate_server ON orders; ` + again + `FOR UPDATE TO @role USING (@expression) WITH CHECK (@expression)`, want: "risk wall-command public.orders", open: "public.orders"},
	{name: "another role", sql: `ALTER POLICY tenantgate_server ON orders TO @other`, want: "risk wall-role public.orders", open: "public.orders"},
	{name: "everybody", sql: `ALTER POLICY tenantgate_server ON orders TO PUBLIC`},
	{name: "restrictive", sql: `DROP POLICY tenantgate_server ON orders; ` + again + `AS RESTRICTIVE TO @role USING (@expression) WITH CHECK (@expression)`, want: "risk wall-restrictive public.orders", open: "public.orders"},
	{name: "a further policy", sql: `CREATE POLICY more ON orders FOR SELECT USING (total > 0)`, want: "leak wall-further more on public.orders", open: "public.orders"},
	{name: "a further policy for the role", sql: `CREATE POLICY more ON items TO @role USING (true)`, want: "leak wall-further more on public.items", open: "public.items"},
	{name: "a further policy that restricts", sql: `CREATE POLICY more ON orders AS RESTRICTIVE FOR SELECT USING (total > 0)`},
	{name: "a foreign table", sql: `DROP TABLE items; CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE items (server_id text NOT NULL) SERVER s; GRANT SELECT, INSERT, UPDATE, DELETE ON items TO @role`,
		want: "leak wall-foreign public.items", open: "public.items", left: "wall-foreign"},
	{name: "others without a policy", sql: `DROP POLICY reports ON orders`, want: "note wall-others public.orders"},
	{name: "one of two others without a policy", mend: true, undo: `DROP OWNED BY @db; DROP ROLE @db`, want: "note wall-others public.orders",
		sql: `DROP POLICY reports ON orders; CREATE POLICY tenantgate_others ON orders TO @other USING (true) WITH CHECK (true); CREATE ROLE @db; GRANT SELECT ON orders TO @db`},
	{name: "forced", sql: `ALTER TABLE orders FORCE ROW LEVEL SECURITY`, want: "note wall-forced public.orders"},
	{name: "invoker", sql: `ALTER FUNCTION tenantgate_wall.server() SECURITY INVOKER`, want: "risk function-fails tenantgate_wall.server()\nrisk function-invoker tenantgate_wall.server()", open: "public.orders public.items"},
	{name: "no path", sql: remade + `AS 'BEGIN RETURN current_setting(''tenantgate.none'', true); END'`, want: "leak function-path tenantgate_wall.server()", open: "public.orders public.items"},
	{name: "another path", sql: remade + `SET search_path = public, pg_temp AS 'BEGIN RETURN current_setting(''tenantgate.none'', true); END'`, want: "leak function-path tenantgate_wall.server()", open: "public.orders public.items"},
	{name: "volatile", sql: `ALTER FUNCTION tenantgate_wall.server() IMMUTABLE`, want: "risk function-shape tenantgate_wall.server()", open: "public.orders public.items", left: "function-shape"},
	{name: "a member of the owner", sql: `CREATE ROLE @db; ALTER FUNCTION tenantgate_wall.server() OWNER TO @db; GRANT USAGE ON SCHEMA tenantgate_wall TO @db; GRANT SELECT ON tenantgate_wall.keys TO @db; GRANT @db TO @other; GRANT @other TO @role; ALTER POLICY reports ON orders TO pg_monitor; REVOKE SELECT ON orders FROM @other`,
		undo: `REVOKE @other FROM @role; DROP OWNED BY @db CASCADE; DROP ROLE @db`, want: "leak role-member @other", open: "public.orders public.items"},
	{name: "not executable", sql: `REVOKE EXECUTE ON FUNCTION tenantgate_wall.server() FROM @role`, want: "risk function-execute tenantgate_wall.server()", open: "public.orders public.items"},
	{name: "out of reach", sql: `REVOKE USAGE ON SCHEMA tenantgate_wall FROM @role`, want: "risk function-execute tenantgate_wall.server()", open: "public.orders public.items"},
	{name: "executable by everybody", sql: `GRANT EXECUTE ON FUNCTION tenantgate_wall.server() TO PUBLIC`, want: "note function-public tenantgate_wall.server()"},
	{name: "takes any id", sql: `CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT current_setting('tenantgate.server', true) $$`,
		want: "leak function-lies tenantgate_wall.server()", open: "public.orders public.items", left: "function-lies"},
	{name: "does not look at the signature", sql: `CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT nullif(split_part(current_setting('tenantgate.server', true), '.', 3), '') $$`,
		want: "leak function-lies tenantgate_wall.server()", open: "public.orders public.items", left: "function-lies"},
	{name: "an empty key", sql: `ALTER TABLE tenantgate_wall.keys DROP CONSTRAINT keys_pads_shape; UPDATE tenantgate_wall.keys SET "inner" = decode(repeat('36', 64), 'hex'), "outer" = decode(repeat('5c', 64), 'hex')`,
		want: "leak function-lies tenantgate_wall.server()", open: "public.orders public.items", left: "function-lies"},
	{name: "fails", sql: `CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT (1 / 0)::text $$`,
		want: "risk function-fails tenantgate_wall.server()", open: "public.orders public.items", left: "function-fails"},
	{name: "no table of keys", sql: `DROP TABLE tenantgate_wall.keys; CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT NULL::text $$`,
		want: "risk keys-missing tenantgate_wall.keys", open: "public.orders public.items", left: "keys-missing"},
	{name: "no keys", sql: `DELETE FROM tenantgate_wall.keys`, want: "risk keys-none tenantgate_wall.keys", open: "public.orders public.items", left: "keys-none"},
	{name: "keys to read", sql: `GRANT SELECT (id) ON tenantgate_wall.keys TO @role`, want: "leak keys-readable tenantgate_wall.keys", open: "public.orders public.items"},
	{name: "secrets to read", sql: secrets + `GRANT SELECT (secret) ON tenantgate.wall_keys TO @role`, want: "leak keys-readable tenantgate.wall_keys", open: "public.orders public.items"},
	{name: "secrets for everybody to write", sql: secrets + `GRANT DELETE ON tenantgate.wall_keys TO PUBLIC`, want: "leak keys-readable tenantgate.wall_keys", open: "public.orders public.items"},
	{name: "a view of the keys", sql: `CREATE VIEW k AS SELECT id, "inner" FROM tenantgate_wall.keys; CREATE VIEW tenantgate_wall.again WITH (security_invoker) AS SELECT * FROM k; CREATE VIEW tenantgate_wall.third AS SELECT * FROM tenantgate_wall.again; GRANT SELECT ON tenantgate_wall.third TO @role`,
		want: "leak keys-view tenantgate_wall.third", open: "public.orders public.items"},
	{name: "a copy of the secrets", sql: secrets + `CREATE MATERIALIZED VIEW k AS SELECT * FROM tenantgate.wall_keys; GRANT SELECT ON k TO PUBLIC`, want: "leak keys-view public.k", open: "public.orders public.items"},
	{name: "a view that reads the keys as its caller", sql: `CREATE VIEW k WITH (security_invoker) AS SELECT id FROM tenantgate_wall.keys; GRANT SELECT ON k TO @role`, want: "risk grants-unnamed public.k"},
	{name: "the secrets through a role", sql: secrets + `GRANT INSERT ON tenantgate.wall_keys TO @other; GRANT @other TO @role; REVOKE SELECT ON orders FROM @other; DROP POLICY reports ON orders`, undo: `REVOKE @other FROM @role`, want: "leak role-member @other\nrisk keys-others tenantgate.wall_keys", open: "public.orders public.items", says: "read or write tenantgate.wall_keys"},
	{name: "keys for others", sql: `GRANT SELECT ON tenantgate_wall.keys TO @other`, want: "risk keys-others tenantgate_wall.keys"},
	{name: "secrets for others", sql: secrets + `GRANT SELECT (secret) ON tenantgate.wall_keys TO @other`, want: "risk keys-others tenantgate.wall_keys"},
	{name: "keys out of reach", sql: `ALTER FUNCTION tenantgate_wall.server() OWNER TO @owner`, want: "risk function-fails tenantgate_wall.server()\nrisk keys-blind tenantgate_wall.keys", open: "public.orders public.items"},
}
