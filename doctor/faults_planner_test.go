package doctor

import "strings"

// hush switches the statistics of every column but the scope column off, so that faults which
// make tables, columns and indexes are seen alone.
const hush = `DO $$ DECLARE c record; BEGIN
	FOR c IN SELECT a.attrelid::regclass AS rel, a.attname, a.attnum, r.relkind FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
		WHERE n.nspname = 'public' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT IN ('server_id', 'ServerID') AND (r.relkind IN ('r', 'p', 'f') OR r.relkind = 'i'
			AND EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = r.oid AND i.indkey[a.attnum - 1] = 0)) LOOP
		IF c.relkind = 'i' THEN EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', c.rel, c.attnum);
		ELSE EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS 0', c.rel, c.attname); END IF;
	END LOOP;
END $$;`

const plant = `INSERT INTO orders SELECT i::text, 'srv_' || i % 3, i FROM generate_series(1, 300) i; INSERT INTO items (server_id, name) SELECT 'srv_' || i % 3, 'name ' || i % 5 FROM generate_series(1, 300) i; `

var plannerFaults = []fault{
	{name: "a column with statistics", loud: true, mend: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, want: "tell planner-statistics public.items", says: "beyond server_id (1 column)"},
	{name: "statistics that are there already", loud: true, mend: true, sql: plant + `ALTER TABLE items ALTER name SET STATISTICS -1; ANALYZE items; ALTER TABLE items ALTER name SET STATISTICS 0`, want: "tell planner-statistics public.items"},
	{name: "statistics of a column that a view reads", loud: true, mend: true, sql: plant + `CREATE VIEW names AS SELECT name FROM items; ALTER TABLE items ALTER name SET STATISTICS -1; ANALYZE items`, want: "tell planner-statistics public.items", left: "planner-statistics"},
	{name: "an index's expression", loud: true, mend: true, sql: plant + `CREATE INDEX low ON items (server_id, lower(name)); ANALYZE items`, want: "tell planner-statistics public.items", says: "1 column, 1 index expression"},
	{name: "a statistics object", loud: true, mend: true, sql: `CREATE STATISTICS pairs ON total, stamp FROM orders`, want: "tell planner-statistics public.orders", says: "1 statistics object"},
	{name: "a child with statistics", loud: true, mend: true, sql: plant + `CREATE TABLE "Part" (more text COLLATE "C") INHERITS (items); INSERT INTO "Part" (server_id, name, more) SELECT 'srv_1', 'x', 'y' FROM generate_series(1, 50); ANALYZE items; ANALYZE "Part"`, want: "tell planner-statistics public.items"},
	{name: "statistics that the policy accepts", loud: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, policy: strings.Replace(shop, "tables:", "planner: custom\ntables:", 1), want: "note planner-statistics public.items", left: "planner-statistics", says: "planner: custom"},
	{name: "statistics that one policy accepts", loud: true, sql: `ALTER TABLE items ALTER name SET STATISTICS 100`, second: strings.NewReplacer("name: shop", "name: other", "tables:", "planner: custom\ntables:").Replace(shop), want: "tell planner-statistics public.items"},
	{name: "statistics of a shared table", loud: true, sql: `ALTER TABLE countries ALTER code SET STATISTICS 100`},
}
