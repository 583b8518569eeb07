package doctor

import _ "embed" // for leakproof.txt

// stockLeakproof are the functions that Postgres itself marks leakproof, one on a line.
//
//go:embed leakproof.txt
var stockLeakproof string

// surfaceChecks are about what a statement could call beside tables.
var surfaceChecks = []check{
	{
		name: "surface-definer", severity: Risk, stage: stageRevoke,
		sql: `SELECT f.ident AS object, (SELECT ident FROM me) AS role, f.owner, CASE WHEN f.mighty THEN 'leak' ELSE 'risk' END AS severity,
			CASE WHEN f.mighty THEN ', whom row-level security does not bind' ELSE '' END AS whom,
			CASE WHEN f.allowed THEN '' ELSE format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders) END AS mend,
			CASE WHEN f.allowed THEN 'A policy allows the function: read its body, or take it out of functions.allow and run doctor again.' ELSE '' END AS instead
		FROM ` + callable + ` WHERE f.prosecdef`,
		says: `{role} may execute {object}, which is SECURITY DEFINER: a statement that calls it does what its body does as {owner}{whom}`,
		mend: `{mend}`, instead: `{instead}`,
	}, {
		name: "surface-language", severity: Leak, stage: stageRevoke,
		sql: `SELECT f.ident AS object, (SELECT ident FROM me) AS role, f.lanname AS language, format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders) AS mend
		FROM ` + callable + ` WHERE NOT f.lanpltrusted AND f.lanname <> 'internal' AND NOT f.extended AND NOT f.prosecdef`,
		says: `{role} may execute {object}, which is written in {language}: such code runs as the database server itself, reads its files and keeps what it likes from one statement to the next`,
		mend: `{mend}`,
	}, {
		name: "surface-restricted", severity: Leak, stage: stageRevoke,
		sql: `SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object, me.ident AS role,
			string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'pg_catalog', aclexplode(p.proacl) e
		WHERE e.grantee IN (0, me.oid) AND EXISTS (SELECT FROM pg_init_privs i WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass)
			AND NOT EXISTS (SELECT FROM pg_init_privs i, aclexplode(i.initprivs) x WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass AND x.grantee = e.grantee)
		GROUP BY n.nspname, p.proname, p.oid, me.ident`,
		says: `{role} may execute {object}, which Postgres keeps from everybody: a statement that gets past the policy could read files, other sessions or other servers' data with it`,
		mend: `REVOKE EXECUTE ON FUNCTION {object} FROM {holders};`,
	}, {
		name: "surface-extension", severity: Risk, stage: stageRevoke,
		sql: `SELECT f.extension AS object, (SELECT ident FROM me) AS role, danger.why,
			string_agg(format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders), E'\n' ORDER BY f.ident) AS mend
		FROM (VALUES ('dblink', 'open connections of its own, to this database too, in which neither the policy nor the wall holds'),
			('postgres_fdw', 'end and list connections to other servers'), ('adminpack', 'write files of the database server'),
			('pageinspect', 'read pages as they lie on disk, deleted rows and other servers'' rows among them'), ('pg_walinspect', 'read every server''s changes from the log'),
			('pg_surgery', 'change rows under Postgres'' feet'), ('pgrowlocks', 'see which rows other servers are changing'), ('pgstattuple', 'count every server''s rows'),
			('pg_buffercache', 'see what other servers read'), ('pg_visibility', 'see which pages other servers change'), ('amcheck', 'run index expressions as the owner of a table'),
			('http', 'send what it reads over the network'), ('pg_net', 'send what it reads over the network'), ('pg_cron', 'have a statement run later, outside the policy'),
			('pg_background', 'have a statement run beside it, outside the policy'), ('plproxy', 'run statements elsewhere'), ('xml2', 'run a query that it gives as text'), ('tablefunc', 'run a query that it gives as text'),
			('lo', 'make and remove large objects, which belong to no server'), ('pldbgapi', 'look into the functions of other sessions'), ('orafce', 'read and write files and shared pipes')) danger(name, why)
		JOIN ` + callable + ` ON f.extension = danger.name AND NOT f.prosecdef AND NOT f.allowed GROUP BY f.extension, danger.why`,
		says: `{role} may execute functions of the extension {object}: a statement that gets past the policy could {why}`,
		mend: `{mend}`,
	}, {
		name: "surface-server", severity: Risk, stage: stageRevoke,
		sql: `SELECT quote_ident(s.srvname) AS object, me.ident AS role, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_foreign_server s, aclexplode(s.srvacl) e WHERE e.grantee IN (0, me.oid) AND e.grantee <> s.srvowner GROUP BY 1, 2`,
		says: `{role} may use the foreign server {object}: a statement that gets past the policy could make a mapping there and read what lies behind it`,
		mend: `REVOKE USAGE ON FOREIGN SERVER {object} FROM {holders};`,
	}, {
		name: "surface-statements", severity: Leak, stage: stageRevoke,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, (SELECT ident FROM me) AS role, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM rights r JOIN pg_class c ON c.oid = r.rel AND c.relkind = 'v' JOIN reached n ON n.oid = c.relnamespace
		WHERE c.relname ~ '^pg_(stat_(statements|kcache|monitor|qual)|wait_sampling|qualstats|store_plans)' AND r.privilege = 'SELECT' AND c.relname <> 'pg_stat_statements_info' GROUP BY n.nspname, c.relname`,
		says: `{role} may read {object}: all servers share the role, so a statement that gets past the policy reads the texts and counts of every server's statements`,
		mend: `REVOKE ALL ON {object} FROM {holders};`,
	}, {
		name: "surface-leakproof", severity: Risk, breach: true, stage: stageRest,
		sql: `SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object,
			CASE WHEN own.ours THEN 'risk' ELSE 'leak' END AS severity, CASE WHEN own.ours THEN '-' ELSE '' END AS wall, CASE WHEN own.ours THEN '' ELSE ', which Postgres itself does not mark so' END AS whose
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace CROSS JOIN LATERAL (SELECT n.nspname <> 'pg_catalog' AS ours) own
		WHERE p.proleakproof AND (own.ours OR p.proname || '(' || array_to_string(p.proargtypes::regtype[], ', ') || ')' <> ALL (string_to_array($list$` + stockLeakproof + `$list$, E'\n')))`,
		says: `{object} is marked LEAKPROOF{whose}: Postgres lets it see other servers' rows before row-level security has dropped them, and what it raises or records tells of them`,
		mend: `ALTER FUNCTION {object} NOT LEAKPROOF;`,
	}, {
		name: "surface-cast", severity: Risk, stage: stageRest,
		sql: `SELECT format('%s AS %s', format_type(c.castsource, NULL), format_type(c.casttarget, NULL)) AS object, string_agg(DISTINCT s.ident, ', ') AS tabs
		FROM pg_cast c JOIN pg_proc p ON p.oid = c.castfunc JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname <> 'pg_catalog' JOIN scoped s ON s.atttypid IN (c.castsource, c.casttarget)
		WHERE c.castcontext <> 'e' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e') GROUP BY c.oid, c.castsource, c.casttarget`,
		says: `the cast {object}, which somebody added, applies without being written: the id that {tabs} is compared with can go through its function, and become another server's`,
		mend: `DROP CAST IF EXISTS ({object});`,
	}, {
		name: "surface-operator", severity: Note,
		sql: `SELECT format('%I.%s(%s, %s)', n.nspname, o.oprname, CASE WHEN o.oprleft = 0 THEN 'NONE' ELSE format_type(o.oprleft, NULL) END, format_type(o.oprright, NULL)) AS object,
			quote_ident(pg_get_userbyid(o.oprowner)) AS owner, quote_ident(n.nspname) AS schema
		FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace JOIN pg_roles r ON r.oid = o.oprowner AND NOT r.rolsuper
		WHERE n.nspname <> 'pg_catalog' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e')`,
		says:    `the operator {object} is {owner}'s, who is no superuser: where {schema} is on the search path of statements, it can stand in for the one they mean`,
		instead: `Keep {schema} out of --search-path.`,
	},
}

