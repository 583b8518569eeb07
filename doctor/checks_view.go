package doctor

import "github.com/tenantgate/tenantgate/wall"

// viewMissing is the check for the wall's view, and migrateFirst what to do where it is not
// there.
const (
	viewMissing  = "view-missing"
	migrateFirst = `Run "tenantgate migrate" first (--no-tables beside tables of your own), then doctor again: it prints the SQL that builds on the view.`
	migrateAgain = `Run "tenantgate migrate", which makes it again.`
)

// forgetKeys is what to do once others can't read the keys any more.
const forgetKeys = `Then make a new key with "tenantgate key rotate", and end these, which are to be taken for known, with "tenantgate key retire" as soon as every process has it.`

// viewChecks are about the view that says which server is signed for, and about the keys it
// verifies with. What it does when asked is in probe.go.
var viewChecks = []check{
	{
		name: viewMissing, grade: Breach, opens: true,
		sql:     `SELECT 'tenantgate_wall.server' AS object WHERE NOT EXISTS (SELECT FROM judge)`,
		says:    `there is no view {object}, which "tenantgate migrate" creates: nothing in the database knows which server a statement is for, so there can be no wall`,
		instead: migrateFirst,
	}, {
		name: "view-invoker", grade: Risk, opens: true, stage: stageSchema,
		sql:  `SELECT 'tenantgate_wall.server' AS object FROM judge AS c WHERE ` + wall.Invoker,
		says: `{object} reads the keys as whoever asks it: either they can't be read and every statement fails, or the statement role can, and a statement that gets past the policy could sign for any server`,
		mend: `ALTER VIEW {object} RESET (security_invoker);`,
	}, {
		name: "view-barrier", grade: Risk, opens: true, stage: stageSchema,
		sql:  `SELECT 'tenantgate_wall.server' AS object FROM judge AS c WHERE NOT ` + wall.Barrier,
		says: `{object} is no security_barrier view: what a statement asks of it can be looked at before the signature, row by row of the keys`,
		mend: `ALTER VIEW {object} SET (security_barrier = true);`,
	}, {
		name: "view-query", grade: Breach, opens: true,
		sql:     `SELECT 'tenantgate_wall.server' AS object FROM judge AS c WHERE NOT ` + wall.Defined,
		says:    `{object} is not the view that the wall is made of, or an operator of its query is not Postgres' own: what it returns for a server is whatever it reads, with the rights of its owner, which can read the keys`,
		instead: migrateAgain + ` If its columns are others it says so: DROP VIEW {object} CASCADE first, which also drops the policies that read it; doctor prints those again.`,
	}, {
		name: "view-select", grade: Risk, opens: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server' AS object, me.ident AS role FROM me, judge
		WHERE NOT (has_column_privilege(me.oid, judge.oid, 1::int2, 'SELECT') AND has_schema_privilege(me.oid, judge.relnamespace, 'USAGE'))`,
		says: `{role} may not read {object}: every statement on a table with the wall fails, and the service can't try it`,
		mend: "GRANT USAGE ON SCHEMA tenantgate_wall TO {role};\nGRANT SELECT ON {object} TO {role};",
	}, {
		name: "view-write", grade: Breach, opens: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server' AS object, me.ident AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM me, judge JOIN rights r ON r.rel = judge.oid AND r.privilege <> 'SELECT' GROUP BY 2`,
		says: `{role} has {privileges} on {object}, of which it needs no more than to read it: what it deletes there are the keys that its signature was made with, and then nobody's statements see a row`,
		mend: "REVOKE ALL ON {object} FROM {holders};\nGRANT SELECT ON {object} TO {role};",
	}, {
		name: "view-others", grade: Note, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.server' AS object, me.ident AS role, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(e.grantee)) END, ', ') AS holders,
			CASE WHEN bool_or(e.privilege_type <> 'SELECT' AND e.grantee <> 0) THEN 'risk' ELSE 'note' END AS grade,
			CASE WHEN bool_or(e.privilege_type <> 'SELECT' AND e.grantee <> 0) THEN 'change the keys through' ELSE 'try signatures on' END AS what
		FROM me, judge, LATERAL (SELECT * FROM aclexplode(judge.relacl) UNION ALL SELECT x.* FROM pg_attribute a, aclexplode(a.attacl) x WHERE a.attrelid = judge.oid) e
		WHERE e.grantee NOT IN (me.oid, judge.relowner) AND (e.grantee <> 0 OR e.privilege_type = 'SELECT') GROUP BY 2`,
		says: `{holders} may use {object}, which only {role} needs: others can {what} it`,
		mend: "REVOKE ALL ON {object} FROM {holders};\nGRANT SELECT ON {object} TO {role};",
	}, {
		name: "view-former", grade: Note,
		sql: `SELECT 'tenantgate_wall.server()' AS object, coalesce((SELECT ' of ' || string_agg(DISTINCT pol.polrelid::regclass::text, ', ') FROM pg_depend d JOIN pg_policy pol ON pol.oid = d.objid
			WHERE d.classid = 'pg_policy'::regclass AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = former.oid), '') AS callers FROM former`,
		says:    `the function {object}, which earlier versions had where the view tenantgate_wall.server is, is still there: services of this version get no server from it, and the policies{callers} that call it show them no row`,
		instead: `Where the wall's policy calls it, a finding of its own says what to put in its place. Run "tenantgate migrate" after: it drops the function once nothing depends on it.`,
	}, {
		name: "keys-missing", grade: Risk, opens: true,
		sql:     `SELECT 'tenantgate_wall.keys' AS object WHERE (SELECT oid FROM keyring) IS NULL AND (SELECT oid FROM judge) IS NOT NULL`,
		says:    `there is no table {object}: no signature can be verified, so statements fail or see no rows`,
		instead: `Run "tenantgate migrate": it creates the keys and passes them to the service. They are not printed here.`,
	}, {
		name: "keys-readable", grade: Breach, opens: true, stage: stageSchema,
		sql: `SELECT vaults.ident AS object, me.ident AS role, string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM me, rights r JOIN vaults ON vaults.oid = r.rel GROUP BY 1, 2`,
		says: `{role} has {privileges} on {object}: a statement that gets past the policy could sign for any server, and so read and change every server's rows`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-view", grade: Breach, opens: true, stage: stageSchema,
		sql: `SELECT format('%I.%I', n.nspname, c.relname) AS object, me.ident AS role, string_agg(DISTINCT peeks.ident, ', ') AS vault,
			string_agg(DISTINCT r.privilege, ', ') AS privileges, string_agg(DISTINCT r.holder, ', ') AS holders
		FROM me, peeks JOIN pg_class c ON c.oid = peeks.oid JOIN reached n ON n.oid = c.relnamespace JOIN rights r ON r.rel = c.oid
		WHERE NOT ` + asCaller + ` GROUP BY 1, 2`,
		says: `{role} has {privileges} on {object}, which shows the contents of {vault} to roles that may not read it: a statement that gets past the policy could sign for any server, and so read and change every server's rows`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-others", grade: Risk, stage: stageSchema,
		sql: `SELECT vaults.ident AS object, string_agg(DISTINCT quote_ident(pg_get_userbyid(e.grantee)), ', ') AS holders
		FROM me, vaults JOIN pg_class c ON c.oid = vaults.oid, LATERAL (SELECT x.grantee FROM aclexplode(c.relacl) x UNION SELECT x.grantee FROM pg_attribute a, aclexplode(a.attacl) x WHERE a.attrelid = c.oid) e
		WHERE e.grantee NOT IN (0, me.oid, c.relowner) AND NOT EXISTS (SELECT FROM judge WHERE judge.relowner = e.grantee) GROUP BY 1`,
		says: `{holders} may use {object}, which nobody needs but its owner and that of tenantgate_wall.server: whoever reads it signs for any server`,
		mend: `REVOKE ALL ON {object} FROM {holders};`, instead: forgetKeys,
	}, {
		name: "keys-blind", grade: Risk, opens: true, stage: stageSchema,
		sql: `SELECT 'tenantgate_wall.keys' AS object, quote_ident(pg_get_userbyid(judge.relowner)) AS owner FROM judge JOIN keyring ON true
		WHERE NOT has_table_privilege(judge.relowner, keyring.oid, 'SELECT')`,
		says: `{owner}, which owns tenantgate_wall.server and with whose rights it reads, may not read {object}: every statement on a table with the wall fails`,
		mend: `GRANT SELECT ON {object} TO {owner};`,
	},
}
