package doctor

import "strings"

// noStatistics switches the statistics of every column but the scope column off, so that faults which
// make tables, columns and indexes are seen alone.
const noStatistics = `DO $$ DECLARE c record; BEGIN
	FOR c IN SELECT a.attrelid::regclass AS rel, a.attname, a.attnum, r.relkind FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
		WHERE n.nspname = 'public' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT IN ('server_id', 'ServerID') AND (r.relkind IN ('r', 'p', 'f') OR r.relkind = 'i'
			AND EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = r.oid AND i.indkey[a.attnum - 1] = 0)) LOOP
		IF c.relkind = 'i' THEN EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', c.rel, c.attnum);
		ELSE EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS 0', c.rel, c.attname); END IF;
	END LOOP;
END $$;`

// noLists has no btree index keep lists, so that faults which make indexes are seen alone.
const noLists = `DO $$ DECLARE i regclass; BEGIN
	FOR i IN SELECT c.oid FROM pg_class c JOIN pg_am m ON m.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND m.amname = 'btree' AND c.relkind = 'i' LOOP
		EXECUTE format('ALTER INDEX %s SET (deduplicate_items = off)', i);
	END LOOP;
END $$;`

const plant = `INSERT INTO orders SELECT i::text, 'srv_' || i % 3, i FROM generate_series(1, 300) i; INSERT INTO items (server_id, name) SELECT 'srv_' || i % 3, 'name ' || i % 5 FROM generate_series(1, 300) i; `

var plannerFaults = []fault{
	{name: "a column with statistics", loud: true, mend: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, want: "tell planner-statistics public.items", says: "beyond server_id (1 column)"},
	{name: "statistics that are there already", loud: true, mend: true, sql: plant + `ALTER TABLE items ALTER name SET STATISTICS -1; ANALYZE items; ALTER TABLE items ALTER name SET STATISTICS 0`, want: "tell planner-statistics public.items"},
	{name: "statistics of a column that a view reads", loud: true, mend: true, sql: plant + `CREATE VIEW names AS SELECT name FROM items; ALTER TABLE items ALTER name SET STATISTICS -1; ANALYZE items`, want: "tell planner-statistics public.items", left: "planner-statistics"},
	{name: "an index's expression", loud: true, mend: true, sql: plant + `CREATE INDEX low ON items (server_id, lower(name)); ANALYZE items`, want: "tell planner-statistics public.items", says: "1 column, 1 index expression"},
	{name: "a statistics object", loud: true, mend: true, sql: `CREATE STATISTICS pairs ON total, stamp FROM orders`, want: "tell planner-statistics public.orders", says: "1 statistics object"},
	{name: "a statistics object of dependencies", loud: true, mend: true, sql: `CREATE STATISTICS pairs (dependencies) ON name, order_id FROM items`, want: "tell planner-statistics public.items", says: "without a join"},
	{name: "a statistics object of most common values", loud: true, mend: true, sql: `CREATE STATISTICS pairs (mcv) ON name, order_id FROM items`, want: "tell planner-statistics public.items", says: "without a join"},
	{name: "a child with statistics", loud: true, mend: true, sql: plant + `CREATE TABLE "Part" (more text COLLATE "C") INHERITS (items); INSERT INTO "Part" (server_id, name, more) SELECT 'srv_1', 'x', 'y' FROM generate_series(1, 50); ANALYZE items; ANALYZE "Part"`, want: "tell planner-statistics public.items"},
	{name: "statistics that the policy accepts", loud: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, policy: strings.Replace(shop, "tables:", "planner: custom\ntables:", 1), want: "note planner-statistics public.items", left: "planner-statistics", says: "planner: custom"},
	{name: "statistics that one policy accepts", loud: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, second: strings.NewReplacer("name: shop", "name: other", "tables:", "planner: custom\ntables:").Replace(shop), want: "tell planner-statistics public.items"},
	{name: "statistics of a shared table", loud: true, sql: `ALTER TABLE countries ALTER code SET STATISTICS 100`},
}

// pairs is an exclusion that a GiST index is behind.
const pairs = `CREATE EXTENSION btree_gist; ALTER TABLE items ADD during int4range, ADD CONSTRAINT apart EXCLUDE USING gist (server_id WITH =, during WITH &&)`

