package doctor

import "github.com/tenantgate/tenantgate/wall"

// wallSQL, after relation scoped, makes the wall of a table whole, whatever there is of it.
// Row-level security binds everybody but the owner, so it also keeps as they were the other
// roles that have rights on the table and that no policy admits.
const wallSQL = `concat_ws(E'\n',
	format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY;', scoped.ident),
	format('DROP POLICY IF EXISTS tenantgate_server ON %s;', scoped.ident),
	format('CREATE POLICY tenantgate_server ON %s TO %s USING (%s) WITH CHECK (%s);', scoped.ident, scoped.role, scoped.expression, scoped.expression),
	CASE WHEN left_out.roles <> '' THEN format(E'DROP POLICY IF EXISTS tenantgate_others ON %s;\nCREATE POLICY tenantgate_others ON %s TO %s USING (true) WITH CHECK (true);', scoped.ident, scoped.ident, left_out.roles) END)`

// leftOut gives the roles other than the statement role that have rights on a scoped table
// and whom no permissive policy admits but tenantgate_others, which is made anew for all of
// them, and those whom it does not admit yet.
const leftOut = `LATERAL (SELECT string_agg(DISTINCT quote_ident(r.rolname), ', ' ORDER BY quote_ident(r.rolname)) AS roles,
		string_agg(DISTINCT quote_ident(r.rolname), ', ' ORDER BY quote_ident(r.rolname)) FILTER (WHERE NOT EXISTS (SELECT FROM pg_policy p
			WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_others' AND p.polroles && ARRAY[0::oid, r.oid])) AS blind
	FROM (SELECT e.grantee FROM aclexplode(scoped.relacl) e UNION SELECT e.grantee FROM pg_attribute a, aclexplode(a.attacl) e WHERE a.attrelid = scoped.oid) g
	JOIN pg_roles r ON r.oid = g.grantee, me WHERE r.oid NOT IN (me.oid, scoped.relowner) AND NOT r.rolsuper AND NOT r.rolbypassrls AND r.oid NOT IN (SELECT oid FROM mine)
		AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polpermissive AND p.polname NOT IN ('tenantgate_server', 'tenantgate_others') AND p.polroles && ARRAY[0::oid, r.oid])) left_out`

// ours is the wall's policy on a scoped table, and expected how Postgres prints its
// expression: in the catalog it is a tree, which has no other text.
const ours = `LATERAL (SELECT p.*, pg_get_expr(p.polqual, p.polrelid) AS sees, pg_get_expr(p.polwithcheck, p.polrelid) AS checks, (` + wall.Printed + `) AS expected
	FROM pg_policy p, pg_attribute a
	WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server' AND a.attrelid = scoped.oid AND a.attnum = scoped.attnum) ours`

