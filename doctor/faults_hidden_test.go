package doctor

import "strings"

var hiddenFaults = []fault{
	{name: "a unique constraint", sql: `ALTER TABLE orders ADD CONSTRAINT one_total UNIQUE (total)`, want: "tell hidden-unique one_total on public.orders", says: "does not hold server_id"},
	{name: "a unique index", sql: `CREATE UNIQUE INDEX "one ( name" ON items (lower(name) DESC) WHERE name <> ''`, want: `tell hidden-unique "one ( name" on public.items`},
	{name: "a key that ends with the scope column", sql: `CREATE UNIQUE INDEX ends ON items (name, server_id)`},
	{name: "a key that includes the scope column", sql: `CREATE UNIQUE INDEX includes ON items (name) INCLUDE (server_id)`, want: "tell hidden-unique includes on public.items"},
	{name: "a child's key", sql: `CREATE TABLE part () INHERITS (items); CREATE UNIQUE INDEX one_name ON part (name)`, want: "tell hidden-unique one_name on public.part"},
	{name: "a key of partitions", sql: `DROP TABLE items; CREATE TABLE items (server_id text NOT NULL, name text) PARTITION BY LIST (name); CREATE TABLE one PARTITION OF items FOR VALUES IN ('a'); CREATE UNIQUE INDEX one_name ON items (name); CREATE INDEX ON items (server_id);
		GRANT SELECT, INSERT, UPDATE, DELETE ON items TO @role; ALTER TABLE items ENABLE ROW LEVEL SECURITY; CREATE POLICY tenantgate_server ON items TO @role USING (@expression) WITH CHECK (@expression); GRANT SELECT ON one TO @role`,
		want: "breach grants-child public.one\ntell hidden-unique one_name on public.items", open: "public.items"},
	{name: "a primary key", sql: `ALTER TABLE items DROP CONSTRAINT items_pkey, ADD PRIMARY KEY (id)`, want: "risk hidden-unique items_pkey on public.items\nnote hidden-index public.items"},
	{name: "a key that is referred to", sql: `ALTER TABLE orders ADD CONSTRAINT one_id UNIQUE (id); ALTER TABLE items ADD CONSTRAINT plain FOREIGN KEY (order_id) REFERENCES orders (id)`,
		want: "tell hidden-foreign-key plain on public.items\ntell hidden-unique one_id on public.orders", left: "hidden-unique"},
	{name: "an exclusion", sql: `ALTER TABLE items ADD CONSTRAINT no_two EXCLUDE USING btree (name WITH =)`, want: "tell hidden-exclusion no_two on public.items"},
	{name: "an exclusion that takes servers for one", sql: `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ALTER TABLE items ADD CONSTRAINT no_two EXCLUDE USING btree (name WITH =, server_id COLLATE loose WITH =)`, want: "tell hidden-exclusion no_two on public.items"},
	{name: "an exclusion for each server", sql: `ALTER TABLE items ADD CONSTRAINT no_two EXCLUDE USING btree (name WITH =, server_id WITH =)`},
	{name: "a reference that cascades", sql: `CREATE UNIQUE INDEX u ON orders (id, server_id); ALTER TABLE orders ADD CONSTRAINT one_id UNIQUE (id); ALTER TABLE items ADD FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED`, says: "carries a DELETE or UPDATE of rows of public.orders on",
		at: "public.orders", want: "breach hidden-cascade items_order_id_fkey on public.items\ntell hidden-foreign-key items_order_id_fkey on public.items\ntell hidden-unique one_id on public.orders", left: "hidden-unique"},
	{name: "a reference that cascades from a shared table", sql: `ALTER TABLE items ADD FOREIGN KEY (name) REFERENCES countries ON DELETE CASCADE`},
	{name: "one that a statement can come to", sql: `ALTER TABLE items ADD FOREIGN KEY (name) REFERENCES countries ON DELETE SET NULL; GRANT DELETE ON countries TO @role`, policy: strings.Replace(shop, "access: [select]", "access: [select, delete]", 1),
		want: "breach hidden-cascade items_name_fkey on public.items\nrisk policy-writable public.countries", at: "public.countries", left: "hidden-cascade\npolicy-writable"},
	{name: "a reference from outside", sql: `CREATE TABLE log (server text, id text, FOREIGN KEY (server, id) REFERENCES orders ON DELETE CASCADE)`, want: "risk hidden-foreign-into log_server_id_fkey on public.log", left: "hidden-foreign-into"},
	{name: "a reference that gives rows away", sql: `ALTER TABLE items ALTER server_id SET DEFAULT 'srv_0', DROP CONSTRAINT items_order, ADD CONSTRAINT away FOREIGN KEY (server_id, order_id) REFERENCES orders ON UPDATE SET DEFAULT ON DELETE SET DEFAULT`,
		want: "breach hidden-default away on public.items", says: "a DELETE or UPDATE of a row there gives"},
	{name: "a reference to a shared table that does", sql: `ALTER TABLE items ALTER server_id SET DEFAULT 'srv_0', ADD CONSTRAINT away FOREIGN KEY (server_id) REFERENCES countries ON DELETE SET DEFAULT`, want: "risk hidden-default away on public.items", says: "a DELETE of a row there gives"},
	{name: "references that keep their server", sql: `ALTER TABLE items ALTER server_id SET DEFAULT 'srv_0', ADD CONSTRAINT stays FOREIGN KEY (server_id, order_id) REFERENCES orders ON DELETE SET DEFAULT (order_id); ALTER TABLE orders ADD CONSTRAINT none FOREIGN KEY (server_id, stamp) REFERENCES orders ON DELETE SET DEFAULT ON UPDATE SET DEFAULT`},
	{name: "a unique index that takes servers for one", mend: true, sql: `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE UNIQUE INDEX one_name ON items (name, server_id COLLATE loose)`, want: "tell hidden-unique one_name on public.items", says: "holds server_id in a collation"},
	{name: "a unique index in another collation", sql: `CREATE UNIQUE INDEX one_name ON items (name, server_id COLLATE "POSIX")`},
	{name: "a serial", sql: `ALTER TABLE items ADD n bigserial; GRANT USAGE ON SEQUENCE items_n_seq TO @role`, want: "note hidden-sequence public.items.n", left: "hidden-sequence"},
	{name: "an identity", sql: `ALTER TABLE items ADD n bigint GENERATED BY DEFAULT AS IDENTITY`, want: "note hidden-sequence public.items.n", left: "hidden-sequence"},
	{name: "a default from a sequence", sql: `CREATE SEQUENCE numbers; ALTER TABLE items ALTER name SET DEFAULT 'n' || nextval('numbers')`, want: "note hidden-sequence public.items.name", left: "hidden-sequence"},
	{name: "a loose collation", sql: `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ALTER TABLE items DROP CONSTRAINT items_order; DROP POLICY tenantgate_server ON items;
		ALTER TABLE items ALTER server_id TYPE text COLLATE loose; CREATE POLICY tenantgate_server ON items TO @role USING (@expression) WITH CHECK (@expression)`, want: "breach hidden-collation public.items.server_id", stops: true},
	{name: "a padded id", sql: `ALTER TABLE items DROP CONSTRAINT items_order; DROP POLICY tenantgate_server ON items; ALTER TABLE items ALTER server_id TYPE char(8);
		CREATE POLICY tenantgate_server ON items TO @role USING (server_id = (SELECT id::pg_catalog.bpchar FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id::pg_catalog.bpchar FROM tenantgate_wall.server))`, want: "risk hidden-type public.items.server_id"},
	{name: "an id without case", sql: `CREATE EXTENSION citext; ALTER TABLE items DROP CONSTRAINT items_order; DROP POLICY tenantgate_server ON items; ALTER TABLE items ALTER server_id TYPE citext;
		CREATE POLICY tenantgate_server ON items TO @role USING (server_id = (SELECT id::public.citext FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id::public.citext FROM tenantgate_wall.server))`, want: "risk hidden-type public.items.server_id"},
	{name: "an id of another type", sql: `ALTER TABLE items DROP CONSTRAINT items_order; DROP POLICY tenantgate_server ON items; ALTER TABLE items ALTER server_id TYPE numeric USING 1;
		CREATE POLICY tenantgate_server ON items TO @role USING (server_id = (SELECT id::pg_catalog.numeric FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id::pg_catalog.numeric FROM tenantgate_wall.server))`, want: "risk hidden-unfit public.items.server_id", stops: true, left: "hidden-unfit"},
	{name: "rows without a server", sql: `ALTER TABLE items DROP CONSTRAINT items_pkey, ALTER server_id DROP NOT NULL; CREATE INDEX ON items (server_id)`, want: "note hidden-null public.items.server_id", mend: true},
	{
		name: "rows that have none", sql: `ALTER TABLE items DROP CONSTRAINT items_pkey, ALTER server_id DROP NOT NULL; CREATE INDEX ON items (server_id); INSERT INTO items (server_id) VALUES (NULL)`,
		want: "note hidden-null public.items.server_id", left: "hidden-null", mend: true,
	},
	{name: "a view", sql: `CREATE VIEW all_orders AS SELECT id FROM orders; CREATE VIEW again AS SELECT * FROM all_orders; GRANT SELECT ON again TO @role`, want: "breach hidden-view public.again", open: "public.orders"},
	{name: "a view that nobody reaches", sql: `CREATE VIEW all_orders AS SELECT id FROM orders; GRANT SELECT ON all_orders TO @other`},
	{name: "a view of the caller's", sql: `CREATE VIEW all_orders WITH (security_invoker = on) AS SELECT id FROM orders; GRANT SELECT ON all_orders TO @role`, want: "risk hidden-view public.all_orders", open: ""},
	{name: "a materialised view", sql: `CREATE MATERIALIZED VIEW all_orders AS SELECT id FROM orders; GRANT SELECT ON all_orders TO PUBLIC`, want: "breach hidden-view public.all_orders", open: "public.orders"},
	{name: "statistics as of old", sql: `CREATE STATISTICS st ON id, name FROM items; SET allow_system_table_mods = on; CREATE OR REPLACE VIEW pg_catalog.pg_stats_ext AS SELECT * FROM (SELECT NULL::name AS schemaname, NULL::name AS tablename, NULL::name AS statistics_schemaname, NULL::name AS statistics_name, NULL::name AS statistics_owner, NULL::name[] AS attnames, NULL::text[] AS exprs, NULL::"char"[] AS kinds, NULL::bool AS inherited, NULL::pg_ndistinct COLLATE "C" AS n_distinct, NULL::pg_dependencies COLLATE "C" AS dependencies, NULL::text[] AS most_common_vals, NULL::bool[] AS most_common_val_nulls, NULL::float8[] AS most_common_freqs, NULL::float8[] AS most_common_base_freqs) x`,
		want: "tell planner-statistics public.items\nrisk hidden-statistics pg_catalog.pg_stats_ext"},
	{name: "a key that a partition has from above", mend: true, sql: below("name") + `CREATE UNIQUE INDEX one_name ON whole (name)`, want: "tell hidden-unique items_name_idx on public.items", says: "table above", left: "hidden-unique"},
	{name: "a reference that a partition has from above", mend: true, sql: below("name") + `ALTER TABLE orders ADD CONSTRAINT one_id UNIQUE (id); ALTER TABLE whole ADD CONSTRAINT plain FOREIGN KEY (order_id) REFERENCES orders (id)`,
		want: "tell hidden-foreign-key plain on public.items\ntell hidden-unique one_id on public.orders\nrisk hidden-foreign-into plain on public.whole", says: "table above", left: "hidden-foreign-key\nhidden-unique\nhidden-foreign-into"},
	{name: "a reference to what a partition is a part of", mend: true, sql: below("id") + `ALTER TABLE whole ADD CONSTRAINT one_id UNIQUE (id); ALTER TABLE orders ADD item uuid, ADD CONSTRAINT plain FOREIGN KEY (item) REFERENCES whole (id); GRANT SELECT (item), INSERT (item), UPDATE (item) ON orders TO @role`,
		want: "tell hidden-foreign-key plain on public.orders\nrisk hidden-unique items_id_key on public.items", left: "hidden-foreign-key\nhidden-unique"},
	{name: "a reference from outside to what a partition is a part of", sql: below("id") + `ALTER TABLE whole ADD CONSTRAINT one_id UNIQUE (id, server_id); CREATE TABLE log (server_id text, item uuid, CONSTRAINT into_it FOREIGN KEY (server_id, item) REFERENCES whole (server_id, id) ON DELETE CASCADE)`,
		want: "risk hidden-foreign-into into_it on public.log", left: "hidden-foreign-into"},
	{name: "a default that a partition has from above", mend: true, sql: below("name") + `ALTER TABLE items ALTER server_id SET DEFAULT 'srv_0'; ALTER TABLE whole ADD CONSTRAINT away FOREIGN KEY (server_id, order_id) REFERENCES orders ON DELETE SET DEFAULT`,
		want: "breach hidden-default away on public.items\nrisk hidden-foreign-into away on public.whole", at: "public.orders", left: "hidden-default\nhidden-foreign-into"},
	{name: "no index", sql: `ALTER TABLE items DROP CONSTRAINT items_pkey`, want: "note hidden-index public.items"},
}

// below makes the table items a part of one that no policy names.
func below(key string) string {
	return `CREATE TABLE whole (LIKE items) PARTITION BY LIST (` + key + `); ALTER TABLE items DROP CONSTRAINT items_order; ALTER TABLE whole ATTACH PARTITION items DEFAULT; `
}
