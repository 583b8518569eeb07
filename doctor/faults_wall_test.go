package doctor

const (
	again = `CREATE POLICY tenantgate_server ON orders `
	// remade makes the view anew, of another query.
	remade = `CREATE OR REPLACE VIEW tenantgate_wall.server WITH (security_barrier = true) AS `
	// anyServer makes one that takes what nobody signed.
	anyServer = remade + `SELECT nullif(current_setting('tenantgate.server', true), '') AS id`
	// claimed is the view's id, of a row of the keys, and made the signature that it should have.
	claimed = `SELECT NULLIF(current_setting('tenantgate.server', true), '') AS id FROM tenantgate_wall.keys AS k WHERE `
	made    = `encode(sha256(k."outer" || sha256(k."inner" || convert_to(current_setting('tenantgate.server', true), 'UTF8'))), 'hex')`
	// former is the function that was in the view's place, and the policy that called it.
	former = `CREATE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER AS 'BEGIN RETURN NULL; END'; `
)

// secrets makes the control store's table of secrets in the database of the tests.
const secrets = `CREATE SCHEMA tenantgate; CREATE TABLE tenantgate.wall_keys (id int, secret bytea); GRANT USAGE ON SCHEMA tenantgate TO @role; `

var wallFaults = []fault{
	{name: "no wall", sql: `DROP POLICY tenantgate_server ON orders; ALTER TABLE orders DISABLE ROW LEVEL SECURITY`, want: "breach wall-missing public.orders", open: "public.orders"},
	{name: "no wall at all", sql: `DROP SCHEMA tenantgate_wall CASCADE; ALTER TABLE orders DISABLE ROW LEVEL SECURITY; ALTER TABLE items DISABLE ROW LEVEL SECURITY; DROP POLICY reports ON orders`,
		want: "breach view-missing tenantgate_wall.server\nbreach wall-missing public.items\nbreach wall-missing public.orders", open: "public.orders public.items"},
	{name: "before the migration", mend: true, sql: `DROP SCHEMA tenantgate_wall CASCADE; ALTER TABLE orders DISABLE ROW LEVEL SECURITY; GRANT SELECT ON unnamed TO @role`,
		want: "breach view-missing tenantgate_wall.server\nbreach wall-missing public.orders\nrisk wall-policy public.items\nrisk grants-unnamed public.unnamed", says: `which "tenantgate migrate" creates`,
		open: "public.orders public.items"},
	{name: "switched off", sql: `ALTER TABLE orders DISABLE ROW LEVEL SECURITY`, want: "breach wall-off public.orders", open: "public.orders"},
	{name: "no policy", sql: `DROP POLICY tenantgate_server ON orders`, want: "risk wall-policy public.orders", open: "public.orders"},
	{name: "another condition", sql: `ALTER POLICY tenantgate_server ON orders USING (server_id = current_setting('tenantgate.server'))`, want: "breach wall-expression public.orders", open: "public.orders"},
	{name: "another check", sql: `ALTER POLICY tenantgate_server ON orders WITH CHECK (true)`, want: "breach wall-expression public.orders", open: "public.orders"},
	{name: "another column", sql: `ALTER POLICY tenantgate_server ON orders USING (id = (SELECT s.id FROM tenantgate_wall.server s))`, want: "breach wall-expression public.orders", open: "public.orders"},
	{name: "another operator", sql: `CREATE FUNCTION yes(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = yes);
		ALTER POLICY tenantgate_server ON orders USING (server_id OPERATOR(public.=) (SELECT id FROM tenantgate_wall.server))`, want: "breach wall-expression public.orders", open: "public.orders"},
	{name: "another command", sql: `DROP POLICY tenantgate_server ON orders; ` + again + `FOR UPDATE TO @role USING (@expression) WITH CHECK (@expression)`, want: "risk wall-command public.orders", open: "public.orders"},
	{name: "another role", sql: `ALTER POLICY tenantgate_server ON orders TO @other`, want: "risk wall-role public.orders", open: "public.orders"},
	{name: "everybody", sql: `ALTER POLICY tenantgate_server ON orders TO PUBLIC`},
	{name: "restrictive", sql: `DROP POLICY tenantgate_server ON orders; ` + again + `AS RESTRICTIVE TO @role USING (@expression) WITH CHECK (@expression)`, want: "risk wall-restrictive public.orders", open: "public.orders"},
	{name: "a further policy", sql: `CREATE POLICY more ON orders FOR SELECT USING (total > 0)`, want: "breach wall-further more on public.orders", open: "public.orders"},
	{name: "a further policy for the role", sql: `CREATE POLICY more ON items TO @role USING (true)`, want: "breach wall-further more on public.items", open: "public.items"},
	{name: "a further policy that restricts", sql: `CREATE POLICY more ON orders AS RESTRICTIVE FOR SELECT USING (total > 0)`},
	{name: "a foreign table", sql: `DROP TABLE items; CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE items (server_id text NOT NULL) SERVER s; GRANT SELECT, INSERT, UPDATE, DELETE ON items TO @role`,
		want: "breach wall-foreign public.items", open: "public.items", left: "wall-foreign"},
	{name: "a foreign table that inherits", sql: `CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE far () INHERITS (items) SERVER s`,
		want: "breach wall-foreign public.far", open: "public.items", left: "wall-foreign"},
	{name: "others without a policy", sql: `DROP POLICY reports ON orders`, want: "note wall-others public.orders"},
	{name: "one of two others without a policy", mend: true, undo: `DROP OWNED BY @db; DROP ROLE @db`, want: "note wall-others public.orders",
		sql: `DROP POLICY reports ON orders; CREATE POLICY tenantgate_others ON orders TO @other USING (true) WITH CHECK (true); CREATE ROLE @db; GRANT SELECT ON orders TO @db`},
	{name: "forced", sql: `ALTER TABLE orders FORCE ROW LEVEL SECURITY`, want: "note wall-forced public.orders"},
	{name: "another schema's view", sql: `CREATE SCHEMA "evil.tenantgate_wall"; CREATE VIEW "evil.tenantgate_wall".server AS SELECT ''::text AS id; ALTER POLICY tenantgate_server ON orders USING (server_id = (SELECT id FROM "evil.tenantgate_wall".server))`, want: "breach wall-expression public.orders", open: "public.orders"},
	{name: "the function of before", mend: true, sql: former + `GRANT EXECUTE ON FUNCTION tenantgate_wall.server() TO @role; ALTER POLICY tenantgate_server ON orders USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()))`,
		want: "breach wall-expression public.orders\nnote view-former tenantgate_wall.server()", open: "public.orders", left: "view-former"},
	{name: "invoker", sql: `ALTER VIEW tenantgate_wall.server SET (security_invoker = on)`, want: "risk view-fails tenantgate_wall.server\nrisk view-invoker tenantgate_wall.server", open: "public.orders public.items", mend: true},
	{name: "no barrier", sql: `ALTER VIEW tenantgate_wall.server SET (security_barrier = false)`, want: "risk view-barrier tenantgate_wall.server", open: "public.orders public.items", mend: true},
	{name: "another query", sql: remade + `SELECT current_setting('tenantgate.none', true) AS id`, want: "breach view-query tenantgate_wall.server", open: "public.orders public.items", left: "view-query"},
	{name: "no look at an empty id", sql: remade + `SELECT current_setting('tenantgate.server', true) AS id FROM tenantgate_wall.keys AS k WHERE ` + made + ` = current_setting('tenantgate.signature', true)`, want: "breach view-query tenantgate_wall.server", open: "public.orders public.items", left: "view-query"},
	{name: "an operator in the query that does not show", sql: `CREATE FUNCTION no(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false'; CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = no); SET search_path = public, pg_catalog; ` + remade + claimed + made + ` OPERATOR(pg_catalog.=) current_setting('tenantgate.signature', true)`,
		want: "breach view-query tenantgate_wall.server", open: "public.orders public.items", left: "view-query"},
	{name: "a member of the owner", sql: `CREATE ROLE @db; ALTER VIEW tenantgate_wall.server OWNER TO @db; GRANT USAGE ON SCHEMA tenantgate_wall TO @db; GRANT SELECT ON tenantgate_wall.keys TO @db; GRANT @db TO @other; GRANT @other TO @role; ALTER POLICY reports ON orders TO pg_monitor; REVOKE SELECT ON orders FROM @other`,
		undo: `REVOKE @other FROM @role; DROP OWNED BY @db CASCADE; DROP ROLE @db`, want: "breach role-member @other", open: "public.orders public.items"},
	{name: "not readable", sql: `REVOKE SELECT ON tenantgate_wall.server FROM @role`, want: "risk view-select tenantgate_wall.server", open: "public.orders public.items"},
	{name: "out of reach", sql: `REVOKE USAGE ON SCHEMA tenantgate_wall FROM @role`, want: "risk view-select tenantgate_wall.server", open: "public.orders public.items"},
	{name: "readable by everybody", sql: `GRANT SELECT ON tenantgate_wall.server TO PUBLIC`, want: "note view-others tenantgate_wall.server"},
	{name: "readable by others", sql: `GRANT SELECT (id) ON tenantgate_wall.server TO @other`, want: "note view-others tenantgate_wall.server"},
	{name: "others delete through it", sql: `GRANT DELETE ON tenantgate_wall.server TO @other`, want: "risk view-others tenantgate_wall.server", says: "@other may use tenantgate_wall.server, which only @role needs: others can change the keys"},
	{name: "deletes through it", sql: `GRANT DELETE ON tenantgate_wall.server TO @role`, want: "breach view-write tenantgate_wall.server", open: "public.orders public.items", mend: true},
	{name: "everybody writes to it", sql: `GRANT UPDATE (id) ON tenantgate_wall.server TO PUBLIC`, want: "breach view-write tenantgate_wall.server", open: "public.orders public.items"},
	{name: "deletes through it by a role", sql: `GRANT DELETE ON tenantgate_wall.server TO @other; GRANT @other TO @role; REVOKE SELECT ON orders FROM @other; DROP POLICY reports ON orders`, undo: `REVOKE @other FROM @role`,
		want: "breach role-member @other\nrisk view-others tenantgate_wall.server", open: "public.orders public.items", says: "delete keys through tenantgate_wall.server"},
	{name: "takes any id", sql: anyServer, want: "breach view-lies tenantgate_wall.server\nbreach view-query tenantgate_wall.server", open: "public.orders public.items", left: "view-lies\nview-query"},
	{name: "does not look at the signature", sql: remade + claimed + `length(` + made + `) = length(current_setting('tenantgate.signature', true))`, want: "breach view-lies tenantgate_wall.server\nbreach view-query tenantgate_wall.server", open: "public.orders public.items", left: "view-lies\nview-query"},
	{name: "an empty key", sql: `ALTER TABLE tenantgate_wall.keys DROP CONSTRAINT keys_pads_shape; UPDATE tenantgate_wall.keys SET "inner" = decode(repeat('36', 64), 'hex'), "outer" = decode(repeat('5c', 64), 'hex')`,
		want: "breach view-lies tenantgate_wall.server", open: "public.orders public.items", left: "view-lies"},
	{name: "fails", sql: remade + `SELECT (1 / 0)::text AS id`, want: "breach view-query tenantgate_wall.server\nrisk view-fails tenantgate_wall.server", open: "public.orders public.items", left: "view-query\nview-fails"},
	{name: "no table of keys", sql: remade + `SELECT NULL::text AS id; DROP TABLE tenantgate_wall.keys`, want: "breach view-query tenantgate_wall.server\nrisk keys-missing tenantgate_wall.keys", open: "public.orders public.items", left: "view-query\nkeys-missing"},
	{name: "a view of the view", sql: `CREATE VIEW k AS SELECT id FROM tenantgate_wall.server; GRANT SELECT ON k TO @role`, want: "risk grants-unnamed public.k"},
	{name: "no keys", sql: `DELETE FROM tenantgate_wall.keys`, want: "risk keys-none tenantgate_wall.keys", open: "public.orders public.items", left: "keys-none"},
	{name: "keys to read", sql: `GRANT SELECT (id) ON tenantgate_wall.keys TO @role`, want: "breach keys-readable tenantgate_wall.keys", open: "public.orders public.items"},
	{name: "secrets to read", sql: secrets + `GRANT SELECT (secret) ON tenantgate.wall_keys TO @role`, want: "breach keys-readable tenantgate.wall_keys", open: "public.orders public.items"},
	{name: "secrets for everybody to write", sql: secrets + `GRANT DELETE ON tenantgate.wall_keys TO PUBLIC`, want: "breach keys-readable tenantgate.wall_keys", open: "public.orders public.items"},
	{name: "a view of the keys", sql: `CREATE VIEW k AS SELECT id, "inner" FROM tenantgate_wall.keys; CREATE VIEW tenantgate_wall.again WITH (security_invoker) AS SELECT * FROM k; CREATE VIEW tenantgate_wall.third AS SELECT * FROM tenantgate_wall.again; GRANT SELECT ON tenantgate_wall.third TO @role`,
		want: "breach keys-view tenantgate_wall.third", open: "public.orders public.items"},
	{name: "a copy of the secrets", sql: secrets + `CREATE MATERIALIZED VIEW k AS SELECT * FROM tenantgate.wall_keys; GRANT SELECT ON k TO PUBLIC`, want: "breach keys-view public.k", open: "public.orders public.items"},
	{name: "a view that reads the keys as its caller", sql: `CREATE VIEW k WITH (security_invoker) AS SELECT id FROM tenantgate_wall.keys; GRANT SELECT ON k TO @role`, want: "risk grants-unnamed public.k"},
	{name: "the secrets through a role", sql: secrets + `GRANT INSERT ON tenantgate.wall_keys TO @other; GRANT @other TO @role; REVOKE SELECT ON orders FROM @other; DROP POLICY reports ON orders`, undo: `REVOKE @other FROM @role`, want: "breach role-member @other\nrisk keys-others tenantgate.wall_keys", open: "public.orders public.items", says: "read or write tenantgate.wall_keys"},
	{name: "keys for others", sql: `GRANT SELECT ON tenantgate_wall.keys TO @other`, want: "risk keys-others tenantgate_wall.keys"},
	{name: "secrets for others", sql: secrets + `GRANT SELECT (secret) ON tenantgate.wall_keys TO @other`, want: "risk keys-others tenantgate.wall_keys"},
	{name: "keys out of reach", sql: `ALTER VIEW tenantgate_wall.server OWNER TO @owner`, want: "risk keys-blind tenantgate_wall.keys\nrisk view-fails tenantgate_wall.server", open: "public.orders public.items"},
}
