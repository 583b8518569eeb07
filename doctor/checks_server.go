package doctor

// serverChecks are about settings of the cluster and of the statement role's sessions.
// What ALTER ROLE and ALTER DATABASE set is role-setting's; the release is release.go's.
var serverChecks = []check{
	{
		name: "server-setting", grade: Risk, asRole: true,
		sql: `SELECT s.name || ' = ' || s.setting AS object, bad.why, bad.grade, s.name
		FROM (VALUES
			('allow_system_table_mods', '^on$', 'risk', 'the catalogs, row-level security among them, can be changed like tables by whoever owns them'),
			('lo_compat_privileges', '^on$', 'breach', 'nobody is kept from any large object: a statement that gets past the policy reads and writes all of them'),
			('row_security', '^off$', 'risk', 'statements on tables with row-level security fail'),
			('session_replication_role', '^(replica|local)$', 'breach', 'foreign keys and triggers do not hold in sessions of the statement role'),
			('standard_conforming_strings', '^off$', 'risk', 'a string can end elsewhere than the policy read it to'),
			('transform_null_equals', '^on$', 'risk', '"= NULL" means something else than the policy proved'),
			('ignore_system_indexes', '^on$', 'risk', 'catalogs are read without the indexes that keep them unique'),
			('debug_print_plan', '^on$', 'risk', 'statements, with the values in them, are written to the log'),
			('log_parameter_max_length_on_error', '^(-1|[1-9].*)$', 'risk', 'the values of a statement that fails are written to the log, and into the error''s context, where its caller may see them')
		) bad(name, pattern, grade, why) JOIN pg_settings s ON s.name = bad.name AND s.setting ~ bad.pattern
		WHERE s.source NOT IN ('global', 'user', 'database', 'database user', 'client', 'session')`,
		says:    `the server runs with {object}: {why}`,
		instead: `Change it in the configuration file or on the command line; what ALTER SYSTEM set goes, outside of a transaction, with ALTER SYSTEM RESET {name}; SELECT pg_reload_conf();`,
	}, {
		name: "server-preload", grade: Note,
		sql: `SELECT s.name || ' = ' || s.setting AS object FROM pg_settings s WHERE s.name IN ('session_preload_libraries', 'local_preload_libraries') AND s.setting <> ''
			AND s.source NOT IN ('global', 'user', 'database', 'database user', 'client', 'session')`,
		says:    `every session loads {object}: that code runs beside the wall and can get around it`,
		instead: `Know what each of them does with what it sees.`,
	},
}
