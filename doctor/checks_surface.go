package doctor

import _ "embed" // for leakproof.txt

// stockLeakproof are the functions that Postgres itself marks leakproof, one on a line.
//
//go:embed leakproof.txt
var stockLeakproof string

// surfaceChecks are about what a statement could call beside tables.
var surfaceChecks = []check{
	{
		name: "surface-definer", grade: Risk, stage: stageRevoke,
		sql: `SELECT f.ident AS object, (SELECT ident FROM me) AS role, f.owner, CASE WHEN f.mighty THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN f.mighty THEN ', whom row-level security does not bind' ELSE '' END AS whom,
			CASE WHEN f.allowed THEN '' ELSE format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders) END AS mend,
			CASE WHEN f.allowed THEN 'A policy allows the function: read its body, or take it out of functions.allow and run doctor again.' ELSE '' END AS instead
		FROM ` + callable + ` WHERE f.prosecdef`,
		says: `{role} may execute {object}, which is SECURITY DEFINER: a statement that calls it does what its body does as {owner}{whom}`,
		mend: `{mend}`, instead: `{instead}`,
	}, {
		name: "surface-through", grade: Risk, stage: stageRevoke,
		sql: `SELECT format('%I.%I(%s)', pn.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object, (SELECT ident FROM me) AS role, quote_ident(o.rolname) AS owner,
			CASE WHEN bool_or(` + mighty + `) THEN 'breach' ELSE 'risk' END AS grade, CASE WHEN bool_or(` + mighty + `) THEN ', whom row-level security does not bind' ELSE '' END AS whom,
			string_agg(DISTINCT via.what, ', ') AS what,
			string_agg(DISTINCT format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', coalesce(via.ident, p.oid::regprocedure::text), coalesce(via.holders, held.holders)), E'\n') AS mend
		FROM (
			WITH RECURSIVE called AS (
				SELECT oprcode::oid AS func, format('the operator %I.%s', n.nspname, oprname) AS what, NULL AS ident, NULL AS holders FROM pg_operator JOIN reached n ON n.oid = oprnamespace
				UNION SELECT castfunc, format('the cast %s AS %s', format_type(castsource, NULL), format_type(casttarget, NULL)), NULL, NULL FROM pg_cast
				UNION SELECT f.oid, f.ident, CASE f.prokind WHEN 'a' THEN f.ident END, CASE f.prokind WHEN 'a' THEN f.holders END FROM ` + callable + `
			), calls AS (
				SELECT * FROM called
				UNION SELECT d.refobjid, c.what, c.ident, c.holders FROM calls c JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = c.func AND d.refclassid = 'pg_proc'::regclass
			) SELECT * FROM calls
		) via JOIN pg_proc p ON p.oid = via.func AND p.prosecdef JOIN pg_namespace pn ON pn.oid = p.pronamespace JOIN pg_roles o ON o.oid = p.proowner
		CROSS JOIN LATERAL (SELECT string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
			FROM me, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e WHERE e.grantee IN (0, me.oid) AND e.grantee <> p.proowner) held
		WHERE via.ident IS NOT NULL OR held.holders IS NOT NULL AND p.pronamespace NOT IN (SELECT oid FROM reached) GROUP BY p.oid, pn.nspname, o.rolname`,
		says: `{role} can run {object} through {what}, which needs no right to its schema: it is SECURITY DEFINER, so a statement that gets past the policy does what its body does as {owner}{whom}`,
		mend: `{mend}`,
	}, {
		name: "surface-language", grade: Breach, stage: stageRevoke,
		sql: `SELECT f.ident AS object, (SELECT ident FROM me) AS role, f.lanname AS language, format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders) AS mend
		FROM ` + callable + ` WHERE NOT f.lanpltrusted AND f.lanname <> 'internal' AND NOT f.extended AND NOT f.prosecdef`,
		says: `{role} may execute {object}, which is written in {language}: such code runs as the database server itself, reads its files and keeps what it likes from one statement to the next`,
		mend: `{mend}`,
	}, {
		name: "surface-restricted", grade: Breach, stage: stageRevoke,
		sql: `SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object, me.ident AS role,
			string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'pg_catalog', aclexplode(p.proacl) e
		WHERE e.grantee IN (0, me.oid) AND EXISTS (SELECT FROM pg_init_privs i WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass)
			AND NOT EXISTS (SELECT FROM pg_init_privs i, aclexplode(i.initprivs) x WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass AND x.grantee = e.grantee)
		GROUP BY n.nspname, p.proname, p.oid, me.ident`,
		says: `{role} may execute {object}, which Postgres keeps from everybody: a statement that gets past the policy could read files, other sessions or other servers' data with it`,
		mend: `REVOKE EXECUTE ON FUNCTION {object} FROM {holders};`,
	}, {
		name: "surface-extension", grade: Risk, stage: stageRevoke,
		sql: `SELECT f.extension AS object, (SELECT ident FROM me) AS role, danger.why,
			string_agg(format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', f.ident, f.holders), E'\n' ORDER BY f.ident) AS mend
		FROM (VALUES ('dblink', 'open connections of its own, to this database too, in which neither the policy nor the wall holds'),
			('postgres_fdw', 'end and list connections to other servers'), ('adminpack', 'write files of the database server'),
			('pageinspect', 'read pages as they lie on disk, deleted rows and other servers'' rows among them'), ('pg_walinspect', 'read every server''s changes from the log'),
			('pg_surgery', 'change rows under Postgres'' feet'), ('pgrowlocks', 'see which rows other servers are changing'), ('pgstattuple', 'count every server''s rows'),
			('pg_buffercache', 'see what other servers read'), ('pg_visibility', 'see which pages other servers change'), ('amcheck', 'run index expressions as the owner of a table'),
			('http', 'send what it reads over the network'), ('pg_net', 'send what it reads over the network'), ('pg_cron', 'have a statement run later, outside the policy'),
			('pg_background', 'run another statement beside it, outside the policy'), ('plproxy', 'run statements elsewhere'), ('xml2', 'run a query that it gives as text'), ('tablefunc', 'run a query that it gives as text'),
			('lo', 'make and remove large objects, which belong to no server'), ('pldbgapi', 'look into the functions of other sessions'), ('orafce', 'read and write files and shared pipes')) danger(name, why)
		JOIN ` + callable + ` ON f.extension = danger.name AND NOT f.prosecdef AND NOT f.allowed GROUP BY f.extension, danger.why`,
		says: `{role} may execute functions of the extension {object}: a statement that gets past the policy could {why}`,
		mend: `{mend}`,
	}, {
		name: "surface-server", grade: Risk, stage: stageRevoke,
		sql: `SELECT quote_ident(s.srvname) AS object, me.ident AS role, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_foreign_server s, aclexplode(s.srvacl) e WHERE e.grantee IN (0, me.oid) AND e.grantee <> s.srvowner GROUP BY 1, 2`,
		says: `{role} may use the foreign server {object}: a statement that gets past the policy could make a mapping there and read what lies behind it`,
		mend: `REVOKE USAGE ON FOREIGN SERVER {object} FROM {holders};`,
	}, {
		name: "surface-statements", grade: Breach, stage: stageRevoke,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, (SELECT ident FROM me) AS role, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM rights r JOIN pg_class c ON c.oid = r.rel AND c.relkind = 'v' JOIN reached n ON n.oid = c.relnamespace
		WHERE c.relname ~ '^pg_(stat_(statements|kcache|monitor|qual)|wait_sampling|qualstats|store_plans)' AND r.privilege = 'SELECT' AND c.relname <> 'pg_stat_statements_info' GROUP BY n.nspname, c.relname`,
		says: `{role} may read {object}: all servers share the role, so a statement that gets past the policy reads the texts and counts of every server's statements`,
		mend: `REVOKE ALL ON {object} FROM {holders};`,
	}, {
		name: "surface-leakproof", grade: Risk, opens: true, stage: stageRest,
		sql: `SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object,
			CASE WHEN own.ours THEN 'risk' ELSE 'breach' END AS grade, CASE WHEN own.ours THEN '-' ELSE '' END AS wall, CASE WHEN own.ours THEN '' ELSE ', which no Postgres from 15 to 18 marks so by itself' END AS whose
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace CROSS JOIN LATERAL (SELECT n.nspname <> 'pg_catalog' AS ours) own
		WHERE p.proleakproof AND (own.ours OR p.proname || '(' || array_to_string(p.proargtypes::regtype[], ', ') || ')' <> ALL (string_to_array($list$` + stockLeakproof + `$list$, E'\n')))`,
		says: `{object} is marked LEAKPROOF{whose}: Postgres lets it see other servers' rows before row-level security has removed them, and what it raises or records reveals them`,
		mend: `ALTER FUNCTION {object} NOT LEAKPROOF;`,
	}, {
		name: "surface-cast", grade: Risk, stage: stageColumn,
		sql: `SELECT format('%s AS %s', format_type(c.castsource, NULL), format_type(c.casttarget, NULL)) AS object, string_agg(DISTINCT s.ident, ', ') AS tabs,
			CASE c.castcontext WHEN 'e' THEN 'is the one that the wall writes' ELSE 'applies without being written' END AS how
		FROM pg_cast c JOIN scoped s ON s.atttypid IN (c.castsource, c.casttarget)
		WHERE c.castfunc <> 0 AND c.oid >= ` + firstOwn + ` AND (c.castcontext <> 'e' OR 'text'::regtype IN (c.castsource, c.casttarget) AND s.atttypid <> 'text'::regtype)
			AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e') GROUP BY c.oid, c.castsource, c.casttarget, c.castcontext`,
		says: `the cast {object}, which somebody added, {how}: the id that {tabs} is compared with can go through its function, and become another server's`,
		mend: `DROP CAST IF EXISTS ({object});`,
	}, {
		name: "surface-operator", grade: Note,
		sql: `SELECT format('%I.%s(%s, %s)', n.nspname, o.oprname, CASE WHEN o.oprleft = 0 THEN 'NONE' ELSE format_type(o.oprleft, NULL) END, format_type(o.oprright, NULL)) AS object,
			quote_ident(pg_get_userbyid(o.oprowner)) AS owner, quote_ident(n.nspname) AS schema
		FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace JOIN pg_roles r ON r.oid = o.oprowner AND NOT r.rolsuper
		WHERE n.nspname <> 'pg_catalog' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e')`,
		says:    `the operator {object} is {owner}'s, who is no superuser: where {schema} is on the search path of statements, it can stand in for the one they mean`,
		instead: `Keep {schema} out of --search-path.`,
	},
}

