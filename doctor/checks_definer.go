package doctor

// definerChecks are about what runs behind a statement as somebody else, on every table
// that the policies name: one that all servers share is as good a way to others' rows.
//
// What behind does not see are calls in the text of a body, which runs as the caller
// unless its own function is a definer: surface-definer names those that the role may make.
var definerChecks = []check{
	{
		name: "hidden-rule", severity: Leak, stage: stageRest,
		sql: `SELECT quote_ident(r.rulename) || ' on ' || t.ident AS object,
			CASE WHEN t.oid IN (SELECT oid FROM units) THEN format('DROP RULE IF EXISTS %I ON %s;', r.rulename, t.ident) ELSE '' END AS mend
		FROM family t JOIN pg_rewrite r ON r.ev_class = t.oid AND r.rulename <> '_RETURN' AND r.ev_enabled <> 'D'`,
		says: `the rule {object} turns a statement into others, which run with the rights of the table's owner: they are beyond the policy, which proved another statement, and beyond row-level security`,
		mend: `{mend}`, instead: `Do what it did in a trigger whose function is SECURITY INVOKER.`,
	}, {
		name: "hidden-definer", severity: Risk,
		sql: `SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS object, b.ident AS tab, string_agg(DISTINCT b.what, ', ') AS what
		FROM behind b JOIN pg_proc p ON b.class = 'pg_proc'::regclass AND p.oid = b.id AND p.prosecdef JOIN pg_namespace n ON n.oid = p.pronamespace GROUP BY p.oid, n.nspname, p.proname, b.ident`,
		says:    `{object}, which {what} of {tab} runs, is SECURITY DEFINER: with each such statement it reads and writes as its owner, for whom the servers are not kept apart`,
		instead: `Read its body: what it reads, writes and fails on must be the row's own server's. If it can run as its caller: ALTER FUNCTION {object} SECURITY INVOKER;`,
	},
}
