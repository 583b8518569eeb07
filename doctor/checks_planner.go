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
	objectStatistics = `SELECT format('%I.%I', n.nspname, x.stxname) AS ident FROM units u JOIN pg_statistic_ext x ON x.stxrelid = u.oid JOIN pg_namespace n ON n.oid = x.stxnamespace WHERE u.root = scoped.oid`
)

// plannerChecks are about what the planner knows of all servers' values, from which the order
// of one server's rows can tell.
var plannerChecks = []check{
	{
		name: "planner-statistics", grade: Tell, served: true, stage: stageRest,
		sql: `SELECT scoped.ident AS object, scoped.ident AS listed, scoped.oid AS listed_oid, '' AS needs, CASE WHEN scoped.custom THEN 'note' ELSE 'tell' END AS grade, has.what, scoped.scope,
			CASE WHEN scoped.custom THEN 'the policies say planner: custom, by which the order of a server''s rows can tell which values other servers hold, value by value'
				ELSE 'joins show a server by their plan, and so by the order of its rows, whether a value that it plants is common among others' END AS why,
			CASE WHEN NOT scoped.custom THEN concat_ws(E'\n', nullif(fresh.sql, ''), nullif(anew.sql, ''), dropped.sql, CASE WHEN fresh.sql || anew.sql <> '' OR again.due THEN again.sql END) END AS mend
		FROM scoped CROSS JOIN LATERAL (
			SELECT coalesce(string_agg(format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS 0;', f.ident, f.attname), E'\n' ORDER BY f.ident, f.attnum) FILTER (WHERE f.target), '') AS sql,
				count(*) FILTER (WHERE f.target OR f.known) AS columns FROM (` + columnStatistics + `) f
		) fresh CROSS JOIN LATERAL (
			SELECT coalesce(string_agg(format('DO %L;', format('BEGIN ALTER TABLE %s ALTER COLUMN %I TYPE %s; EXCEPTION WHEN feature_not_supported THEN RAISE WARNING %L; END', t.ident, t.attname, t.type,
				replace(format('%s.%I is used by a view, a trigger or a generated column, so that its statistics stay: a superuser can delete its rows of pg_statistic', t.ident, t.attname), '%', '%%'))),
				E'\n' ORDER BY t.ident, t.attnum), '') AS sql
			FROM (SELECT DISTINCT CASE WHEN f.inherited THEN scoped.ident ELSE f.ident END AS ident, f.attname, f.type, CASE WHEN f.inherited THEN 0 ELSE f.attnum END AS attnum FROM (` + columnStatistics + `) f WHERE f.known) t
		) anew CROSS JOIN LATERAL (
			SELECT string_agg(format('DROP STATISTICS IF EXISTS %s;', x.ident), E'\n' ORDER BY x.ident) AS sql, count(*) AS objects FROM (` + objectStatistics + `) x
		) dropped CROSS JOIN LATERAL (
			SELECT string_agg(format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0;', i.ident, i.attnum), E'\n' ORDER BY i.ident, i.attnum) AS sql, coalesce(bool_or(i.target), false) AS due,
				count(*) FILTER (WHERE i.target) AS expressions FROM (` + indexStatistics + `) i
		) again CROSS JOIN LATERAL (SELECT concat_ws(', ', CASE WHEN fresh.columns > 0 THEN fresh.columns || ' column' || left('s', (fresh.columns <> 1)::int) END, CASE WHEN again.expressions > 0 THEN again.expressions || ' index expression' || left('s', (again.expressions <> 1)::int) END,
			CASE WHEN dropped.objects > 0 THEN dropped.objects || ' statistics object' || left('s', (dropped.objects <> 1)::int) END) AS what) has
		WHERE has.what <> ''`,
		says:    `Postgres keeps statistics of {object} beyond {scope} ({what}), which hold every server's values: {why}`,
		instead: `It costs estimates: without them a join may go in another order, and what is grouped or sorted is guessed from sizes alone; {scope} keeps its own. Measure your slow statements before and after.`,
		mend:    `{mend}`,
	},
}
