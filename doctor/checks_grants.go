package doctor

// grantChecks hold the role's rights against what the policies admit.
var grantChecks = []check{
	{
		name: "grants-unnamed", grade: Risk, stage: stageRevoke,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, (SELECT ident FROM me) AS role,
			string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders,
			CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END AS kind,
			CASE WHEN bool_or(near.why <> '') THEN 'breach' ELSE 'risk' END AS grade,
			CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialised view' WHEN 'f' THEN 'foreign table' WHEN 'S' THEN 'sequence' ELSE 'table' END AS what,
			coalesce(nullif(max(near.why), ''), 'honest statements do not need that, and one that gets past the policy could use it, where nothing separates the servers') AS why
		FROM rights r JOIN pg_class c ON c.oid = r.rel JOIN reached n ON n.oid = c.relnamespace
		CROSS JOIN LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname IN (SELECT "column" FROM scoped))
			THEN 'it has a scope column, and a statement that gets past the policy could reach every server''s rows in it' ELSE '' END AS why) near
		WHERE c.oid >= ` + firstOwn + ` AND NOT EXISTS (SELECT FROM told WHERE told.schema = n.nspname AND told.name = c.relname)
			AND c.oid NOT IN (SELECT oid FROM units UNION ALL SELECT oid FROM over UNION ALL SELECT oid FROM above)
			AND NOT EXISTS (SELECT FROM serials s JOIN named ON named.oid = s.rel WHERE s.oid = c.oid AND named.inserts AND r.privilege = 'USAGE')
			AND NOT (c.relname ~ '^pg_(stat_(statements|kcache|monitor|qual)|wait_sampling|qualstats|store_plans)' AND c.relkind = 'v')
			AND c.oid NOT IN (SELECT oid FROM vaults UNION ALL SELECT oid FROM judge UNION ALL SELECT oid FROM peeks WHERE NOT ` + asCaller + `)
		GROUP BY n.nspname, c.relname, c.relkind`,
		says: `{role} has {privileges} on the {what} {object}, which no policy names: {why}`,
		mend: `REVOKE ALL ON {kind}{object} FROM {holders};`,
	}, {
		name: "grants-child", grade: Breach, opens: true, stage: stageRevoke,
		sql: `SELECT u.ident AS object, u.wall, (SELECT ident FROM me) AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM units u JOIN rights r ON r.rel = u.oid WHERE u.oid <> u.root AND NOT EXISTS (SELECT FROM named WHERE named.oid = u.oid) GROUP BY 1, 2`,
		says: `{role} may {privileges} {object}, a part of {wall}: row-level security of {wall} does not hold for what is reached by the part's own name, so a statement that gets past the policy could read every server's rows in it`,
		mend: `REVOKE ALL ON {object} FROM {holders};`,
	}, {
		name: "grants-parent", grade: Breach, opens: true, stage: stageRevoke,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, above.wall, (SELECT ident FROM me) AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM above JOIN pg_class c ON c.oid = above.oid JOIN reached n ON n.oid = c.relnamespace JOIN rights r ON r.rel = c.oid
		WHERE c.oid NOT IN (SELECT oid FROM units UNION ALL SELECT oid FROM named WHERE access <> '{}') GROUP BY 1, 2`,
		says: `{role} may {privileges} {object}, which {wall} is a part of: row-level security of {wall} does not hold for what is reached through it, so a statement that gets past the policy could use every server's rows`,
		mend: `REVOKE ALL ON {object} FROM {holders};`,
	}, {
		name: "grants-column", grade: Risk, stage: stageGrant,
		sql: `SELECT named.ident || '.' || quote_ident(a.attname) AS object, named.role, named.ident AS tab, named.regrant, string_agg(DISTINCT r.privilege, ', ') AS privileges,
			CASE WHEN bool_or(r.privilege = 'SELECT') THEN 'read' ELSE 'write' END AS verb
		FROM named JOIN pg_attribute a ON a.attrelid = named.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN rights r ON r.rel = named.oid AND r.attnum IN (0, a.attnum)
		WHERE r.privilege = 'SELECT' AND named.reads AND a.attname = ANY (named.hidden)
			OR a.attname = ANY (named.locked) AND (r.privilege = 'INSERT' AND named.inserts OR r.privilege = 'UPDATE' AND named.updates)
		GROUP BY named.ident, a.attname, named.role, named.regrant`,
		says: `the policies close the column {object}, and {role} has {privileges} on it: a statement that gets past the policy could {verb} it`,
		mend: `{regrant}`,
	}, {
		name: "grants-kind", grade: Risk, stage: stageGrant,
		sql: `SELECT named.ident AS object, named.role, named.regrant, string_agg(DISTINCT r.privilege, ', ') AS privileges,
			CASE WHEN bool_or(r.privilege = 'TRUNCATE') THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN bool_or(r.privilege = 'TRUNCATE') THEN 'remove the rows of all servers, for row-level security does not apply to TRUNCATE'
				WHEN bool_or(r.privilege IN ('TRIGGER', 'REFERENCES')) THEN 'attach to the table what runs, or is checked, for every server'
				WHEN bool_or(r.privilege = 'MAINTAIN') THEN 'lock it against every server'
				ELSE 'do that with its own server''s rows, and with all where row-level security is off' END AS why
		FROM named JOIN rights r ON r.rel = named.oid
		WHERE NOT (r.privilege = 'SELECT' AND named.reads OR r.privilege = 'INSERT' AND named.inserts OR r.privilege = 'UPDATE' AND named.updates OR r.privilege = 'DELETE' AND named.deletes)
		GROUP BY 1, 2, 3`,
		says: `no policy admits {privileges} on {object}, and {role} has it: a statement that gets past the policy could {why}`,
		mend: `{regrant}`,
	}, {
		name: "grants-option", grade: Risk, stage: stageGrant,
		sql: `SELECT named.ident AS object, named.role, named.regrant, string_agg(DISTINCT r.privilege, ', ') AS privileges
		FROM named JOIN rights r ON r.rel = named.oid AND r.is_grantable GROUP BY 1, 2, 3`,
		says: `{role} has {privileges} on {object} WITH GRANT OPTION: a statement that gets past the policy could pass it on to any role`,
		mend: `{regrant}`,
	}, {
		name: "grants-missing", grade: Note, stage: stageGrant,
		sql: `SELECT named.ident AS object, named.role, named.regrant,
			string_agg(w.privilege || CASE WHEN cols.lacks_all THEN '' ELSE format(' (%s)', cols.lacking) END, ', ' ORDER BY w.at) AS privileges
		FROM named CROSS JOIN LATERAL (VALUES (1, 'SELECT', named.reads, named.hidden), (2, 'INSERT', named.inserts, named.locked),
			(3, 'UPDATE', named.updates, named.locked), (4, 'DELETE', named.deletes, '{}')) w(at, privilege, wanted, closed)
		CROSS JOIN LATERAL (SELECT bool_and(may.lacks) AS lacks_all, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE may.lacks) AS lacking
			FROM pg_attribute a CROSS JOIN LATERAL (SELECT NOT EXISTS (SELECT FROM rights r
				WHERE r.rel = named.oid AND r.attnum IN (0, a.attnum) AND r.privilege = w.privilege) AS lacks) may
			WHERE a.attrelid = named.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL (w.closed)
				AND (w.privilege IN ('SELECT', 'DELETE') OR a.attgenerated = '')) cols
		WHERE w.wanted AND cols.lacking IS NOT NULL AND named.relowner <> (SELECT oid FROM me) AND NOT (SELECT rolsuper FROM me)
		GROUP BY 1, 2, 3`,
		says: `the policies admit {privileges} on {object}, and {role} has no grant of its own for that: statements that need it fail, and * leaves out the columns that it may not read`,
		mend: `{regrant}`,
	}, {
		name: "grants-schema", grade: Note, stage: stageGrant,
		sql: `SELECT DISTINCT quote_ident(named.nspname) AS object, named.role FROM named, me
		WHERE named.access <> '{}' AND NOT has_schema_privilege(me.oid, named.nspname, 'USAGE')`,
		says: `{role} has no USAGE on schema {object}: every statement on its tables fails`,
		mend: `GRANT USAGE ON SCHEMA {object} TO {role};`,
	}, {
		name: "grants-sequence", grade: Note, stage: stageGrant,
		sql: `SELECT s.ident AS object, named.ident AS tab, named.role FROM serials s JOIN named ON named.oid = s.rel AND named.inserts, me
		WHERE s.deptype = 'a' AND named.relowner <> me.oid AND NOT me.rolsuper AND NOT EXISTS (SELECT FROM rights r WHERE r.rel = s.oid AND r.privilege = 'USAGE')`,
		says: `{role} has no USAGE on {object}, from which {tab} has a default: an INSERT that omits the column fails`,
		mend: `GRANT USAGE ON SEQUENCE {object} TO {role};`,
	}, {
		name: "grants-catalog", grade: Breach, stage: stageRevoke,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, (SELECT ident FROM me) AS role, string_agg(DISTINCT may.privilege, ', ') AS privileges,
			format('REVOKE %s ON %I.%I FROM %s;', string_agg(DISTINCT may.privilege, ', '), n.nspname, c.relname, string_agg(DISTINCT r.holder, ', ')) AS mend
		FROM rights r JOIN pg_class c ON c.oid = r.rel AND c.oid < ` + firstOwn + ` JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'pg_catalog'
		CROSS JOIN LATERAL (SELECT r.privilege || coalesce(' (' || (SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = r.attnum) || ')', '') AS privilege) may
		WHERE NOT EXISTS (SELECT FROM pg_init_privs i, aclexplode(i.initprivs) e WHERE i.objoid = c.oid AND i.classoid = 'pg_class'::regclass AND i.objsubid IN (0, r.attnum)
			AND e.grantee = r.grantee AND e.privilege_type = r.privilege) GROUP BY n.nspname, c.relname`,
		says: `{role} may {privileges} {object}, which Postgres keeps from everybody: it holds what is taken from every server's rows, or more`,
		mend: `{mend}`,
	}, {
		name: "grants-largeobject", grade: Breach, stage: stageRevoke,
		sql: `SELECT count(*) || ' large objects' AS object, (SELECT ident FROM me) AS role,
			format(E'DO $$\nDECLARE lo oid;\nBEGIN\n  FOR lo IN SELECT oid FROM pg_catalog.pg_largeobject_metadata LOOP\n    EXECUTE pg_catalog.format(''REVOKE ALL ON LARGE OBJECT %%s FROM PUBLIC, %%I'', lo, %L);\n  END LOOP;\nEND $$;', (SELECT rolname FROM me)) AS mend
		FROM pg_largeobject_metadata l, me WHERE EXISTS (SELECT FROM aclexplode(l.lomacl) e WHERE e.grantee IN (0, me.oid) AND e.grantee <> l.lomowner)
		HAVING count(*) > 0`,
		says: `{role} may read or write {object}: they belong to no server, and a statement that gets past the policy reads all of them by their numbers`,
		mend: `{mend}`,
	}, {
		name: "grants-largeowner", grade: Breach, stage: stageRevoke,
		sql: `SELECT count(*) || ' large objects' AS object, me.ident AS role,
			format(E'DO $$\nDECLARE lo oid;\nBEGIN\n  FOR lo IN SELECT l.oid FROM pg_catalog.pg_largeobject_metadata l JOIN pg_catalog.pg_roles r ON r.oid = l.lomowner WHERE r.rolname = %L LOOP\n    EXECUTE pg_catalog.format(''ALTER LARGE OBJECT %%s OWNER TO CURRENT_USER'', lo);\n  END LOOP;\nEND $$;', me.rolname) AS mend
		FROM me JOIN pg_largeobject_metadata l ON l.lomowner = me.oid GROUP BY me.ident, me.rolname`,
		says: `{role} owns {object}: statements of some server made them, and a statement of any other that gets past the policy reads them`,
		mend: `{mend}`,
	},
}
