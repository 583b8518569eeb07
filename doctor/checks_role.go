package doctor

import "strings"

// makeRole makes a role for statements.
const makeRole = `CREATE ROLE tenantgate_statement LOGIN NOINHERIT PASSWORD '…'`

// roleChecks are about what the statement role is, whatever tables there are.
var roleChecks = []check{
	{
		name: "role-superuser", grade: Breach, opens: true, stage: stageRole,
		sql:     `SELECT ident AS object, 'yes' AS alone FROM me WHERE rolsuper`,
		says:    `{object} is a superuser: a statement that gets past the policy reads and changes every server's rows, other databases and the machine's files; neither grants nor row-level security bind it`,
		instead: `Nothing else was judged. Make a role for statements, ` + makeRole + `, and give its URL with --database-url; a superuser's is for --owner-database-url.`,
	}, {
		name: "role-bypassrls", grade: Breach, opens: true, stage: stageRole,
		sql:  `SELECT ident AS object FROM me WHERE rolbypassrls`,
		says: `{object} has BYPASSRLS: no row-level security holds for it, so a statement that gets past the policy could read every server's rows`,
		mend: `ALTER ROLE {object} NOBYPASSRLS;`,
	}, {
		name: "role-createrole", grade: Breach, stage: stageRole,
		sql:  `SELECT ident AS object FROM me WHERE rolcreaterole`,
		says: `{object} has CREATEROLE: a statement that gets past the policy could make roles, change those it may administer, and before Postgres 16 make itself a member of any that is no superuser`,
		mend: `ALTER ROLE {object} NOCREATEROLE;`,
	}, {
		name: "role-replication", grade: Breach, stage: stageRole,
		sql:  `SELECT ident AS object FROM me WHERE rolreplication`,
		says: `{object} has REPLICATION: whoever has its password can copy the whole cluster, and a statement that gets past the policy could read every server's changes from a replication slot`,
		mend: `ALTER ROLE {object} NOREPLICATION;`,
	}, {
		name: "role-createdb", grade: Risk, stage: stageRole,
		sql:  `SELECT ident AS object FROM me WHERE rolcreatedb`,
		says: `{object} has CREATEDB: a statement that gets past the policy could fill the machine with databases, in which it owns everything`,
		mend: `ALTER ROLE {object} NOCREATEDB;`,
	}, {
		name: "role-member", grade: Risk, stage: stageRole, opens: true,
		sql: `SELECT g.ident AS object, me.ident AS role, reach.why, CASE WHEN reach.bad THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN reach.opens THEN '' ELSE '-' END AS wall
		FROM me JOIN pg_auth_members m ON m.member = me.oid
		JOIN LATERAL (SELECT oid, rolname, quote_ident(rolname) AS ident FROM pg_roles WHERE oid = m.roleid) g ON true
		CROSS JOIN LATERAL (
			SELECT bool_or(danger.why IS NOT NULL) AS bad, bool_or(danger.opens) AS opens,
				coalesce(string_agg(DISTINCT danger.why, '; '), 'have what was granted to ' || g.ident || ', today and later') AS why
			FROM pg_roles r LEFT JOIN LATERAL (
				SELECT d.why, d.opens FROM (VALUES
					('pg_read_all_data', 'read every table in every schema', false), ('pg_write_all_data', 'change every table in every schema', false),
					('pg_read_server_files', 'read any file of the database server, those of its tables among them', true),
					('pg_write_server_files', 'write any file that the database server can write', true),
					('pg_execute_server_program', 'run programs on the database server', true),
					('pg_monitor', 'see the statements that other sessions run, and all statistics', false),
					('pg_read_all_stats', 'see the statements that other sessions run, and all statistics', false),
					('pg_stat_scan_tables', 'run functions that scan tables and show what is in them', false),
					('pg_read_all_settings', 'read settings that may hold secrets', false),
					('pg_signal_backend', 'end the statements of other servers', false),
					('pg_database_owner', 'do what the owner of the database can', true),
					('pg_maintain', 'lock every table', false), ('pg_create_subscription', 'make the database connect to others', false)) d(name, why, opens) WHERE d.name = r.rolname
				UNION ALL SELECT 'do what a superuser can', true WHERE r.rolsuper
				UNION ALL SELECT 'get around row-level security', true WHERE r.rolbypassrls AND NOT r.rolsuper
				UNION ALL SELECT 'do what the owner of ' || scoped.ident || ' can, to whom row-level security does not apply', true FROM scoped WHERE scoped.relowner = r.oid
				UNION ALL SELECT 'read and change what the policy ' || quote_ident(p.polname) || ' on ' || scoped.ident || ' admits', true
				FROM scoped JOIN pg_policy p ON p.polrelid = scoped.oid AND p.polpermissive AND p.polname <> 'tenantgate_server' AND r.oid = ANY (p.polroles)
				UNION ALL SELECT 'read or write ' || vaults.ident, true FROM vaults WHERE NOT r.rolsuper
					AND (r.oid = vaults.relowner OR has_any_column_privilege(r.oid, vaults.oid, 'SELECT, INSERT, UPDATE, REFERENCES') OR has_table_privilege(r.oid, vaults.oid, 'DELETE, TRUNCATE, TRIGGER'))
				UNION ALL SELECT 'replace the view of the wall', true FROM judge JOIN pg_namespace n ON n.oid = judge.relnamespace WHERE r.oid IN (judge.relowner, n.nspowner)
				UNION ALL SELECT 'delete keys through tenantgate_wall.server', true FROM judge WHERE NOT r.rolsuper
					AND (has_any_column_privilege(r.oid, judge.oid, 'INSERT, UPDATE, REFERENCES') OR has_table_privilege(r.oid, judge.oid, 'DELETE, TRUNCATE, TRIGGER'))
			) danger ON true WHERE CASE WHEN g.oid = r.oid THEN true ELSE NOT r.rolsuper AND pg_has_role(g.oid, r.oid, 'MEMBER') AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = g.oid) END
		) reach`,
		says: `{role} is a member of {object}: a statement that gets past the policy could {why}`,
		mend: `REVOKE {object} FROM {role};`,
	}, {
		name: "role-setting", grade: Risk, stage: stageRole,
		sql: `SELECT CASE WHEN lower(s.setting) ~ '^tenantgate[.](server|signature)=' THEN split_part(s.setting, '=', 1) ELSE s.setting END AS object, why.grade, why.says, format('%s RESET %I;', target.sql, split_part(s.setting, '=', 1)) AS mend
		FROM me, pg_db_role_setting d LEFT JOIN pg_database b ON b.oid = d.setdatabase
		CROSS JOIN LATERAL unnest(d.setconfig) AS s(setting)
		CROSS JOIN LATERAL (SELECT CASE WHEN d.setrole = 0 AND b.oid IS NULL THEN 'ALTER ROLE ALL' WHEN d.setrole = 0 THEN format('ALTER DATABASE %I', b.datname)
			WHEN b.oid IS NULL THEN 'ALTER ROLE ' || me.ident ELSE format('ALTER ROLE %s IN DATABASE %I', me.ident, b.datname) END AS sql) target
		JOIN (VALUES
			('^role=', 'breach', 'every session becomes another role, whose rights are then those of statements'),
			('^session_authorization=', 'breach', 'every session becomes another role, whose rights are then those of statements'),
			('^tenantgate[.]server=', 'breach', 'a server stands in every session: what runs without one of its own sees that server''s rows, if it is signed'),
			('^tenantgate[.]signature=', 'breach', 'a signature stands in every session: what runs without one of its own can name the server that it was made for, and sees that server''s rows'),
			('^session_replication_role=(replica|local)', 'breach', 'foreign keys and triggers do not hold in its sessions, so rows can point at another server''s'),
			('^row_security=(off|false|no|0)$', 'risk', 'statements on tables with row-level security fail'),
			('^search_path=', 'risk', 'what runs before the search path is set finds tables and functions in schemas that others may write to'),
			('^standard_conforming_strings=(off|false|no|0)$', 'risk', 'a string can end elsewhere than the policy read it to'),
			('^(session|local)_preload_libraries=.', 'risk', 'code is loaded into each of its sessions that runs beside row-level security'),
			('^transform_null_equals=(on|true|yes|1)$', 'risk', '"= NULL" means something else than the policy proved')
		) why(pattern, grade, says) ON lower(s.setting) ~ why.pattern
		WHERE d.setrole IN (0, me.oid) AND (d.setdatabase = 0 OR b.datname = current_database())`,
		says: `ALTER ROLE or ALTER DATABASE sets {object} for the statement role: {says}`,
		mend: `{mend}`,
	}, {
		name: "role-parameter", grade: Risk, stage: stageRole,
		sql: `SELECT p.parname AS object, me.ident AS role, string_agg(DISTINCT e.privilege_type, ', ') AS privileges,
			CASE WHEN p.parname = 'session_replication_role' OR bool_or(e.privilege_type = 'ALTER SYSTEM') THEN 'breach' ELSE 'risk' END AS grade,
			string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_parameter_acl p, aclexplode(p.paracl) e WHERE e.grantee IN (0, me.oid) GROUP BY 1, 2`,
		says: `{role} may {privileges} the parameter {object}, which is a superuser's: a statement that reaches set_config could switch off what protects the servers from each other`,
		mend: `REVOKE ALL ON PARAMETER {object} FROM {holders};`,
	}, {
		name: "role-create", grade: Risk, stage: stageRevoke,
		sql: `SELECT quote_ident(n.nspname) AS object, me.ident AS role, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders
		FROM me, pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) e
		WHERE e.privilege_type = 'CREATE' AND e.grantee IN (0, me.oid) AND e.grantee <> n.nspowner AND n.nspname !~ '^pg_(toast|temp)' GROUP BY 1, 2`,
		says: `{role} may create in schema {object}: a statement that gets past the policy could leave a table that all servers read, or a function that another role runs in place of the one it meant`,
		mend: `REVOKE CREATE ON SCHEMA {object} FROM {holders};`,
	}, {
		name: "role-database", grade: Risk, stage: stageRevoke,
		sql: `SELECT quote_ident(d.datname) AS object, me.ident AS role, e.privilege_type AS privilege, string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ') AS holders,
			CASE e.privilege_type WHEN 'CREATE' THEN 'make schemas, which it would own' ELSE 'leave a temporary table in a pooled connection, which stands before the real one of that name for whoever comes next' END AS why,
			CASE WHEN bool_or(e.grantee = 0) THEN format('It goes for every role but the database''s owner: those that need it want a GRANT %s ON DATABASE %I TO … of their own.', e.privilege_type, d.datname) ELSE '' END AS instead
		FROM me, pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) e
		WHERE d.datname = current_database() AND e.privilege_type IN ('CREATE', 'TEMPORARY') AND e.grantee IN (0, me.oid) AND e.grantee <> d.datdba GROUP BY 1, 2, 3, 5, d.datname`,
		says: `{role} has {privilege} on database {object}: a statement that gets past the policy could {why}`,
		mend: `REVOKE {privilege} ON DATABASE {object} FROM {holders};`, instead: `{instead}`,
	}, {
		name: "role-owner", grade: Risk, opens: true, stage: stageOwner,
		sql: `SELECT o.ident AS object, me.ident AS role, o.what, CASE WHEN s.oid IS NOT NULL OR o.wall THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN o.wall THEN '' ELSE coalesce(s.ident, '-') END AS wall, CASE WHEN s.oid IS NOT NULL THEN 'yes' ELSE '' END AS alone,
			CASE WHEN s.oid IS NOT NULL THEN 'Nothing else was judged. If this is the owner''s URL, give that of the role that statements run as with --database-url (if there is none: ` + strings.ReplaceAll(makeRole, `'`, `''`) + `); else run it as the role that is to own the table.'
				ELSE 'Run it as the role that is to own it.' END AS instead,
			CASE WHEN s.oid IS NOT NULL THEN 'row-level security does not bind an owner, and it could switch it off' ELSE 'it could change it, and grant it to others' END AS why,
			format('ALTER %s %s OWNER TO CURRENT_USER;', upper(o.what), o.ident) || coalesce(E'\n' || nm.regrant, '')
				|| CASE WHEN o.wall AND o.what IN ('view', 'schema') THEN format(E'\nGRANT %s %s TO %s;', CASE o.what WHEN 'schema' THEN 'USAGE ON SCHEMA' ELSE 'SELECT ON' END, o.ident, me.ident) ELSE '' END AS mend
		FROM me, (
			SELECT c.oid, c.relowner AS owner, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' ELSE 'table' END AS what,
				format('%I.%I', n.nspname, c.relname) AS ident, n.nspname = 'tenantgate_wall' AS wall
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN me AS self ON self.oid = c.relowner
			WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname !~ '^pg_(toast|temp)' AND NOT EXISTS (SELECT FROM serials WHERE serials.oid = c.oid)
			UNION ALL SELECT 0, nspowner, 'schema', quote_ident(nspname), nspname = 'tenantgate_wall' FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'
			UNION ALL SELECT 0, datdba, 'database', quote_ident(datname), true FROM pg_database WHERE datname = current_database()
			UNION ALL SELECT 0, p.proowner, 'routine', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), n.nspname = 'tenantgate_wall'
			FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN me AS self ON self.oid = p.proowner
		) o LEFT JOIN scoped s ON s.oid = o.oid LEFT JOIN named nm ON nm.oid = o.oid WHERE o.owner = me.oid`,
		says: `{role} owns the {what} {object}: {why}`,
		mend: `{mend}`, instead: `{instead}`,
	}, {
		name: "role-default", grade: Risk, stage: stageRevoke,
		sql: `SELECT kind.plural AS object, me.ident AS role, owner.ident AS owner, CASE WHEN n.oid IS NULL THEN '' ELSE 'in schema ' || quote_ident(n.nspname) || ' ' END AS place,
			string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'everybody' ELSE me.ident END, ', ') AS grantees,
			format('ALTER DEFAULT PRIVILEGES FOR ROLE %s%s REVOKE ALL ON %s FROM %s;', owner.ident, coalesce(' IN SCHEMA ' || quote_ident(n.nspname), ''), upper(kind.plural),
				string_agg(DISTINCT CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE me.ident END, ', ')) AS mend
		FROM me, pg_default_acl d JOIN (VALUES ('r', 'tables'), ('S', 'sequences'), ('n', 'schemas'), ('f', 'functions'), ('L', 'large objects')) kind(type, plural) ON kind.type = d.defaclobjtype::text
		JOIN LATERAL (SELECT quote_ident(rolname) AS ident FROM pg_roles WHERE oid = d.defaclrole) owner ON true
		LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace CROSS JOIN LATERAL aclexplode(d.defaclacl) e
		WHERE e.grantee IN (0, me.oid) AND e.grantee <> d.defaclrole AND NOT (e.grantee = 0 AND d.defaclobjtype = 'f' AND n.oid IS NULL) GROUP BY kind.plural, me.ident, owner.ident, n.oid, n.nspname`,
		says: `new {object} of {owner} {place}are granted to {grantees}: one made tomorrow, without a wall, is open to {role} at once`,
		mend: `{mend}`,
	},
}