// callable are the functions outside pg_catalog that the statement role may call, and
// whose schema it may use: f.mighty, if row-level security does not bind their owner.
const callable = `(SELECT p.oid, p.prosecdef, l.lanname, l.lanpltrusted, format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS ident, quote_ident(o.rolname) AS owner,
		o.rolsuper OR o.rolbypassrls OR EXISTS (SELECT FROM scoped WHERE pg_has_role(o.oid, scoped.relowner, 'MEMBER')) AS mighty,
		EXISTS (SELECT FROM allowed WHERE allowed.schema = n.nspname AND allowed.name = p.proname) AS allowed,
		x.extname IS NOT NULL AS extended, x.extname AS extension, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
	FROM me, pg_proc p JOIN reached n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang JOIN pg_roles o ON o.oid = p.proowner
	LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass LEFT JOIN pg_extension x ON x.oid = d.refobjid
	CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
	WHERE e.grantee IN (0, me.oid) AND e.grantee <> p.proowner AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
		AND NOT (n.nspname = 'tenantgate_wall' AND p.proname = 'server' AND p.pronargs = 0)
	GROUP BY p.oid, n.nspname, l.lanname, l.lanpltrusted, o.oid, o.rolname, o.rolsuper, o.rolbypassrls, x.extname) f`
