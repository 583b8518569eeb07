package doctor

// The parts of the planner's statistics of a scoped table. Each gives rows for it and for its
// partitions and children, whose settings are their own:
//
//	a column but the scope column: target is set unless statistics are off, known if there are some
//	a column of an index that is an expression; making its table's columns anew makes it anew
//	a statistics object
const (
	columnStatistics = `SELECT u.ident, a.attnum, a.attname, a.attinhcount > 0 AS inherited, coalesce(a.attstattarget, -1) <> 0 AS target,
			EXISTS (SELECT FROM known WHERE known.schemaname = n.nspname AND known.tablename = c.relname AND known.attname = a.attname)
				OR EXISTS (SELECT FROM pg_depend d JOIN pg_class k ON k.oid = d.objid JOIN known ON known.schemaname = n.nspname AND known.tablename = k.relname
					WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = u.oid AND d.refobjsubid = a.attnum AND k.relkind = 'i') AS known,
			format_type(a.atttypid, a.atttypmod) || coalesce((SELECT format(' COLLATE %I.%I', cn.nspname, co.collname) FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace
				WHERE co.oid = a.attcollation AND co.collname <> 'default'), '') AS type
		FROM units u JOIN pg_class c ON c.oid = u.oid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = u.oid
		WHERE u.root = scoped.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnum <> u.attnum AND a.attgenerated <> 'v'`
	indexStatistics = `SELECT format('%I.%I', n.nspname, c.relname) AS ident, a.attnum, coalesce(a.attstattarget, -1) <> 0 AS target
		FROM units u JOIN pg_index i ON i.indrelid = u.oid JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i' JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid WHERE u.root = scoped.oid AND a.attnum <= i.indnkeyatts AND i.indkey[a.attnum - 1] = 0`
	objectStatistics = `SELECT format('%I.%I', n.nspname, x.stxname) AS ident, x.stxkind::text[] && '{f,m}' AS together FROM units u JOIN pg_statistic_ext x ON x.stxrelid = u.oid JOIN pg_namespace n ON n.oid = x.stxnamespace WHERE u.root = scoped.oid`
)