// mighty, of an owner o, is that row-level security does not bind it.
const mighty = `(o.rolsuper OR o.rolbypassrls OR EXISTS (SELECT FROM scoped WHERE pg_has_role(o.oid, scoped.relowner, 'MEMBER')))`

// callable are the functions that are not Postgres' own and that the statement role may call, and
// whose schema it may use: f.mighty, if row-level security does not bind their owner.
const callable = `(SELECT p.oid, p.prosecdef, p.prokind, l.lanname, l.lanpltrusted, format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS ident, quote_ident(o.rolname) AS owner,
		` + mighty + ` AS mighty,
		EXISTS (SELECT FROM allowed WHERE allowed.schema = n.nspname AND allowed.name = p.proname) AS allowed,
		x.extname IS NOT NULL AS extended, x.extname AS extension, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
	FROM me, pg_proc p JOIN reached n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang JOIN pg_roles o ON o.oid = p.proowner
	LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass LEFT JOIN pg_extension x ON x.oid = d.refobjid
	CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
	WHERE p.oid >= ` + firstOwn + ` AND e.grantee IN (0, me.oid) AND e.grantee <> p.proowner AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
		AND NOT (n.nspname = 'tenantgate_wall' AND p.proname = 'server' AND p.pronargs = 0)
	GROUP BY p.oid, n.nspname, l.lanname, l.lanpltrusted, o.oid, o.rolname, o.rolsuper, o.rolbypassrls, x.extname) f`
