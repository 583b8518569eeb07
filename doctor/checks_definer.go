package doctor

// definerChecks are about what runs behind a statement, as somebody else or past the policy,
// on every table that the policies name: one that all servers share is as good a way to
// others' rows.
//
// What a body does is told by the names in its text: a name in a comment counts, and a body
// that makes up its SQL at run time is taken to name any table.
var definerChecks = []check{
	{
		name: "hidden-rule", grade: Breach, served: true, // a script that dropped the rule of a soft delete would have rows deleted
		sql: `SELECT quote_ident(r.rulename) || ' on ' || t.ident AS object, t.listed, t.root AS listed_oid, '' AS needs,
			CASE WHEN reached.it THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN reached.it THEN 'beyond the policy, which proved another statement, and beyond row-level security' ELSE 'beyond both walls, should a statement come to it' END AS why,
			format('DROP RULE %I ON %s;', r.rulename, t.ident) AS remove
		FROM (SELECT root, listed, oid, ident, bit_or(CASE WHEN aimed THEN events ELSE 0 END) AS events FROM family GROUP BY root, listed, oid, ident) t
		JOIN pg_rewrite r ON r.ev_class = t.oid AND r.rulename <> '_RETURN' AND r.ev_enabled <> 'D'
		CROSS JOIN LATERAL (SELECT t.events & CASE r.ev_type WHEN '2' THEN 16 WHEN '3' THEN 4 WHEN '4' THEN 8 ELSE 28 END <> 0
			AND (r.ev_action::text !~ '^[(]{QUERY :commandType 7 ' OR r.ev_qual::text <> '<>') AS it) reached`,
		says:    `the rule {object} turns a statement into others, which run with the rights of the table's owner: they are {why}`,
		instead: `Without it the statement does what it says: a DELETE that the rule made an UPDATE deletes rows. First do the same in a BEFORE trigger whose function is SECURITY INVOKER, then: {remove}`,
	}, {
		name: "hidden-definer", grade: Risk, served: true,
		sql: `SELECT ident AS object, what, listed, root AS listed_oid, '' AS needs, CASE WHEN reached AND tabs IS NOT NULL THEN 'breach' ELSE 'risk' END AS grade,
			CASE WHEN tabs IS NULL THEN '' WHEN dim THEN ', and it may name any table' ELSE ', and it names ' || tabs END AS names
		FROM readers WHERE prosecdef`,
		says:    `{object}, which {what} runs, is SECURITY DEFINER: with each such statement it reads and writes as its owner, for whom the servers are not kept apart{names}`,
		instead: `Read its body: what it reads, writes and fails on must be the row's own server's. If it can run as its caller: ALTER FUNCTION {object} SECURITY INVOKER; then the statement role needs rights on what the body names, so name these tables in the policy.`,
	}, {
		name: "hidden-function", grade: Breach, served: true,
		sql: `SELECT ident AS object, what, listed, root AS listed_oid, needs, 'breach' AS grade,
			CASE WHEN dim THEN 'may name any table' ELSE 'names ' || tabs END AS names,
			CASE WHEN owned THEN 'it runs as an owner, for whom the servers are not kept apart' ELSE 'the policy does not see it, and where no row-level security stands it reads and changes every server''s rows' END AS why
		FROM readers WHERE NOT prosecdef AND reached AND tabs IS NOT NULL`,
		says:    `{object}, which {what} runs, {names}: {why}`,
		instead: `Row-level security behind the tables binds what runs as the caller. Where all that it reads and writes is the row's own server's, say so in the policy (accept).`,
	}, {
		name: "hidden-setting", grade: Breach, served: true,
		sql: `SELECT ident AS object, what, listed, root AS listed_oid, '' AS needs, 'breach' AS grade FROM code WHERE reached AND (
			body ~ ` + pattern(setsPath) + ` OR ` + settingCalls("") + ` > ` + settingCalls(withinCall+`,\s*(is_local\s*(=>|:=)\s*)?true\s*\)`) + `
				AND ` + settingCalls("") + ` > ` + settingCalls(`\s*'(?!search_path|role|session_authorization|tenantgate)[a-z_.]+'`) + `)`,
		says:    `{object}, which {what} runs, sets search_path for the session: that stays on the connection, and functions and operators in the next server's statements mean others`,
		instead: `Have it set for the transaction, with set_config('search_path', …, true) or SET LOCAL, or give the function a SET clause instead.`,
	},
}

// setsPath is how a body sets search_path for the session without a call: by its name or as SET SCHEMA, with all
// settings, and by an UPDATE of the view of settings, whose rule calls set_config. Comments between the words hide it.
const setsPath = `\m(re)?set\s+(session\s+)?("?search_path\M|schema\s+(e|u&)?['$])|\mreset\s+all\M|\mupdate\s+(only\s+)?("?pg_catalog"?\s*[.]\s*)?"?pg_settings\M`

// withinCall is what stands in the parentheses of a call, with two more within them: not what comes after.
const withinCall = `([^();]|\(([^();]|\([^();]*\))*\))*`

// settingCalls counts the calls of set_config in a body whose rest is as a pattern says.
func settingCalls(rest string) string {
	return `regexp_count(body, ` + pattern(`\mset_config"?\s*\(`+rest) + `)`
}