var indexFaults = []fault{
	{name: "a hash index", mend: true, sql: plant + `CREATE INDEX "by Name" ON items USING hash (name) WITH (fillfactor = 90)`, want: `tell planner-index "by Name" on public.items`, says: "how many others have a value"},
	{name: "a hash index of some rows", mend: true, sql: `CREATE INDEX few ON items USING hash (name COLLATE "POSIX" text_pattern_ops) WHERE name > 'm' OR order_id IS NULL`, want: "tell planner-index few on public.items"},
	{name: "a hash index of an expression", mend: true, sql: `CREATE INDEX low ON items USING hash (lower(name))`, want: "tell planner-index low on public.items"},
	{name: "a hash index with a btree beside it", mend: true, sql: `CREATE INDEX by_id ON items USING hash (id)`, want: "tell planner-index by_id on public.items", says: "has its rows already"},
	{name: "a hash index of long values", mend: true, sql: `CREATE INDEX long ON items USING hash (name); INSERT INTO items (server_id, name) SELECT 'srv_1', string_agg(md5(i::text), '') FROM generate_series(1, 500) i`, want: "tell planner-index long on public.items", says: "2704 bytes", left: "planner-index"},
	{name: "a hash index of a type without an order", mend: true, sql: `ALTER TABLE items ADD x cid; CREATE INDEX odd ON items USING hash (x)`, want: "tell planner-index odd on public.items", left: "planner-index"},
	{name: "a hash index of the servers", sql: `CREATE INDEX servers ON items USING hash (server_id)`},
	{name: "a hash index of a server's part", mend: true, sql: `CREATE INDEX part ON items USING hash (server_id) WHERE name = 'x'`, want: "tell planner-index part on public.items"},
	{name: "a hash index behind an exclusion", mend: true, sql: `ALTER TABLE items ADD CONSTRAINT no_two EXCLUDE USING hash (name WITH =)`, want: "tell hidden-exclusion no_two on public.items\ntell planner-index no_two on public.items"},
	{name: "hash indexes of partitions", mend: true, sql: partitioned + `CREATE INDEX by_name ON items USING hash (name); CREATE INDEX again ON one USING hash (name)`, want: "tell planner-index again on public.one\ntell planner-index by_name on public.items"},
	{name: "a hash index of partitions' expressions", mend: true, sql: partitioned + `CREATE INDEX low ON items USING hash (lower(name))`, want: "tell planner-index low on public.items", left: "planner-index"},
	{name: "a hash index that a partition has from above", mend: true, sql: `CREATE TABLE whole (LIKE items) PARTITION BY LIST (server_id); ALTER TABLE items DROP CONSTRAINT items_order; ALTER TABLE whole ATTACH PARTITION items DEFAULT; CREATE INDEX by_name ON whole USING hash (name)`, want: "tell planner-index items_name_idx on public.items", left: "planner-index"},
	{name: "a child's hash index", mend: true, sql: `CREATE TABLE part () INHERITS (items); CREATE INDEX by_name ON part USING hash (name)`, want: "tell planner-index by_name on public.part"},
	{name: "a GiST index", mend: true, sql: `ALTER TABLE items ADD spot point; CREATE INDEX spots ON items USING gist (spot)`, want: "tell planner-index spots on public.items", says: "in the order of its tree", left: "planner-index"},
	{name: "an SP-GiST index", mend: true, sql: `CREATE INDEX tree ON items USING spgist (name)`, want: "tell planner-index tree on public.items", left: "planner-index"},
	{name: "a GiST index behind an exclusion", mend: true, sql: pairs, want: "tell planner-index apart on public.items", says: "accept", left: "planner-index"},
	{name: "a hash index where the planner may know", sql: `CREATE INDEX by_name ON items USING hash (name)`, policy: strings.Replace(shop, "tables:", "planner: custom\ntables:", 1), want: "note planner-index by_name on public.items", left: "planner-index", says: "planner: custom", mend: true},
	{name: "indexes without an order of their own", sql: `CREATE EXTENSION pg_trgm; CREATE INDEX words ON items USING gin (name gin_trgm_ops); CREATE INDEX ranges ON items USING brin (hashtext(name))`},
	{name: "a BRIN index of texts", mend: true, sql: `CREATE INDEX ranges ON items USING brin (server_id, hashtext(name), name)`, want: "tell hidden-brin ranges on public.items", says: "the smallest and the largest"},
	{name: "a BRIN index of numbers", mend: true, sql: `ALTER TABLE items ADD price numeric; CREATE INDEX ranges ON items USING brin (price numeric_minmax_multi_ops)`, want: "tell hidden-brin ranges on public.items"},
	{name: "a BRIN index of several values of a page range", mend: true, sql: `ALTER TABLE items ADD code uuid; CREATE INDEX ranges ON items USING brin (code uuid_minmax_multi_ops (values_per_range = 256))`, want: "tell hidden-brin ranges on public.items"},
	{name: "a BRIN index of partitions", mend: true, sql: partitioned + `CREATE INDEX ranges ON items USING brin (name)`, want: "tell hidden-brin one_name_idx on public.one\ntell hidden-brin ranges on public.items"},
	{name: "a BRIN index of values that are never too long", sql: `ALTER TABLE items ADD at timestamptz, ADD host inet; CREATE INDEX ranges ON items USING brin (at); CREATE INDEX hosts ON items USING brin (server_id, host inet_inclusion_ops); CREATE INDEX names ON items USING brin (name text_bloom_ops)`},
	{name: "a btree index without the servers", lists: true, mend: true, sql: `CREATE INDEX plain ON items (name)`, want: "tell planner-duplicates plain on public.items", says: "how many others have a value"},
	{name: "a btree index of an expression without the servers", lists: true, mend: true, sql: `CREATE INDEX low ON items (lower(name)) WITH (fillfactor = 70)`, want: "tell planner-duplicates low on public.items"},
	{name: "a btree index without the servers of partitions", lists: true, mend: true, sql: partitioned + `CREATE INDEX by_name ON items (name)`, want: "tell planner-duplicates one_name_idx on public.one\ntell planner-duplicates one_server_id_idx on public.one", says: "make that one anew"},
	{name: "a btree index where the planner may know", lists: true, mend: true, sql: `CREATE INDEX plain ON items (name)`, policy: strings.Replace(shop, "tables:", "planner: custom\ntables:", 1), want: "note planner-duplicates plain on public.items", left: "planner-duplicates", says: "planner: custom"},
	{name: "btree indexes of the servers", lists: true, mend: true, sql: `CREATE INDEX a ON items (server_id, name); CREATE INDEX b ON items (name, server_id); CREATE UNIQUE INDEX c ON items (server_id, order_id); CREATE UNIQUE INDEX d ON items (server_id, lower(name))`,
		want: "tell planner-duplicates a on public.items\ntell planner-duplicates b on public.items\ntell planner-duplicates c on public.items\ntell planner-duplicates d on public.items", says: "how long these are"},
	{name: "a btree index that asks for lists", lists: true, always: true, mend: true, sql: `CREATE INDEX plain ON items (name) WITH (deduplicate_items = on)`, want: "tell planner-duplicates plain on public.items", says: "how many others have a value"},
	{name: "a unique index without the servers, which has its own finding", lists: true, always: true, mend: true, sql: `CREATE UNIQUE INDEX plain ON items (name)`, want: "tell hidden-unique plain on public.items", left: "planner-duplicates"},
	{name: "btree indexes without lists", lists: true, sql: `ALTER TABLE items ADD price numeric, ADD no int NOT NULL; CREATE UNIQUE INDEX a ON items (no, server_id); ALTER TABLE items ADD CONSTRAINT g EXCLUDE (no WITH =, server_id WITH =); CREATE INDEX b ON items (price); CREATE INDEX c ON items (name) INCLUDE (price); CREATE INDEX d ON items (name) WITH (deduplicate_items = false);
		CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE INDEX e ON items (name COLLATE loose); CREATE INDEX f ON items (name); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'f'::regclass`},
	{name: "a hash index of a shared table", sql: `CREATE INDEX codes ON countries USING hash (code)`},
}

// partitioned makes a table of partitions of items, with its wall.
const partitioned = `DROP TABLE items; CREATE TABLE items (server_id text NOT NULL, name text) PARTITION BY LIST (name); CREATE TABLE one PARTITION OF items FOR VALUES IN ('a'); CREATE INDEX ON items (server_id);
	GRANT SELECT, INSERT, UPDATE, DELETE ON items TO @role; ALTER TABLE items ENABLE ROW LEVEL SECURITY; CREATE POLICY tenantgate_server ON items TO @role USING (@expression) WITH CHECK (@expression); `
