package doctor

import "github.com/tenantgate/tenantgate/wall"

// functionMissing is the check for the wall's function, and migrateFirst what to do where
// it is not there.
const (
	functionMissing = "function-missing"
	migrateFirst    = `Run "tenantgate migrate" first (--no-tables beside tables of your own), then doctor again: it prints the SQL that builds on the function.`
)

// forgetKeys is what to do once others can't read the keys any more.
const forgetKeys = `Then make a new key with "tenantgate key rotate", and end these, which are to be taken for known, with "tenantgate key retire" as soon as every process has it.`

// functionChecks are about the function that says which server is signed for, and about
// the keys it verifies with. What it does when asked is in probe.go.
var functionChecks = []check{
	{
		name: functionMissing, severity: Leak, breach: true,
		sql:     `SELECT 'tenantgate_wall.server()' AS object WHERE NOT EXISTS (SELECT FROM judge)`,
		says:    `there is no function {object}, which "tenantgate migrate" makes: nothing in the database can tell which server a statement is for, so no wall can stand`,
		instead: migrateFirst,
	}, {
		name: "function-invoker", severity: Risk, breach: true, stage: stageSchema,
		sql:  `SELECT 'tenantgate_wall.server()' AS object FROM pg_proc WHERE oid = (SELECT oid FROM judge) AND NOT prosecdef`,
		says: `{object} runs as its caller: either it can't read the keys and every statement fails, or the statement role can, and a statement that gets past the policy could sign for any server`,
		mend: `ALTER FUNCTION {object} SECURITY DEFINER;`,
	}, {
		name: "function-path", severity: Leak, breach: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server()' AS object FROM pg_proc WHERE oid = (SELECT oid FROM judge) AND prosrc <> $body$` + wall.Body + `$body$
			AND NOT EXISTS (SELECT FROM unnest(proconfig) AS c(setting) WHERE replace(setting, ' ', '') IN ('search_path=pg_catalog,pg_temp', 'search_path="pg_catalog","pg_temp"', 'search_path=pg_catalog,"pg_temp"'))`,
		says: `{object} is not the function that the wall is made of, whose text names every schema, and does not pin its search_path to pg_catalog, pg_temp either: a function or table that somebody puts before the one it means runs with the rights of its owner, who reads the keys`,
		mend: `ALTER FUNCTION {object} SET search_path = pg_catalog, pg_temp;`,
	}, {
		name: "function-shape", severity: Risk, breach: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server()' AS object, concat_ws(', ', CASE WHEN p.provolatile <> 's' THEN 'it is not STABLE' END,
			CASE WHEN p.proretset THEN 'it returns a set' END, CASE WHEN p.prorettype <> 'text'::regtype THEN 'it returns ' || format_type(p.prorettype, NULL) END) AS why
		FROM pg_proc p WHERE p.oid = (SELECT oid FROM judge) AND (p.provolatile <> 's' OR p.proretset OR p.prorettype <> 'text'::regtype)`,
		says:    `{object} is not the function that the wall is made of ({why}): its answer may be another within one statement, or kept from one statement for the next`,
		instead: `Run "tenantgate migrate", which makes it again.`,
	}, {
		name: "function-execute", severity: Risk, breach: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server()' AS object, me.ident AS role FROM me, judge
		WHERE NOT (has_function_privilege(me.oid, judge.oid, 'EXECUTE') AND has_schema_privilege(me.oid, judge.pronamespace, 'USAGE'))`,
		says: `{role} may not execute {object}: every statement on a table with the wall fails, and the service can't try it`,
		mend: "GRANT USAGE ON SCHEMA tenantgate_wall TO {role};\nGRANT EXECUTE ON FUNCTION {object} TO {role};",
	}, {
		name: "function-public", severity: Note, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server()' AS object, me.ident AS role, string_agg(CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(e.grantee)) END, ', ') AS holders
		FROM me, pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
		WHERE p.oid = (SELECT oid FROM judge) AND e.grantee NOT IN (me.oid, p.proowner) GROUP BY 2`,
		says: `{holders} may execute {object}, which only {role} needs: others can try signatures on it`,
		mend: "REVOKE ALL ON FUNCTION {object} FROM {holders};\nGRANT EXECUTE ON FUNCTION {object} TO {role};",
	}, {
		name: "keys-missing", severity: Risk, breach: true,
		sql:     `SELECT 'tenantgate_wall.keys' AS object WHERE (SELECT oid FROM keyring) IS NULL AND (SELECT oid FROM judge) IS NOT NULL`,
		says:    `there is no table {object}: no signature can be verified, so statements fail or see no rows`,
		instead: `Run "tenantgate migrate": it makes the keys and gives them to the service. They are not printed here.`,
	}, {
		name: "keys-readable", severity: Leak, breach: true, stage: stageSchema,
		sql: `SELECT vaults.ident AS object, me.ident AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM me, rights r JOIN vaults ON vaults.oid = r.rel GROUP BY 1, 2`,
		says: `{role} has {privileges} on {object}: a statement that gets past the policy could sign for any server, and so read and change every server's rows`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-view", severity: Leak, breach: true, stage: stageSchema,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, me.ident AS role, string_agg(DISTINCT peeks.ident, ', ') AS vault,
			string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM me, peeks JOIN pg_class c ON c.oid = peeks.oid JOIN reached n ON n.oid = c.relnamespace JOIN rights r ON r.rel = c.oid
		WHERE NOT ` + asCaller + ` GROUP BY 1, 2`,
		says: `{role} has {privileges} on {object}, which gives what is in {vault} to whoever may not read that: a statement that gets past the policy could sign for any server, and so read and change every server's rows`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-others", severity: Risk, stage: stageSchema,
		sql: `SELECT vaults.ident AS object, string_agg(DISTINCT quote_ident(pg_get_userbyid(e.grantee)), ', ') AS holders
		FROM me, vaults JOIN pg_class c ON c.oid = vaults.oid, LATERAL (SELECT x.grantee FROM aclexplode(c.relacl) x UNION SELECT x.grantee FROM pg_attribute a, aclexplode(a.attacl) x WHERE a.attrelid = c.oid) e
		WHERE e.grantee NOT IN (0, me.oid, c.relowner) AND NOT EXISTS (SELECT FROM judge WHERE judge.proowner = e.grantee) GROUP BY 1`,
		says: `{holders} may use {object}, which nobody needs but its owner and that of tenantgate_wall.server(): whoever reads it signs for any server`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-blind", severity: Risk, breach: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.keys' AS object, quote_ident(pg_get_userbyid(p.proowner)) AS owner FROM pg_proc p
		WHERE p.oid = (SELECT oid FROM judge) AND (SELECT oid FROM keyring) IS NOT NULL
			AND NOT (has_table_privilege(p.proowner, (SELECT oid FROM keyring), 'SELECT') AND has_schema_privilege(p.proowner, (SELECT pronamespace FROM judge), 'USAGE'))`,
		says: `{owner}, which owns tenantgate_wall.server() and which it runs as, may not read {object}: every statement on a table with the wall fails`,
		mend: "GRANT USAGE ON SCHEMA tenantgate_wall TO {owner};\nGRANT SELECT ON {object} TO {owner};",
	},
}