// plannerChecks are about what the planner knows of all servers' values, and what indexes hold
// of them, from which the order of one server's rows can tell.
var plannerChecks = []check{
	{
		name: "planner-statistics", grade: Tell, served: true, stage: stageRest,
		sql: `SELECT scoped.ident AS object, scoped.ident AS listed, scoped.oid AS listed_oid, '' AS needs, CASE WHEN scoped.custom THEN 'note' ELSE 'tell' END AS grade, has.what, scoped.scope,
			CASE WHEN scoped.custom THEN 'the policies say planner: custom, so the order of a server''s rows can reveal which values other servers hold, value by value'
				ELSE 'joins show a server by their plan, and so by the order of its rows, whether a value that it plants is common among others'
				|| CASE WHEN dropped.together THEN '; a statistics object with dependencies or most common values reveals without a join what two columns of others hold together' ELSE '' END END AS why,
			CASE WHEN NOT scoped.custom THEN concat_ws(E'\n', nullif(fresh.sql, ''), nullif(anew.sql, ''), dropped.sql, CASE WHEN fresh.sql || anew.sql <> '' OR again.due THEN again.sql END) END AS mend
		FROM scoped CROSS JOIN LATERAL (
			SELECT coalesce(string_agg(format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS 0;', f.ident, f.attname), E'\n' ORDER BY f.ident, f.attnum) FILTER (WHERE f.target), '') AS sql,
				count(*) FILTER (WHERE f.target OR f.known) AS columns FROM (` + columnStatistics + `) f
		) fresh CROSS JOIN LATERAL (
			SELECT coalesce(string_agg(format('DO %L;', format('BEGIN ALTER TABLE %s ALTER COLUMN %I TYPE %s; EXCEPTION WHEN feature_not_supported THEN RAISE WARNING %L; END', t.ident, t.attname, t.type,
				replace(format('%1$s.%2$I is used by a view, a trigger or a generated column, so that its statistics stay. As a superuser: DELETE FROM pg_statistic s USING pg_attribute a WHERE a.attrelid = starelid AND a.attnum = staattnum AND starelid = %1$L::regclass AND attname = %2$L', t.ident, t.attname), '%', '%%'))),
				E'\n' ORDER BY t.ident, t.attnum), '') AS sql
			FROM (SELECT DISTINCT CASE WHEN f.inherited THEN scoped.ident ELSE f.ident END AS ident, f.attname, f.type, CASE WHEN f.inherited THEN 0 ELSE f.attnum END AS attnum FROM (` + columnStatistics + `) f WHERE f.known) t
		) anew CROSS JOIN LATERAL (
			SELECT string_agg(format('DROP STATISTICS IF EXISTS %s;', x.ident), E'\n' ORDER BY x.ident) AS sql, count(*) AS objects, bool_or(x.together) AS together FROM (` + objectStatistics + `) x
		) dropped CROSS JOIN LATERAL (
			SELECT string_agg(format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0;', i.ident, i.attnum), E'\n' ORDER BY i.ident, i.attnum) AS sql, coalesce(bool_or(i.target), false) AS due,
				count(*) FILTER (WHERE i.target) AS expressions FROM (` + indexStatistics + `) i
		) again CROSS JOIN LATERAL (SELECT concat_ws(', ', CASE WHEN fresh.columns > 0 THEN fresh.columns || ' column' || left('s', (fresh.columns <> 1)::int) END, CASE WHEN again.expressions > 0 THEN again.expressions || ' index expression' || left('s', (again.expressions <> 1)::int) END,
			CASE WHEN dropped.objects > 0 THEN dropped.objects || ' statistics object' || left('s', (dropped.objects <> 1)::int) END) AS what) has
		WHERE has.what <> ''`,
		says:    `Postgres keeps statistics of {object} beyond {scope} ({what}), which hold every server's values: {why}`,
		instead: `It costs estimates: without them a join may go in another order, and what is grouped or sorted is guessed from sizes alone; {scope} keeps its own. Measure your slow statements before and after.`,
		mend:    `{mend}`,
	}, {
		name: "planner-index", grade: Tell, served: true, stage: stageRest,
		sql: `SELECT quote_ident(k.relname) || ' on ' || u.ident AS object, u.wall AS listed, u.root AS listed_oid, '' AS needs, CASE WHEN scoped.custom THEN 'note' ELSE 'tell' END AS grade,
			k.amname AS method, u.scope, CASE WHEN scoped.custom THEN 'the policies say planner: custom, so the order of a server''s rows can reveal which values other servers hold'
				WHEN k.amname = 'hash' THEN 'other servers'' rows with the same value fill these pages, so the order of a server''s own rows reveals how many others have a value'
				ELSE 'other servers'' values shape that, so the order of a server''s own rows reveals whether others hold a value that it searches for' END AS why,
			CASE k.amname WHEN 'hash' THEN 'by the pages of a bucket' WHEN 'gist' THEN 'at the same distance in the order of its tree' WHEN 'spgist' THEN 'at the same distance in the order of its tree' ELSE 'in an order of its own' END AS how,
			CASE WHEN scoped.custom OR NOT k.mendable THEN NULL WHEN k.twin THEN k.remove
				ELSE format('DO %L;', format('BEGIN %s; %s %s EXCEPTION WHEN program_limit_exceeded THEN RAISE WARNING %L; END', k.make, k.no_statistics, k.remove,
					replace(format('%I on %s holds values that are too long for a btree index: it stays', k.relname, u.ident), '%', '%%'))) END AS mend,
			CASE WHEN k.inherited THEN 'It is a part of an index of the table above: fix that one.'
				WHEN k.conname IS NOT NULL AND k.amname = 'hash' THEN format('The constraint %I needs it: have a btree index keep it, which leads with %s. Where hidden-exclusion names it, that has the SQL.', k.conname, u.scope)
				WHEN k.conname IS NOT NULL THEN format('The constraint %I needs it: accept the finding by name in the policy, if what it reveals is no secret, or replace the constraint.', k.conname)
				WHEN NOT k.mendable THEN 'Drop it if nothing needs it, or replace it with a btree index that leads with ' || u.scope || ', or one with GIN, which returns rows in no order of its own, for words, arrays and JSON: without it the nearest rows are found by sorting all of the server''s. Else accept the finding by name in the policy.'
				WHEN k.twin THEN 'A btree index that leads with ' || u.scope || ' has its rows already.'
				ELSE 'It costs room, and length: a btree index keeps whole values, and an INSERT of one that takes more than 2704 bytes there fails; where there are such the hash index stays, and has to be dropped without another in its place. On a large table make the new one first, by itself, with CREATE INDEX CONCURRENTLY.' END AS instead
		FROM units u JOIN scoped ON scoped.oid = u.root CROSS JOIN LATERAL (
			SELECT c.relname, am.amname, con.conname, up.inherited, format('DROP INDEX IF EXISTS %I.%I;', n.nspname, c.relname) AS remove,
				con.conname IS NULL AND NOT up.inherited AND am.amname = 'hash' AND (i.indkey[0] <> 0 OR c.relkind = 'i') AND EXISTS (
					SELECT FROM pg_opclass h JOIN pg_opclass b ON b.opcintype = h.opcintype AND b.opcdefault JOIN pg_am ON pg_am.oid = b.opcmethod AND pg_am.amname = 'btree' WHERE h.oid = i.indclass[0]) AS mendable,
				EXISTS (SELECT FROM pg_index j JOIN pg_class jc ON jc.oid = j.indexrelid JOIN pg_am ON pg_am.oid = jc.relam AND pg_am.amname = 'btree' WHERE j.indrelid = u.oid AND j.indisvalid AND j.indpred IS NULL
					AND j.indnkeyatts > 1 AND j.indkey[0] = u.attnum AND j.indkey[1] = i.indkey[0] AND i.indkey[0] <> 0 AND j.indcollation[1] = i.indcollation[0]) AS twin,
				format('CREATE INDEX IF NOT EXISTS %I ON %s USING btree (%s%s', made.name, u.ident, CASE WHEN i.indkey[0] = u.attnum THEN '' ELSE u.scope || ', ' END,
					substr(pg_get_indexdef(c.oid), 1 + length(format('CREATE INDEX %I ON %s%s USING hash (', c.relname, CASE c.relkind WHEN 'I' THEN 'ONLY ' ELSE '' END, u.ident)))) AS make,
				CASE WHEN i.indkey[0] = 0 THEN format('ALTER INDEX %I.%I ALTER COLUMN 2 SET STATISTICS 0;', n.nspname, made.name) ELSE '' END AS no_statistics
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = c.relam LEFT JOIN pg_constraint con ON con.conindid = c.oid AND con.conrelid = u.oid AND con.contype IN ('p', 'u', 'x')
			CROSS JOIN LATERAL (SELECT left(c.relname, 40) || '_scoped_' || left(md5(pg_get_indexdef(c.oid)), 8) AS name) made
			CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) AS inherited) up
			WHERE i.indrelid = u.oid AND pg_index_has_property(c.oid, 'index_scan') AND NOT coalesce(pg_indexam_has_property(am.oid, 'can_order'), false)
				AND NOT (i.indnatts = 1 AND i.indkey[0] = u.attnum AND i.indpred IS NULL)
				AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_index p ON p.indexrelid = h.inhparent JOIN units o ON o.oid = p.indrelid WHERE h.inhrelid = c.oid)
		) k`,
		says: `the {method} index {object} returns rows {how}: {why}`,
		mend: `{mend}`, instead: `{instead}`,
	}, {
		name: "planner-duplicates", grade: Tell, served: true, stage: stageRest,
		sql: `SELECT quote_ident(c.relname) || ' on ' || u.ident AS object, u.wall AS listed, u.root AS listed_oid, '' AS needs, CASE WHEN scoped.custom THEN 'note' ELSE 'tell' END AS grade,
			CASE WHEN u.attnum = i.indkey[0] THEN '' ELSE 'Better replace it with an index that leads with ' || u.scope || ': in this one other servers'' rows lie between, which transactions at SERIALIZABLE and very large bitmaps reveal, too. ' END AS better,
			CASE WHEN scoped.custom THEN 'the policies say planner: custom, so the order of a server''s rows can reveal which values other servers hold'
				WHEN u.attnum = ANY (i.indkey::int2[]) THEN 'Postgres makes them when a page is full, and a backward scan reads each list forwards; other servers'' values fill the page, too, so where a list ends among a server''s own rows reveals how long these are, and how often they repeat'
				ELSE 'a backward scan, as for ORDER BY … DESC, reads each list forwards, and other servers'' rows with the value fill it, so where a list ends among a server''s own rows reveals how many others have a value' END AS why,
			CASE WHEN NOT scoped.custom THEN format(E'ALTER INDEX %1$I.%2$I SET (deduplicate_items = off);\nREINDEX INDEX %1$I.%2$I;', n.nspname, c.relname) END AS mend,
			CASE WHEN EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) THEN ' It is a part of an index of the table above, whose setting later partitions inherit and ALTER INDEX can''t change: create that one anew WITH (deduplicate_items = off), and drop it.' ELSE '' END AS above
		FROM units u JOIN scoped ON scoped.oid = u.root JOIN pg_index i ON i.indrelid = u.oid JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i' JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_am am ON am.oid = c.relam AND am.amname = 'btree'
		WHERE i.indisvalid AND i.indnatts = i.indnkeyatts AND NOT ((i.indisunique OR i.indisexclusion) AND (u.attnum <> ALL (i.indkey::int2[])
				OR NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) AS k (num) LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num WHERE a.attnotnull IS NOT TRUE)))
			AND NOT EXISTS (SELECT FROM unnest(i.indcollation::oid[]) AS used (oid) JOIN pg_collation l ON l.oid = used.oid AND NOT l.collisdeterministic)
			AND NOT EXISTS (SELECT FROM pg_options_to_table(c.reloptions) WHERE option_name = 'deduplicate_items' AND NOT option_value::bool)
			AND NOT EXISTS (SELECT FROM unnest(i.indclass::oid[]) AS used (oid) JOIN pg_opclass o ON o.oid = used.oid WHERE NOT EXISTS (
				SELECT FROM pg_amproc p WHERE p.amprocfamily = o.opcfamily AND p.amproclefttype = o.opcintype AND p.amprocrighttype = o.opcintype AND p.amprocnum = 4))`,
		says:    `the index {object} is deduplicated, so it keeps the rows of one value together in lists: {why}`,
		instead: `{better}It costs space where many rows have the same value. REINDEX removes the existing lists, and statements on the table wait for it; on a large table run REINDEX INDEX CONCURRENTLY instead, and don't forget it: doctor sees only the setting.{above}`,
		mend:    `{mend}`,
	},
}
