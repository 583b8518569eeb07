package doctor

import "strings"

var roleFaults = []fault{
	{name: "superuser", sql: `ALTER ROLE @role SUPERUSER`, undo: `ALTER ROLE @role NOSUPERUSER`, want: "breach role-superuser @role", open: "public.orders public.items", left: "role-superuser"},
	{name: "bypassrls", sql: `ALTER ROLE @role BYPASSRLS`, undo: `ALTER ROLE @role NOBYPASSRLS`, want: "breach role-bypassrls @role", open: "public.orders public.items"},
	{name: "createrole", sql: `ALTER ROLE @role CREATEROLE`, undo: `ALTER ROLE @role NOCREATEROLE`, want: "breach role-createrole @role"},
	{name: "replication", sql: `ALTER ROLE @role REPLICATION`, undo: `ALTER ROLE @role NOREPLICATION`, want: "breach role-replication @role"},
	{name: "createdb", sql: `ALTER ROLE @role CREATEDB`, undo: `ALTER ROLE @role NOCREATEDB`, want: "risk role-createdb @role"},
	{name: "member of another", sql: `GRANT @other TO @role`, undo: `REVOKE @other FROM @role`, want: "breach role-member @other", open: "public.orders public.items"},
	{name: "member of the owner", sql: `GRANT @owner TO @role`, undo: `REVOKE @owner FROM @role`, want: "breach role-member @owner", open: "public.orders public.items"},
	{name: "reads all", sql: `GRANT pg_read_all_data TO @role`, undo: `REVOKE pg_read_all_data FROM @role`, want: "breach role-member pg_read_all_data", open: "public.orders public.items", says: "read every table"},
	{name: "writes all", sql: `GRANT pg_write_all_data TO @role`, undo: `REVOKE pg_write_all_data FROM @role`, want: "breach role-member pg_write_all_data", open: "public.orders public.items"},
	{name: "reads files", sql: `GRANT pg_read_server_files TO @role`, undo: `REVOKE pg_read_server_files FROM @role`, want: "breach role-member pg_read_server_files", open: "public.orders public.items"},
	{name: "runs programs", sql: `GRANT pg_execute_server_program TO @role`, undo: `REVOKE pg_execute_server_program FROM @role`, want: "breach role-member pg_execute_server_program", open: "public.orders public.items"},
	{name: "monitors", sql: `GRANT pg_monitor TO @role`, undo: `REVOKE pg_monitor FROM @role`, want: "breach role-member pg_monitor"},
	{name: "checkpoints", sql: `GRANT pg_checkpoint TO @role`, undo: `REVOKE pg_checkpoint FROM @role`, want: "risk role-member pg_checkpoint"},
	{name: "a search path", sql: `ALTER ROLE @role IN DATABASE @db SET search_path = public`, undo: `ALTER ROLE @role RESET ALL`, want: "risk role-setting search_path=public"},
	{name: "row_security", sql: `ALTER ROLE @role SET row_security = off`, undo: `ALTER ROLE @role RESET ALL`, want: "risk role-setting row_security=off"},
	{name: "a server at sign-in", sql: `ALTER DATABASE @db SET tenantgate.server = 'srv'`, want: "breach role-setting tenantgate.server"},
	{name: "a signature at sign-in", sql: `ALTER ROLE @role IN DATABASE @db SET tenantgate.signature = 'ab'`, undo: `ALTER ROLE @role RESET ALL`, want: "breach role-setting tenantgate.signature"},
	{name: "everybody's setting", sql: `ALTER ROLE ALL SET transform_null_equals = on`, undo: `ALTER ROLE ALL RESET ALL`, want: "risk role-setting transform_null_equals=on"},
	{name: "triggers off", sql: `ALTER ROLE @role SET session_replication_role = replica`, undo: `ALTER ROLE @role RESET ALL`, want: "breach role-setting session_replication_role=replica"},
	{name: "parameter", sql: `GRANT SET ON PARAMETER session_replication_role TO @role`, undo: `REVOKE ALL ON PARAMETER session_replication_role FROM @role`, want: "breach role-parameter session_replication_role"},
	{name: "creates in a schema", sql: `GRANT CREATE ON SCHEMA public TO PUBLIC`, want: "risk role-create public"},
	{name: "creates in the database", sql: `GRANT CREATE ON DATABASE @db TO @role`, want: "risk role-database @db"},
	{name: "temporary tables", sql: `GRANT TEMPORARY ON DATABASE @db TO PUBLIC`, want: "risk role-database @db", says: "those that need it want a GRANT TEMPORARY ON DATABASE @db TO … of their own."},
	{name: "owns a scoped table", sql: `ALTER TABLE orders OWNER TO @role`, want: "breach role-owner public.orders", open: "public.orders public.items"},
	{
		name: "the owner's URL", sql: `ALTER TABLE orders OWNER TO @role; ALTER TABLE items OWNER TO @role; GRANT SELECT ON orders TO @other`,
		want: "breach role-owner public.items\nbreach role-owner public.orders", open: "public.orders public.items",
	},
	{name: "owns something", sql: `CREATE SEQUENCE mine; ALTER SEQUENCE mine OWNER TO @role`, want: "risk role-owner public.mine"},
	{name: "owns the keys", sql: `ALTER TABLE tenantgate_wall.keys OWNER TO @role; ALTER VIEW tenantgate_wall.server OWNER TO @role`, want: "breach role-owner tenantgate_wall.keys\nbreach role-owner tenantgate_wall.server", open: "public.orders public.items"},
	{name: "default privileges", sql: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner IN SCHEMA public GRANT SELECT ON TABLES TO @role`, want: "risk role-default tables"},
	{name: "default privileges everywhere", sql: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner GRANT ALL ON SEQUENCES TO PUBLIC`, undo: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner REVOKE ALL ON SEQUENCES FROM PUBLIC`, want: "risk role-default sequences"},
	{name: "default privileges on functions", sql: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner GRANT EXECUTE ON FUNCTIONS TO @role`, undo: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner REVOKE EXECUTE ON FUNCTIONS FROM @role`, want: "risk role-default functions"},
	{name: "default privileges on functions of a schema", sql: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO PUBLIC`, want: "risk role-default functions"},
	{name: "default privileges that are Postgres' own", sql: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner GRANT EXECUTE ON FUNCTIONS TO @other`, undo: `ALTER DEFAULT PRIVILEGES FOR ROLE @owner REVOKE EXECUTE ON FUNCTIONS FROM @other`},
}

// shopWriting is shop with a shared table that servers write.
var shopWriting = strings.Replace(shop, "access: [select]", "access: [select, insert]", 1)

// shopByID scopes one of shop's tables by another column.
const shopByID = `apiVersion: tenantgate/v1
kind: Policy
metadata: {name: second}
statement: {kinds: [select]}
tables:
  items: {scoped: true, column: order_id}
`

// shopWithBase is shop with a further shared table.
var shopWithBase = strings.Replace(shop, "  countries:", "  base: {scoped: false, access: [select]}\n  countries:", 1)

var policyFaults = []fault{
	{name: "no such table", sql: `DROP TABLE countries`, want: "note policy-missing public.countries", stops: true, left: "policy-missing"},
	{name: "a view", sql: `DROP TABLE countries; CREATE VIEW countries AS SELECT 'x' AS code`, want: "note policy-missing public.countries", stops: true, left: "policy-missing"},
	{name: "no such column", sql: `ALTER TABLE items DROP COLUMN server_id CASCADE`, want: "note policy-column public.items", stops: true, left: "policy-column"},
	{name: "a rule for no column", sql: `ALTER TABLE orders DROP COLUMN stamp`, want: "note policy-rule public.orders.stamp", stops: true, left: "policy-rule"},
	{name: "two scope columns", second: shopByID, want: "risk policy-scope public.items", open: "public.items", left: "policy-scope"},
	{name: "shared by mistake", sql: `ALTER TABLE countries ADD server_id text; GRANT SELECT ON countries TO @role`, want: "breach policy-shared public.countries", left: "policy-shared"},
	{
		name: "a shared parent", policy: shopWithBase, sql: `CREATE TABLE base (order_id text); GRANT SELECT ON base TO @role; ALTER TABLE items INHERIT base`,
		want: "breach policy-parent public.base", open: "public.items", left: "policy-parent",
	},
	{
		name: "a shared grandparent", policy: shopWithBase, sql: `CREATE TABLE base (order_id text); GRANT SELECT ON base TO @role; CREATE TABLE mid () INHERITS (base); ALTER TABLE items INHERIT mid; ALTER TABLE orders ADD order_id text, INHERIT mid; GRANT SELECT (order_id), INSERT (order_id), UPDATE (order_id) ON orders TO @role`,
		want: "breach policy-parent public.base\nbreach policy-parent public.base", open: "public.orders public.items", left: "policy-parent\npolicy-parent",
	},
	{
		name: "a parent that a policy closes", policy: strings.Replace(shopWithBase, "base: {scoped: false, access: [select]}", "base: {scoped: false, access: []}", 1),
		sql: `CREATE TABLE base (order_id text); ALTER TABLE items INHERIT base`,
	},
	{
		name: "shared and written", policy: shopWriting, sql: `GRANT INSERT ON countries TO @role`,
		want: "risk policy-writable public.countries", left: "policy-writable",
	},
}