// wallChecks are about row-level security on the scoped tables.
var wallChecks = []check{
	{
		name: "wall-missing", grade: Breach, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend FROM scoped, ` + leftOut + `
		WHERE scoped.relkind <> 'f' AND NOT scoped.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server')`,
		says: `{object} has no row-level security: a statement that gets past the policy could read and change every server's rows of it, and pg_stats shows values of all of them`,
		mend: `{mend}`,
	}, {
		name: "wall-off", grade: Breach, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall FROM scoped
		WHERE scoped.relkind <> 'f' AND NOT scoped.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server')`,
		says: `row-level security of {object} is switched off, though it has the wall's policy: a statement that gets past the policy could read and change every server's rows of it`,
		mend: `ALTER TABLE {object} ENABLE ROW LEVEL SECURITY;`,
	}, {
		name: "wall-policy", grade: Risk, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend FROM scoped, ` + leftOut + `
		WHERE scoped.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server')`,
		says: `{object} has row-level security without the policy tenantgate_server: what its other policies show is the same for every server, and without any statements see nothing`,
		mend: `{mend}`,
	}, {
		name: "wall-expression", grade: Breach, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend,
			concat_ws(' and ', CASE WHEN ours.sees IS DISTINCT FROM ours.expected THEN 'USING ' || coalesce(ours.sees, 'nothing') END,
				CASE WHEN ours.checks IS DISTINCT FROM ours.expected THEN 'WITH CHECK ' || coalesce(ours.checks, 'nothing') END) AS has
		FROM scoped, ` + leftOut + `, ` + ours + ` WHERE ours.sees IS DISTINCT FROM ours.expected OR ours.checks IS DISTINCT FROM ours.expected`,
		says: `the policy tenantgate_server on {object} does not compare the scope column with the signed server, for it has {has}: what a statement that gets past the policy reads and writes is whatever that admits`,
		mend: `{mend}`,
	}, {
		name: "wall-function", grade: Breach, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend, string_agg(DISTINCT p.oid::regprocedure::text, ', ') AS functions
		FROM scoped, ` + leftOut + `, ` + ours + ` JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = ours.oid AND d.refclassid = 'pg_proc'::regclass
			JOIN pg_proc p ON p.oid = d.refobjid
		WHERE ours.sees = ours.expected AND ours.checks = ours.expected GROUP BY scoped.ident, mend`,
		says: `the policy tenantgate_server on {object} reads as it must, and runs {functions} beside, which are not Postgres' own: the scope column is compared with whatever they return`,
		mend: `{mend}`,
	}, {
		name: "wall-command", grade: Risk, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend,
			CASE ours.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' ELSE 'DELETE' END AS command
		FROM scoped, ` + leftOut + `, ` + ours + ` WHERE ours.polcmd <> '*'`,
		says: `the policy tenantgate_server on {object} is for {command} alone: other statements see no rows, or those that another policy shows to every server`,
		mend: `{mend}`,
	}, {
		name: "wall-role", grade: Risk, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, scoped.role, ` + wallSQL + ` AS mend
		FROM scoped, ` + leftOut + `, ` + ours + `, me WHERE NOT ours.polroles && ARRAY[0::oid, me.oid]`,
		says: `the policy tenantgate_server on {object} is not for {role}: its statements see no rows, or those that another policy shows to every server`,
		mend: `{mend}`,
	}, {
		name: "wall-restrictive", grade: Risk, opens: true, stage: stageWall,
		sql: `SELECT scoped.ident AS object, scoped.ident AS wall, ` + wallSQL + ` AS mend
		FROM scoped, ` + leftOut + `, ` + ours + ` WHERE NOT ours.polpermissive`,
		says: `the policy tenantgate_server on {object} is restrictive: without a permissive one statements see no rows`,
		mend: `{mend}`,
	}, {
		name: "wall-further", grade: Breach, opens: true, stage: stageWall,
		sql: `SELECT quote_ident(p.polname) || ' on ' || scoped.ident AS object, scoped.ident AS wall, scoped.role,
			CASE WHEN others.roles IS NULL THEN format('DROP POLICY IF EXISTS %I ON %s;', p.polname, scoped.ident)
				ELSE format('ALTER POLICY %I ON %s TO %s;', p.polname, scoped.ident, others.roles) END AS mend
		FROM scoped JOIN pg_policy p ON p.polrelid = scoped.oid AND p.polpermissive AND p.polname <> 'tenantgate_server', me, LATERAL (
			SELECT string_agg(DISTINCT quote_ident(r.rolname), ', ' ORDER BY quote_ident(r.rolname)) AS roles FROM pg_roles r
			WHERE r.oid NOT IN (me.oid, scoped.relowner) AND (r.oid = ANY (p.polroles)
				OR p.polroles = '{0}' AND NOT r.rolsuper AND r.oid IN (SELECT e.grantee FROM aclexplode(scoped.relacl) e))) others
		WHERE p.polroles && ARRAY[0::oid, me.oid]`,
		says: `the policy {object} holds for {role} too, and permissive policies add up: a statement that gets past the policy could read and change all that it admits, beside its own server's rows`,
		mend: `{mend}`,
	}, {
		name: "wall-foreign", grade: Breach, opens: true,
		sql:     `SELECT u.ident AS object, u.wall FROM units u JOIN pg_class c ON c.oid = u.oid WHERE c.relkind = 'f'`,
		says:    `{object} is a foreign table, which can have no row-level security: where its rows are, an error that a condition raises reveals values of other servers, and a statement that gets past the policy could read them`,
		instead: `No wall can stand here: set row-level security up where the rows are, for a role that only this server's user mapping uses, or close {wall} in the policy (access: []).`,
	}, {
		name: "wall-others", grade: Note, stage: stageWall,
		sql: `SELECT scoped.ident AS object, left_out.blind AS roles, ` + wallSQL + ` AS mend FROM scoped, ` + leftOut + `
		WHERE scoped.relrowsecurity AND left_out.blind <> '' AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = scoped.oid AND p.polname = 'tenantgate_server')`,
		says: `row-level security of {object} binds {roles} too, and no policy is for them: they have rights on it and see no rows`,
		mend: `{mend}`,
	}, {
		name: "wall-forced", grade: Note, stage: stageWall,
		sql:  `SELECT ident AS object FROM scoped WHERE relforcerowsecurity`,
		says: `row-level security of {object} binds its owner too (FORCE): dumps as the owner fail or lack rows, and the wall does not need it`,
		mend: `ALTER TABLE {object} NO FORCE ROW LEVEL SECURITY;`,
	},
}
