package doctor

var grantFaults = []fault{
	{name: "a table that no policy names", sql: `GRANT SELECT ON unnamed TO @role`, want: "risk grants-unnamed public.unnamed", says: "@role has SELECT on the table public.unnamed, which no policy names: honest statements do not need that, and"},
	{name: "through everybody", sql: `GRANT SELECT (a) ON unnamed TO PUBLIC`, want: "risk grants-unnamed public.unnamed"},
	{name: "one with a scope column", sql: `CREATE TABLE more (server_id text); GRANT UPDATE ON more TO @role`, want: "breach grants-unnamed public.more"},
	{name: "one that scoped tables are children of", sql: `CREATE TABLE parent (id text); GRANT SELECT ON parent TO @role; ALTER TABLE orders INHERIT parent`, want: "breach grants-parent public.parent", open: "public.orders"},
	{name: "one that they are grandchildren of", sql: `CREATE TABLE top (id text); GRANT UPDATE (id) ON top TO PUBLIC; CREATE TABLE mid () INHERITS (top); ALTER TABLE orders INHERIT mid`, want: "breach grants-parent public.top", open: "public.orders"},
	{name: "a view of one", sql: `CREATE TABLE top (id text); ALTER TABLE orders INHERIT top; CREATE VIEW seen AS SELECT id FROM top; GRANT SELECT ON seen TO @role`, want: "breach hidden-view public.seen", open: "public.orders"},
	{name: "a view", sql: `CREATE VIEW elsewhere AS SELECT a FROM unnamed; GRANT SELECT ON elsewhere TO @role`, want: "risk grants-unnamed public.elsewhere"},
	{name: "a materialised view", sql: `CREATE MATERIALIZED VIEW elsewhere AS SELECT a FROM unnamed; GRANT SELECT ON elsewhere TO PUBLIC`, want: "risk grants-unnamed public.elsewhere"},
	{name: "a sequence", sql: `CREATE SEQUENCE numbers; GRANT USAGE ON numbers TO @role`, want: "risk grants-unnamed public.numbers"},
	{name: "a foreign table", sql: `CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE far (a int) SERVER s; GRANT SELECT ON far TO @role`, want: "risk grants-unnamed public.far"},
	{name: "a name to be quoted", sql: `CREATE TABLE "a ""b""
; DROP" (a int); GRANT SELECT ON "a ""b""
; DROP" TO @role`, want: "risk grants-unnamed public.\"a \"\"b\"\"\n; DROP\""},
	{name: "a child", sql: `CREATE TABLE part () INHERITS (orders); GRANT SELECT ON part TO @role`, want: "breach grants-child public.part", open: "public.orders"},
	{name: "a column that is closed to readers", sql: `GRANT SELECT ON orders TO @role`, want: "risk grants-column public.orders.secret"},
	{name: "a column that is closed to writers", sql: `GRANT UPDATE (stamp) ON orders TO @role`, want: "risk grants-column public.orders.stamp"},
	{name: "truncate", sql: `GRANT TRUNCATE ON orders TO @role`, want: "breach grants-kind public.orders"},
	{name: "references", sql: `GRANT REFERENCES, TRIGGER ON items TO @role`, want: "risk grants-kind public.items"},
	{name: "a kind that is not admitted", sql: `GRANT INSERT ON countries TO @role`, want: "risk grants-kind public.countries"},
	{name: "a grant to pass on", sql: `GRANT DELETE ON items TO @role WITH GRANT OPTION`, want: "risk grants-option public.items"},
	{name: "a grant that lacks", sql: `REVOKE DELETE ON items FROM @role; REVOKE SELECT (total) ON orders FROM @role`, want: "note grants-missing public.items\nnote grants-missing public.orders"},
	{name: "a schema out of reach", sql: `REVOKE USAGE ON SCHEMA public FROM @role`, want: "note grants-schema public"},
	{name: "a default out of reach", sql: `ALTER TABLE items ADD n serial`, want: "note grants-sequence public.items_n_seq\nnote hidden-sequence public.items.n", left: "hidden-sequence"},
	{name: "statistics", sql: `GRANT SELECT ON pg_catalog.pg_statistic TO @role`, want: "breach grants-catalog pg_catalog.pg_statistic"},
	{name: "a column of statistics", sql: `GRANT SELECT (stavalues1, stavalues2) ON pg_catalog.pg_statistic TO @role; GRANT SELECT (subconninfo) ON pg_catalog.pg_subscription TO PUBLIC`, want: "breach grants-catalog pg_catalog.pg_statistic\nbreach grants-catalog pg_catalog.pg_subscription", says: "SELECT (stavalues1), SELECT (stavalues2)"},
	{name: "a view among the system's", sql: `CREATE VIEW information_schema.odd AS SELECT a FROM unnamed; GRANT SELECT ON information_schema.odd TO @role`, want: "risk grants-unnamed information_schema.odd"},
	{name: "a view of a scoped table among the system's", sql: `CREATE VIEW information_schema.odd AS SELECT id FROM items; GRANT SELECT ON information_schema.odd TO PUBLIC`, want: "breach hidden-view information_schema.odd", open: "public.items"},
	{name: "a table among the system's", sql: `SET allow_system_table_mods = on; CREATE TABLE pg_catalog.odd (server_id text); GRANT SELECT ON pg_catalog.odd TO @role`, want: "breach grants-unnamed pg_catalog.odd"},
	{name: "large objects", sql: `SELECT lo_create(4711); GRANT SELECT ON LARGE OBJECT 4711 TO PUBLIC`, want: "breach grants-largeobject 1 large objects"},
	{name: "large objects of its own", sql: `SELECT lo_create(4711); ALTER LARGE OBJECT 4711 OWNER TO @role`, want: "breach grants-largeowner 1 large objects"},
}
