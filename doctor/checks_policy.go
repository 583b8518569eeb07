package doctor

// policyChecks hold what the policies say against the database.
var policyChecks = []check{
	{
		name: "policy-missing", grade: Note, stops: true,
		sql: `SELECT format('%I.%I', told.schema, told.name) AS object,
			CASE c.relkind WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialised view' ELSE 'nothing of that name' END AS is
		FROM told LEFT JOIN pg_namespace n ON n.nspname = told.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = told.name
		WHERE c.oid IS NULL OR c.relkind NOT IN ('r', 'p', 'f')`,
		says:    `a policy names the table {object}, and there is {is}: the service does not start with it`,
		instead: `Make the table, or take it out of the policy. A view can't be restricted from outside: name the tables that it reads.`,
	}, {
		name: "policy-column", grade: Note, stops: true,
		sql: `SELECT named.ident AS object, quote_ident(named."column") AS scope FROM named
		WHERE named.scoped AND NOT EXISTS (SELECT FROM scoped WHERE scoped.oid = named.oid)`,
		says:    `a policy scopes {object} by {scope}, and it has no such column: the service does not start with it`,
		instead: `Correct the column in the policy, or add it to the table.`,
	}, {
		name: "policy-rule", grade: Note, stops: true,
		sql: `SELECT named.ident || '.' || quote_ident(r.name) AS object, named.ident AS tab FROM named CROSS JOIN LATERAL unnest(named.ruled) AS r(name)
		WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = named.oid AND a.attname = r.name AND a.attnum > 0 AND NOT a.attisdropped)`,
		says:    `a policy opens or closes the column {object}, and {tab} has none of that name: the service does not start with it`,
		instead: `Correct the column in the policy, or add it to the table.`,
	}, {
		name: "policy-scope", grade: Risk, opens: true,
		sql:     `SELECT named.ident AS object, named.ident AS wall, array_to_string(named.scopes, ' and ') AS columns FROM named WHERE cardinality(named.scopes) > 1`,
		says:    `one policy scopes {object} by another column than the next ({columns}): row-level security can compare only one of them, so the service counts neither as a wall`,
		instead: `Name the same column in all policies.`,
	}, {
		name: "policy-shared", grade: Breach, served: true,
		sql: `SELECT named.ident AS object, named.ident AS listed, named.oid AS listed_oid, '' AS needs, 'breach' AS grade, array_to_string(named.shared, ', ') AS policies, quote_ident(a.attname) AS scope
		FROM named JOIN pg_attribute a ON a.attrelid = named.oid AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attname IN (SELECT told."column" FROM told WHERE told.scoped)
		WHERE named.shared <> '{}'`,
		says:    `{object} has the column {scope}, by which other tables are scoped, and the policy {policies} declares it shared: every server reads every row`,
		instead: `Write scoped: true in the policy; if all servers are meant to share the table, rename the column.`,
	}, {
		name: "policy-parent", grade: Breach, opens: true, served: true,
		sql: `SELECT named.ident AS object, named.ident AS listed, named.oid AS listed_oid, '' AS needs, 'breach' AS grade, above.wall, array_to_string(named.shared, ', ') AS policies FROM named JOIN above ON above.oid = named.oid
		WHERE named.shared <> '{}' AND NOT named.scoped`,
		says:    `the policy {policies} declares {object} shared, and {wall} is a part of it: a statement on {object} serves every server's rows of {wall}, whose row-level security does not hold there`,
		instead: `Write access: [] in the policy, or part the two (ALTER TABLE … NO INHERIT or DETACH PARTITION); where {object} has the scope column, write scoped: true.`,
	}, {
		name: "policy-writable", grade: Risk,
		sql: `SELECT named.ident AS object, array_to_string(named.shared, ', ') AS policies FROM named
		WHERE named.shared <> '{}' AND NOT named.scoped AND named.access && '{insert,update,delete}'`,
		says:    `the policy {policies} lets every server write {object}, which all of them share: what one writes another reads, and one can delete what others need; where other tables refer to it, a lock or a DELETE reveals that rows of another server do`,
		instead: `Write access: [select] in the policy, and let something else than statements fill the table.`,
	},
}
