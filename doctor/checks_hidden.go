package doctor

// unscoped, of an index i on a unit u, is that it is a unique key which does not hold the
// scope column, or in a collation by which other ids are the same, exact, of the
// place k of an index i on a column a, that its collation takes no two ids for one that the
// column's own does not, and astray, of a foreign key con of units u to units p, that it
// does not carry it. What a partition has from above is named there, unless no policy names
// the table above.
const (
	unscoped = `i.indisunique AND i.indislive AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_index up ON up.indexrelid = h.inhparent JOIN units o ON o.oid = up.indrelid WHERE h.inhrelid = i.indexrelid)
				AND NOT EXISTS (SELECT FROM generate_series(0, i.indnkeyatts - 1) k JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
					WHERE i.indkey[k] = u.attnum AND ` + exact + `)`
	exact  = `(i.indcollation[k] IN (0, a.attcollation) OR EXISTS (SELECT FROM pg_collation co WHERE co.oid = i.indcollation[k] AND co.collisdeterministic))`
	astray = `con.contype = 'f' AND NOT EXISTS (SELECT FROM pg_constraint up JOIN units a ON a.oid = up.conrelid JOIN units b ON b.oid = up.confrelid WHERE up.oid = con.conparentid)
				AND NOT EXISTS (SELECT FROM unnest(con.conkey, con.confkey) AS k(own, target) WHERE k.own = u.attnum AND k.target = p.attnum)`
)

// conName is the name of a foreign key con: for each partition that it points at Postgres keeps one more, under a name
// that is another in each release.
const conName = `coalesce((SELECT up.conname FROM pg_constraint up WHERE up.oid = con.conparentid AND up.conrelid = con.conrelid), con.conname)`

// fromAbove is said of what no SQL on a partition can mend.
const fromAbove = `It comes from a table above, which no policy names: fix it there, as its owner. `

// asCaller, of a view c, is that it reads as whoever asks it.
const asCaller = `coalesce(array_to_string(c.reloptions, ' ') ~* 'security_invoker=(true|on|yes|1)', false)`

// scopedKey, of an index i, is that it is a plain unique key of just these columns.
func scopedKey(table, columns string) string {
	return `i.indrelid = ` + table + ` AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND 0 = ALL (i.indoption::int2[])
				AND (SELECT array_agg(x ORDER BY x) FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) x) = (SELECT array_agg(x ORDER BY x) FROM unnest(` + columns + `) x)`
}

// hiddenChecks are about what row-level security does not cover, because Postgres does it
// for all rows of a table: it compares keys, follows references, draws numbers, and runs
// what stands behind a table as somebody else.
var hiddenChecks = []check{
	{
		name: "hidden-unique", grade: Tell, served: true, stage: stageKey,
		sql: `SELECT quote_ident(k.relname) || ' on ' || u.ident AS object, u.wall AS listed, u.root AS listed_oid, '' AS needs, u.scope, CASE WHEN k.holds THEN 'holds ' || u.scope || ' in a collation that is not deterministic' ELSE 'does not hold ' || u.scope END AS lacks,
			CASE WHEN k.uuids THEN 'risk' ELSE 'tell' END AS grade,
			CASE WHEN k.uuids THEN 'whoever has seen such a value can ask, by an INSERT, whether a row of another server has it'
				ELSE 'an INSERT or UPDATE that fails reveals that a row of another server has the value' END AS why,
			CASE WHEN k.referenced OR k.inherited THEN '' WHEN twin.owned THEN format('ALTER TABLE %s DROP CONSTRAINT %I;', u.ident, con.conname)
				WHEN twin.relname IS NOT NULL THEN format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s USING INDEX %I;', u.ident, con.conname, con.conname, CASE con.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, twin.relname)
				WHEN con.oid IS NOT NULL
				THEN format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s;', u.ident, con.conname, con.conname, overlay(pg_get_constraintdef(con.oid) PLACING '(' || u.scope || ', ' FROM position('(' IN pg_get_constraintdef(con.oid)) FOR 1))
				ELSE format(E'DROP INDEX IF EXISTS %I.%I;\n%s%s, %s;', k.nspname, k.relname, replace(k.head, ' ON ONLY ' || u.ident, ' ON ' || u.ident), u.scope, substr(k.def, length(k.head) + 1)) END AS mend,
			CASE WHEN k.inherited THEN '` + fromAbove + `' WHEN k.referenced THEN 'Foreign keys refer to it: fix those first, then run doctor again. '
				ELSE 'It takes a lock and builds an index; ON CONFLICT must name the new columns, and so must GROUP BY if it relies on the primary key. ' END AS instead
		FROM units u JOIN LATERAL (
			SELECT c.oid, c.relname, n.nspname, pg_get_indexdef(c.oid) AS def, i.indrelid,
				format('CREATE UNIQUE INDEX %I ON %s%s USING %I (', c.relname, CASE WHEN t.relkind = 'p' THEN 'ONLY ' ELSE '' END, u.ident, am.amname) AS head,
				EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conindid = c.oid) AS referenced, EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) AS inherited,
				u.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) AS holds,
				i.indnkeyatts = 1 AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.atttypid = 'uuid'::regtype) AS uuids
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_class t ON t.oid = i.indrelid JOIN pg_am am ON am.oid = c.relam
			WHERE i.indrelid = u.oid AND ` + unscoped + `
		) k ON true LEFT JOIN pg_constraint con ON con.conindid = k.oid AND con.conrelid = u.oid AND con.contype IN ('p', 'u')
		LEFT JOIN LATERAL (SELECT c.relname, own.oid IS NOT NULL AS owned
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i' AND NOT c.relispartition LEFT JOIN pg_constraint own ON own.conindid = c.oid AND own.contype IN ('p', 'u')
			WHERE ` + scopedKey("u.oid", "con.conkey || u.attnum::int2") + ` AND i.indkey[0] = u.attnum AND pg_get_constraintdef(con.oid) ~ '^(PRIMARY KEY|UNIQUE) [(][^()]*[)]$'
				AND (con.contype = 'u' OR own.oid IS NULL)
			ORDER BY own.oid IS NULL, c.relname LIMIT 1) twin ON true`,
		says: `the unique key {object} {lacks}: {why}`,
		mend: `{mend}`, instead: `{instead}No wall can prevent it: a unique key is checked against every row.`,
	}, {
		name: "hidden-exclusion", grade: Tell, served: true, stage: stageKey,
		sql: `SELECT quote_ident(con.conname) || ' on ' || u.ident AS object, 'tell' AS grade, u.wall AS listed, u.root AS listed_oid, '' AS needs, u.scope,
			format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s;', u.ident, con.conname, con.conname, regexp_replace( -- a hash index has one column
				overlay(pg_get_constraintdef(con.oid) PLACING '(' || u.scope || ' WITH =, ' FROM position('(' IN pg_get_constraintdef(con.oid)) FOR 1), '^EXCLUDE USING hash ', 'EXCLUDE USING btree ')) AS mend
		FROM units u JOIN pg_constraint con ON con.conrelid = u.oid AND con.contype = 'x'
		WHERE NOT EXISTS (SELECT FROM pg_index i CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) k JOIN pg_operator o ON o.oid = con.conexclop[k + 1] AND o.oprname = '='
			JOIN pg_attribute a ON a.attrelid = u.oid AND a.attnum = u.attnum WHERE i.indexrelid = con.conindid AND i.indkey[k] = u.attnum AND ` + exact + `)`,
		says: `the exclusion constraint {object} does not compare {scope}, or not exactly: an INSERT that fails reveals that a row of another server conflicts with it`,
		mend: `{mend}`, instead: `With gist it needs the extension btree_gist. No wall can prevent it: the constraint is checked against every row.`,
	}, {
		name: "hidden-brin", grade: Tell, served: true, stage: stageRest,
		sql: `SELECT quote_ident(c.relname) || ' on ' || u.ident AS object, 'tell' AS grade, u.wall AS listed, u.root AS listed_oid, '' AS needs, u.scope,
			CASE WHEN up.inherited THEN '' ELSE format('DROP INDEX IF EXISTS %I.%I;', n.nspname, c.relname) END AS mend,
			CASE WHEN up.inherited THEN 'It is a part of an index of the table above: fix that one. ' ELSE '' END AS instead
		FROM units u JOIN pg_index i ON i.indrelid = u.oid JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam AND am.amname = 'brin' JOIN pg_namespace n ON n.oid = c.relnamespace
		CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_inherits h JOIN pg_index p ON p.indexrelid = h.inhparent JOIN units o ON o.oid = p.indrelid WHERE h.inhrelid = c.oid) AS inherited) up
		WHERE EXISTS (SELECT FROM unnest(i.indclass::oid[], i.indkey::int2[]) AS used (oid, num) JOIN pg_opclass o ON o.oid = used.oid JOIN pg_type t ON t.oid = o.opcintype
			WHERE used.num <> u.attnum AND (o.opcname ~ '_minmax_multi_ops$' OR t.typlen = -1 AND t.oid <> 'inet'::regtype AND o.opcname !~ '_bloom_ops$'))`,
		says: `the BRIN index {object} keeps values of the rows of a page range, other servers' among them: the smallest and the largest, or several. An INSERT fails where its value becomes one of them and does not fit, which reveals them`,
		mend: `{mend}`, instead: `{instead}A btree index that leads with {scope} reveals no value. Nor does BRIN of values of fixed length, such as timestamps and integers, with only the smallest and the largest (minmax, not minmax_multi).`,
	}, {
		name: "hidden-foreign-key", grade: Tell, served: true, stage: stageForeign,
		sql: `SELECT quote_ident(` + conName + `) || ' on ' || u.ident AS object, 'tell' AS grade, u.wall AS listed, u.root AS listed_oid, '' AS needs, p.ident AS parent,
			CASE WHEN con.confdeltype IN ('a', 'r') THEN 'a DELETE that fails reveals that rows of another server refer to it'
				ELSE 'rows of two servers can point at each other' END AS effect,
			CASE WHEN con.conparentid <> 0 THEN '` + fromAbove + `' ELSE 'Where it fails, rows of two servers point at each other already. ' END AS instead,
			CASE WHEN con.conparentid <> 0 THEN NULL WHEN EXISTS (SELECT FROM pg_index i WHERE ` + scopedKey("p.oid", "con.confkey || p.attnum::int2") + `) THEN ''
				ELSE format(E'CREATE UNIQUE INDEX IF NOT EXISTS %I ON %s (%s, %s);\n', left((SELECT relname FROM pg_class WHERE oid = p.oid), 40) || '_scoped_' || left(md5(cols.target), 8), p.ident, p.scope, cols.target) END
			|| format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I FOREIGN KEY (%s, %s) REFERENCES %s (%s, %s)%s%s%s;',
				u.ident, con.conname, con.conname, u.scope, cols.own, p.ident, p.scope, cols.target,
				CASE con.confupdtype WHEN 'c' THEN ' ON UPDATE CASCADE' WHEN 'r' THEN ' ON UPDATE RESTRICT' ELSE '' END,
				CASE con.confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' WHEN 'r' THEN ' ON DELETE RESTRICT' WHEN 'n' THEN ' ON DELETE SET NULL (' || cols.own || ')' WHEN 'd' THEN ' ON DELETE SET DEFAULT (' || cols.own || ')' ELSE '' END,
				CASE WHEN con.condeferrable THEN ' DEFERRABLE' || CASE WHEN con.condeferred THEN ' INITIALLY DEFERRED' ELSE '' END ELSE '' END) AS mend
		FROM units u JOIN pg_constraint con ON con.conrelid = u.oid JOIN units p ON p.oid = con.confrelid
		JOIN LATERAL (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.at) AS own, string_agg(quote_ident(b.attname), ', ' ORDER BY k.at) AS target
			FROM unnest(con.conkey, con.confkey) WITH ORDINALITY AS k(own, target, at)
			JOIN pg_attribute a ON a.attrelid = con.conrelid AND a.attnum = k.own JOIN pg_attribute b ON b.attrelid = con.confrelid AND b.attnum = k.target) cols ON true
		WHERE ` + astray,
		says: `the foreign key {object} to {parent} does not include the scope column: an INSERT reveals whether another server has the row that it refers to, and {effect}`,
		mend: `{mend}`, instead: `{instead}No wall can prevent it: foreign keys are checked with the owner's rights.`,
	}, {
		name: "hidden-cascade", grade: Breach, served: true,
		sql: `SELECT DISTINCT quote_ident(con.conname) || ' on ' || u.ident AS object, f.listed, f.root AS listed_oid, '' AS needs, 'breach' AS grade, f.ident AS parent, CASE WHEN p.oid IS NOT NULL THEN 'hidden-foreign-key ' || quote_ident(` + conName + `) || ' on ' || u.ident END AS by,
			concat_ws(' or ', CASE WHEN f.events & 8 <> 0 AND con.confdeltype IN ('c', 'n', 'd') THEN 'DELETE' END, CASE WHEN f.events & 16 <> 0 AND con.confupdtype IN ('c', 'n', 'd') THEN 'UPDATE' END) AS verb
		FROM family f JOIN pg_constraint con ON con.confrelid = f.oid AND con.contype = 'f' AND ` + cascade("f.events") + ` <> 0 JOIN units u ON u.oid = con.conrelid
		LEFT JOIN units p ON p.oid = f.oid WHERE p.oid IS NULL OR ` + astray,
		says:    `the foreign key {object} carries a {verb} of rows of {parent} on to the rows that point at them, without the scope column: other servers' rows among them are deleted or changed, as the table's owner`,
		instead: `Put the scope column into the foreign key (where {parent} is scoped, hidden-foreign-key has the SQL), or take {verb} on {listed} out of the policy.`,
	}, {
		name: "hidden-default", grade: Breach, served: true, stage: stageForeign,
		sql: `SELECT DISTINCT quote_ident(con.conname) || ' on ' || u.ident AS object, f.listed, f.root AS listed_oid, '' AS needs, CASE WHEN f.root IS NULL THEN 'risk' ELSE 'breach' END AS grade, con.confrelid::regclass::text AS parent, u.scope, verb,
			CASE WHEN con.conparentid = 0 THEN format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s;', u.ident, con.conname, con.conname,
				regexp_replace(replace(pg_get_constraintdef(con.oid), ' ON UPDATE SET DEFAULT', ''), ' ON DELETE SET DEFAULT( [(][^()]*[)])?', coalesce(' ON DELETE SET DEFAULT (' || kept.others || ')', ''))) END AS mend, CASE WHEN con.conparentid <> 0 THEN '` + fromAbove + `' ELSE 'ON UPDATE SET DEFAULT can''t leave a column out, and goes. ' END AS instead
		FROM units u JOIN pg_constraint con ON con.conrelid = u.oid AND con.contype = 'f' AND NOT EXISTS (SELECT FROM pg_constraint up JOIN units a ON a.oid = up.conrelid WHERE up.oid = con.conparentid)
		JOIN pg_attribute a ON a.attrelid = u.oid AND a.attnum = u.attnum JOIN pg_type t ON t.oid = a.atttypid AND (a.atthasdef AND a.attgenerated = '' OR t.typdefault IS NOT NULL)
		CROSS JOIN LATERAL (SELECT string_agg(quote_ident(o.attname), ', ' ORDER BY o.attnum) AS others FROM pg_attribute o
			WHERE o.attrelid = u.oid AND o.attnum <> u.attnum AND o.attnum = ANY (coalesce(con.confdelsetcols, con.conkey))) kept
		CROSS JOIN concat_ws(' or ', CASE WHEN con.confdeltype = 'd' AND u.attnum = ANY (coalesce(con.confdelsetcols, con.conkey)) THEN 'DELETE' END,
			CASE WHEN con.confupdtype = 'd' AND u.attnum = ANY (con.conkey) THEN 'UPDATE' END) verb
		LEFT JOIN family f ON f.oid = con.confrelid AND (verb LIKE 'DELETE%' AND f.events & 8 <> 0 OR verb LIKE '%UPDATE' AND f.events & 16 <> 0)
		WHERE verb <> ''`,
		says: `the foreign key {object} to {parent} sets {scope} to its default: a {verb} of a row there gives the rows that refer to it to the server that the default names`,
		mend: `{mend}`, instead: `{instead}No wall can prevent it: foreign keys are checked with the owner's rights.`,
	}, {
		name: "hidden-foreign-into", grade: Risk,
		sql: `SELECT quote_ident(` + conName + `) || ' on ' || format('%I.%I', n.nspname, c.relname) AS object, p.ident AS parent,
			CASE con.confdeltype WHEN 'c' THEN 'deletes rows there' WHEN 'n' THEN 'changes rows there' WHEN 'd' THEN 'changes rows there' ELSE 'fails where rows there refer to it, and so reveals them' END AS effect
		FROM units p JOIN pg_constraint con ON con.confrelid = p.oid AND con.contype = 'f' AND NOT EXISTS (SELECT FROM pg_constraint up JOIN units a ON a.oid = up.confrelid WHERE up.oid = con.conparentid)
		JOIN pg_class c ON c.oid = con.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE NOT EXISTS (SELECT FROM units u WHERE u.oid = con.conrelid)`,
		says:    `the foreign key {object} points at {parent}, from a table that is not scoped: a DELETE of one's own row {effect}`,
		instead: `No wall can hide it. Name the table in the policy if its rows belong to servers; else take DELETE on {parent} out of the policy.`,
	}, {
		name: "hidden-sequence", grade: Note,
		sql: `SELECT DISTINCT u.ident || '.' || quote_ident(a.attname) AS object, format('%I.%I', n.nspname, s.relname) AS sequence
		FROM units u JOIN pg_attribute a ON a.attrelid = u.oid AND NOT a.attisdropped JOIN pg_class s ON s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace
		WHERE u.oid = u.root AND (EXISTS (SELECT FROM serials WHERE serials.oid = s.oid AND serials.rel = u.oid AND serials.deptype = 'i'
				AND EXISTS (SELECT FROM pg_depend d WHERE d.objid = s.oid AND d.refobjid = u.oid AND d.refobjsubid = a.attnum))
			OR EXISTS (SELECT FROM pg_attrdef f JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
				WHERE f.adrelid = u.oid AND f.adnum = a.attnum))`,
		says:    `{object} is numbered by {sequence}, which counts for all servers: the numbers of two of its own rows show a server how many rows others made between them, but not their values`,
		instead: `No wall can prevent it: give the rows ids that reveal nothing (uuid DEFAULT gen_random_uuid()), or number them for each server.`,
	}, {
		name: "hidden-collation", grade: Breach, stops: true, stage: stageColumn,
		sql: `SELECT scoped.ident || '.' || scoped.scope AS object, co.collname AS collation, ` + retypeSQL("format_type(scoped.atttypid, NULL) || ' COLLATE \"C\"'") + ` AS mend
		FROM scoped JOIN pg_collation co ON co.oid = scoped.attcollation AND NOT co.collisdeterministic`,
		says: `the collation {collation} of {object} is not deterministic: ids that are spelled in two ways are one to the database, so two servers can be the same, and the service does not start with it`,
		mend: `{mend}`, instead: `Foreign keys on the column must be dropped before and created again after.`,
	}, {
		name: "hidden-type", grade: Risk, stage: stageColumn,
		sql: `SELECT scoped.ident || '.' || scoped.scope AS object, format_type(scoped.atttypid, -1) AS type,
			CASE format_type(scoped.atttypid, -1) WHEN 'bpchar' THEN 'ids that differ in trailing spaces are one to the database' ELSE 'ids that differ in case are one to the database' END AS why, ` + retypeSQL("'text'") + ` AS mend
		FROM scoped JOIN pg_type t ON t.oid = scoped.atttypid WHERE t.oid = 'bpchar'::regtype OR t.typname = 'citext'`,
		says: `the type of {object} is {type}: {why}, so two servers can be the same`,
		mend: `{mend}`, instead: `Foreign keys on the column must be dropped before and created again after.`,
	}, {
		name: "hidden-unfit", grade: Risk, stops: true,
		sql: `SELECT scoped.ident || '.' || scoped.scope AS object, format_type(scoped.atttypid, NULL) AS type FROM scoped JOIN pg_type t ON t.oid = scoped.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
		WHERE NOT (n.nspname = 'pg_catalog' AND t.typname IN ('text', 'varchar', 'bpchar', 'uuid', 'int2', 'int4', 'int8') OR t.typname = 'citext' AND n.nspname <> 'pg_catalog')`,
		says:    `the type of {object} is {type}, of which tenantgate does not know when two ids are equal: the service does not start with a policy that scopes by it`,
		instead: `Use text, varchar, uuid or an integer.`,
	}, {
		name: "hidden-null", grade: Note, stage: stageColumn,
		sql: `SELECT scoped.ident || '.' || scoped.scope AS object,
			format('DO %L;', format('BEGIN ALTER TABLE %s ALTER COLUMN %s SET NOT NULL; EXCEPTION WHEN not_null_violation THEN RAISE WARNING %L; END', scoped.ident, scoped.scope,
				replace(format('%s has rows without a server: give each its server, then run doctor again', scoped.ident), '%', '%%'))) AS mend
		FROM scoped WHERE NOT attnotnull`,
		says: `{object} may be NULL: such a row belongs to no server, so no statement sees it, and a job that forgets the column goes unnoticed`,
		mend: `{mend}`, instead: `Where there are such rows, give each its server first: the column stays as it is until then.`,
	}, {
		name: "hidden-view", grade: Breach, opens: true, stage: stageRevoke,
		sql: `SELECT v.ident AS object, t.ident AS tab, CASE WHEN v.invoker THEN '-' ELSE t.ident END AS wall, (SELECT ident FROM me) AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders,
			CASE WHEN v.relkind = 'm' THEN 'materialised view' ELSE 'view' END AS what, CASE WHEN v.invoker THEN 'risk' ELSE 'breach' END AS grade,
			CASE WHEN v.relkind = 'm' THEN 'it holds a copy of every server''s rows, to which no row-level security applies'
				WHEN v.invoker THEN 'it reads as its caller, but a view is nothing that a policy can admit'
				ELSE 'it reads as its owner, whom row-level security does not bind, so a statement that gets past the policy could read every server''s rows' END AS why
		FROM over o JOIN scoped t ON t.oid = o.root JOIN LATERAL (SELECT c.oid, c.relkind, format('%I.%I', n.nspname, c.relname) AS ident,
				` + asCaller + ` AS invoker
			FROM pg_class c JOIN reached n ON n.oid = c.relnamespace WHERE c.oid = o.oid AND c.relkind IN ('v', 'm')) v ON true
		JOIN rights r ON r.rel = v.oid GROUP BY v.ident, t.ident, v.relkind, v.invoker`,
		says: `{role} may {privileges} the {what} {object} over {tab}: {why}`,
		mend: `REVOKE ALL ON {object} FROM {holders};`,
	}, {
		name: "hidden-statistics", grade: Risk,
		sql: `SELECT 'pg_catalog.' || v.relname AS object, string_agg(DISTINCT u.ident, ', ') AS tabs FROM pg_class v JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname = 'pg_catalog', units u JOIN pg_statistic_ext x ON x.stxrelid = u.oid
		WHERE v.relname IN ('pg_stats_ext', 'pg_stats_ext_exprs') AND pg_get_viewdef(v.oid) !~ 'pg_has_role' GROUP BY v.relname`,
		says:    `{object} is as Postgres had it before CVE-2024-4317 was fixed, which an upgrade alone does not fix: it shows values of every server's rows of {tabs}`,
		instead: `Run fix-CVE-2024-4317.sql, which comes with Postgres, as a superuser; or DROP STATISTICS.`,
	}, {
		name: "hidden-index", grade: Note, stage: stageRest,
		sql: `SELECT scoped.ident AS object, scoped.scope, made.by, CASE WHEN made.by IS NULL THEN format('CREATE INDEX IF NOT EXISTS %I ON %s (%s);', left(scoped.relname, 30) || '_by_' || left(scoped."column", 29), scoped.ident, scoped.scope) END AS mend,
			CASE WHEN made.by IS NULL THEN 'On a large table make it by itself, with CREATE INDEX CONCURRENTLY.' ELSE 'None has to be made: the SQL of ' || made.by || ' makes one that begins with it.' END AS instead
		FROM scoped CROSS JOIN LATERAL (SELECT min(k.by) AS by FROM (
			SELECT 'hidden-unique ' || quote_ident(c.relname) || ' on ' || u.ident AS by FROM units u JOIN pg_index i ON i.indrelid = u.oid JOIN pg_class c ON c.oid = i.indexrelid
			WHERE u.oid = scoped.oid AND ` + unscoped + ` AND i.indpred IS NULL AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid) AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conindid = i.indexrelid)
			UNION ALL SELECT 'hidden-foreign-key ' || quote_ident(` + conName + `) || ' on ' || u.ident FROM units p JOIN pg_constraint con ON con.confrelid = p.oid JOIN units u ON u.oid = con.conrelid
			WHERE p.oid = scoped.oid AND con.conparentid = 0 AND ` + astray + ` AND NOT EXISTS (SELECT FROM pg_index i WHERE ` + scopedKey("p.oid", "con.confkey || p.attnum::int2") + `)) k) made
		WHERE scoped.relkind <> 'f' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = scoped.oid AND i.indkey[0] = scoped.attnum AND i.indisvalid AND i.indpred IS NULL)`,
		says: `{object} has no index that begins with {scope}: every statement reads the rows of all servers to find its own, and its run time shows how many there are`,
		mend: `{mend}`, instead: `{instead}`,
	},
}

// retypeSQL gives a scope column another type, and the wall's policy, which depends on it,
// again, with the expression that a text column needs.
func retypeSQL(to string) string {
	return `concat_ws(E'\n', format('DROP POLICY IF EXISTS tenantgate_server ON %s;', scoped.ident),
		format('ALTER TABLE %s ALTER COLUMN %s TYPE %s;', scoped.ident, scoped.scope, ` + to + `),
		CASE WHEN EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server') THEN
			format('CREATE POLICY tenantgate_server ON %s TO %s USING (%s) WITH CHECK (%s);', scoped.ident, scoped.role,
			CASE WHEN ` + to + ` = 'text' THEN scoped.textual ELSE scoped.expression END, CASE WHEN ` + to + ` = 'text' THEN scoped.textual ELSE scoped.expression END) END)`
}
