package doctor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tenantgate/tenantgate/wall"
)

// firstOwn is the first oid that Postgres gives to what is not its own.
const firstOwn = `16384`

// relation is a common table expression that queries can name.
type relation struct{ name, sql string }

// relations are what the queries share, each in terms of those before it or of itself. $1
// is the statement role, $2 what the policies name (named.text). Those for queries:
//
//	me       the statement role
//	mine     the roles that it is, or is a member of
//	judge    the wall's view, if there is one
//	former   the function that was in its place, if it is still there
//	keyring  the table of its keys, if there is one
//	vaults   the tables of keys and, where the control store is in the same database, of secrets
//	peeks    views and materialised views that read vaults, through others too, but for judge,
//	         which gives what its caller signed
//	named    the tables of the policies that exist, with what is right for them:
//	         regrant are the statements that give the role just what the policies admit
//	family   these (root, listed), their partitions and inheritance children, and the tables to
//	         which foreign keys carry a DELETE or UPDATE on: events are the statements that come
//	         to it, as in pg_trigger.tgtype; aimed, that they name it, as a rule wants it; owned,
//	         that what fires runs as the table's owner, as the action of a reference does
//	behind   what may run with a statement on one of these, as far as dependencies and the
//	         names in bodies tell: the object id of the catalog class, what of the table brings
//	         it in, whether statements that the policies admit reach it, and whether it runs as
//	         an owner
//	scoped   those of named whose rows belong to servers, with their scope column
//	units    these, and their partitions and inheritance children
//	above    what these are partitions or children of, at whatever remove: it serves their rows
//	over     views and materialised views that read units or what is above, through others too
//	known    the columns of which the planner has statistics, as far as whoever asks may see them
//	kin      what shows rows of a scoped table (wall) by a name: units, above and over; needs is
//	         the table whose row-level security holds there, if any does
//	code     the functions of behind that are not Postgres' own, and row-level security's policies,
//	         but for the wall's; dim, that nobody can tell what it names
//	readers  these with the scoped tables that they name (tabs), and needs: the oids of those
//	         whose row-level security keeps the servers apart there, [] where none does
//	rights   what me, or PUBLIC (0), may do with a relation (attnum 0) or a column
//	reached  schemas that me may use, those of the system too: what somebody put there has an
//	         oid that is not below firstOwn
//	allowed  functions outside pg_catalog that a policy allows
//
// Rights are those granted to the role itself and to everybody: what it has through other
// roles goes with the membership, which is a finding of its own. A superuser's rights are
// those too, since that it is one is the finding.
var relations = []relation{
	{"given", `SELECT coalesce(nullif($1::text, ''), current_user::text) AS role, $2::jsonb AS policies`},
	{"me", `  SELECT r.*, quote_ident(r.rolname) AS ident FROM pg_roles r JOIN given ON r.rolname = given.role`},
	{"mine", `SELECT r.oid FROM pg_roles r, me WHERE r.oid = me.oid OR NOT me.rolsuper AND pg_has_role(me.oid, r.oid, 'MEMBER')`},
	{"judge", `SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'tenantgate_wall' AND c.relname = 'server' AND c.relkind = 'v'`},
	{"former", `SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'tenantgate_wall' AND p.proname = 'server' AND p.pronargs = 0`},
	{"keyring", `SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'tenantgate_wall' AND c.relname = 'keys'`},
	{"vaults", `SELECT c.oid, c.relowner, format('%I.%I', n.nspname, c.relname) AS ident FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname || '.' || c.relname IN ('` + wall.Keys + `', '` + wall.Secrets + `')`},
	{"peeks", ` SELECT r.ev_class AS oid, v.ident FROM vaults v JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> v.oid AND r.ev_class NOT IN (SELECT oid FROM judge)
  UNION
  SELECT r.ev_class, p.ident FROM peeks p JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = p.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> p.oid`},
	{"told", `  SELECT t.* FROM given, jsonb_to_recordset(given.policies -> 'tables')
    AS t(schema text, name text, scoped bool, "column" text, scopes text[], ruled text[], access text[], hidden text[], locked text[], shared text[], expression text, textual text, custom bool)`},
	{"allowed", `  SELECT f.* FROM given, jsonb_to_recordset(given.policies -> 'functions') AS f(schema text, name text)`},
	{"rights", `  SELECT r.*, CASE WHEN r.grantee = 0 THEN 'PUBLIC' ELSE me.ident END AS holder FROM me, (
    SELECT c.oid AS rel, 0 AS attnum, e.grantee, e.privilege_type AS privilege, e.is_grantable
    FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner))) e
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND e.grantee <> c.relowner
    UNION ALL
    SELECT a.attrelid, a.attnum, e.grantee, e.privilege_type, e.is_grantable
    FROM pg_attribute a, aclexplode(a.attacl) e WHERE NOT a.attisdropped
  ) r WHERE r.grantee IN (0, me.oid)`},
	{"reached", `  SELECT n.oid, n.nspname FROM pg_namespace n, me
  WHERE has_schema_privilege(me.oid, n.oid, 'USAGE')
    AND n.nspname !~ '^pg_(toast|temp)'`},
	{"shaped", `  SELECT c.oid, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.relacl, c.relname, n.nspname,
    format('%I.%I', n.nspname, c.relname) AS ident, told.*,
    told.access && '{select,update,delete}' AS reads, told.access && '{insert}' AS inserts,
    told.access && '{update}' AS updates, told.access && '{delete}' AS deletes
  FROM told JOIN pg_namespace n ON n.nspname = told.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = told.name
  WHERE c.relkind IN ('r', 'p', 'f')`},
	{"serials", `  SELECT d.refobjid AS rel, s.oid, d.deptype, format('%I.%I', n.nspname, s.relname) AS ident
  FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0`},
	{"named", `  SELECT shaped.*, me.ident AS role, concat_ws(E'\n',
    format('REVOKE ALL ON %s FROM %s%s;', shaped.ident, me.ident,
      CASE WHEN EXISTS (SELECT FROM rights WHERE rights.rel = shaped.oid AND rights.grantee = 0) THEN ', PUBLIC' ELSE '' END),
    CASE WHEN reads THEN format('GRANT SELECT%s ON %s TO %s;', CASE WHEN hidden <> '{}' THEN ' (' || readable || ')' ELSE '' END, shaped.ident, me.ident) END,
    CASE WHEN inserts THEN format('GRANT INSERT%s ON %s TO %s;', CASE WHEN locked <> '{}' THEN ' (' || writable || ')' ELSE '' END, shaped.ident, me.ident) END,
    CASE WHEN updates THEN format('GRANT UPDATE%s ON %s TO %s;', CASE WHEN locked <> '{}' THEN ' (' || writable || ')' ELSE '' END, shaped.ident, me.ident) END,
    CASE WHEN deletes THEN format('GRANT DELETE ON %s TO %s;', shaped.ident, me.ident) END,
    CASE WHEN inserts THEN (SELECT string_agg(format('GRANT USAGE ON SEQUENCE %s TO %s;', serials.ident, me.ident), E'\n' ORDER BY serials.ident)
      FROM serials WHERE serials.rel = shaped.oid AND serials.deptype = 'a') END) AS regrant
  FROM me, shaped, LATERAL (
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attname <> ALL (shaped.hidden)) AS readable,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attname <> ALL (shaped.locked) AND a.attgenerated = '') AS writable
    FROM pg_attribute a WHERE a.attrelid = shaped.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) cols`},
	{"family", `  SELECT oid AS root, ident AS listed, oid, ident, CASE WHEN inserts THEN 4 ELSE 0 END | CASE WHEN deletes THEN 8 ELSE 0 END | CASE WHEN updates THEN 16 ELSE 0 END AS events,
    true AS aimed, false AS owned FROM named
  UNION
  SELECT f.root, f.listed, next.oid, format('%I.%I', n.nspname, c.relname), next.events, next.aimed, f.owned OR next.owned FROM family f JOIN LATERAL (
    SELECT i.inhrelid AS oid, f.events, false AS aimed, false AS owned FROM pg_inherits i WHERE i.inhparent = f.oid
    UNION ALL SELECT con.conrelid, ` + cascade("f.events") + `, true, true FROM pg_constraint con WHERE con.confrelid = f.oid AND con.contype = 'f' AND ` + cascade("f.events") + ` <> 0
  ) next ON true JOIN pg_class c ON c.oid = next.oid JOIN pg_namespace n ON n.oid = c.relnamespace`},
	{"behind", `  SELECT f.root, f.listed, b.what || ' of ' || f.ident AS what, b.class::oid, b.id, b.reached, b.owned FROM family f JOIN LATERAL (
    SELECT 'pg_trigger'::regclass AS class, t.oid AS id, 'the trigger ' || quote_ident(t.tgname) AS what, t.tgtype & (f.events | ` + moves + `) <> 0 AS reached,
      f.owned AND (t.tgtype & 2 <> 0 OR current_setting('server_version_num')::int >= 180000) AS owned
    FROM pg_trigger t WHERE t.tgrelid = f.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
    UNION ALL SELECT 'pg_attrdef'::regclass, d.oid, CASE a.attgenerated WHEN '' THEN 'a default' ELSE 'the generated column ' || quote_ident(a.attname) END,
      f.events & 4 <> 0 OR f.events & 16 <> 0 AND (a.attgenerated <> '' OR f.aimed AND NOT f.owned) OR a.attgenerated = 'v', f.owned
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = f.oid
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, 'the constraint ' || quote_ident(k.conname), f.events & 20 <> 0, f.owned FROM pg_constraint k WHERE k.conrelid = f.oid
    UNION ALL SELECT 'pg_class'::regclass, c.oid, 'the index ' || quote_ident(c.relname), f.events & 20 <> 0, f.owned FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = f.oid
    UNION ALL SELECT 'pg_policy'::regclass, p.oid, 'the policy ' || quote_ident(p.polname), CASE p.polcmd WHEN 'a' THEN f.events & 4 <> 0 WHEN 'w' THEN f.events & 16 <> 0 WHEN 'd' THEN f.events & 8 <> 0 ELSE f.events <> 0 OR named.reads END, false
    FROM pg_policy p JOIN named ON named.oid = p.polrelid AND named.relrowsecurity WHERE p.polrelid = f.oid AND f.oid = f.root AND NOT (named.scoped AND p.polname = 'tenantgate_server')
      AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM mine WHERE mine.oid = ANY (p.polroles)))
    UNION ALL SELECT 'pg_type'::regclass, a.atttypid, 'the type ' || format_type(a.atttypid, NULL), true, f.owned FROM pg_attribute a
    WHERE a.attrelid = f.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= ` + firstOwn + `
  ) b ON true
  UNION
  SELECT b.root, b.listed, b.what, e.class, e.id, b.reached, b.owned OR e.owned FROM behind b JOIN LATERAL (
    SELECT d.refclassid AS class, d.refobjid AS id, EXISTS (SELECT FROM pg_proc p WHERE b.class = 'pg_proc'::regclass AND p.oid = b.id AND p.prosecdef) AS owned FROM pg_depend d
    WHERE d.classid = b.class AND d.objid = b.id AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, false FROM pg_constraint k WHERE b.class = 'pg_type'::regclass AND k.contypid = b.id
    UNION ALL SELECT 'pg_proc'::regclass, g.oid, p.prosecdef FROM pg_proc p CROSS JOIN LATERAL (
        SELECT DISTINCT word::name FROM regexp_split_to_table(p.prosrc || ' ' || lower(p.prosrc), '[^[:alnum:]_$]+') word WHERE word <> '') said
      JOIN pg_proc g ON g.proname = said.word AND g.oid >= ` + firstOwn + ` AND g.oid <> p.oid
    WHERE b.class = 'pg_proc'::regclass AND p.oid = b.id AND p.oid >= ` + firstOwn + `
  ) e ON true`},
	{"scoped", `  SELECT shaped.*, me.ident AS role, a.attnum, a.atttypid, a.attcollation, a.attnotnull, quote_ident(a.attname) AS scope
  FROM me, shaped JOIN pg_attribute a ON a.attrelid = shaped.oid AND a.attname = shaped."column" AND a.attnum > 0 AND NOT a.attisdropped
  WHERE shaped.scoped`},
	{"units", `  SELECT oid, oid AS root, ident, ident AS wall, "column", scope, attnum::int FROM scoped
  UNION
  SELECT c.oid, u.root, format('%I.%I', n.nspname, c.relname), u.wall, u."column", u.scope, a.attnum::int
  FROM units u JOIN pg_inherits i ON i.inhparent = u.oid JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = u."column" AND NOT a.attisdropped`},
	{"above", `  SELECT i.inhparent AS oid, u.root, u.wall FROM units u JOIN pg_inherits i ON i.inhrelid = u.oid
  UNION
  SELECT i.inhparent, a.root, a.wall FROM above a JOIN pg_inherits i ON i.inhrelid = a.oid`},
	{"over", `  SELECT r.ev_class AS oid, u.root FROM (SELECT oid, root FROM units UNION SELECT oid, root FROM above) u JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = u.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> u.oid
  UNION
  SELECT r.ev_class, o.root FROM over o JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> o.oid`},
	{"known", `SELECT schemaname, tablename, attname FROM pg_stats`},
	{"kin", `  SELECT k.oid, k.wall, k.needs, c.relname AS name FROM (
    SELECT u.oid, u.wall, s.oid AS needs FROM units u LEFT JOIN scoped s ON s.oid = u.oid
    UNION ALL SELECT above.oid, above.wall, NULL FROM above WHERE above.oid NOT IN (SELECT oid FROM units)
    UNION ALL SELECT o.oid, t.ident, CASE WHEN ` + asCaller + ` THEN t.oid END FROM over o JOIN scoped t ON t.oid = o.root JOIN pg_class c ON c.oid = o.oid
  ) k JOIN pg_class c ON c.oid = k.oid`},
	{"code", `  SELECT b.root, b.listed, b.class, p.oid, format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS ident, p.prosecdef, said.body,
    said.body ~ ` + pattern(`\m(execute|dblink\w*|\w+_to_xml\w*|ts_stat|spi_\w+)\M`) + ` OR p.prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal')) AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AS dim,
    bool_or(b.reached) AS reached, bool_or(b.owned) OR p.prosecdef AS owned, string_agg(DISTINCT b.what, ', ') AS what
  FROM behind b JOIN pg_proc p ON b.class = 'pg_proc'::regclass AND p.oid = b.id AND p.oid >= ` + firstOwn + ` JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN LATERAL (SELECT lower(` + body + `) AS body) said GROUP BY b.root, b.listed, b.class, p.oid, n.nspname, said.body
  UNION ALL SELECT b.root, b.listed, b.class, p.oid, quote_ident(p.polname) || ' on ' || b.listed, false, '', false, b.reached, b.owned, 'row-level security'
  FROM behind b JOIN pg_policy p ON b.class = 'pg_policy'::regclass AND p.oid = b.id`},
	{"readers", `  SELECT code.*, touched.tabs, CASE WHEN code.owned OR touched.naked THEN '[]' ELSE touched.needs END AS needs FROM code CROSS JOIN LATERAL (
    SELECT string_agg(DISTINCT kin.wall, ', ') AS tabs, bool_or(kin.needs IS NULL) AS naked, to_json(array_agg(DISTINCT kin.needs::int8))::text AS needs FROM kin
    WHERE code.dim AND kin.needs IS NOT NULL OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = code.class AND d.objid = code.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = kin.oid
        AND (d.classid <> 'pg_policy'::regclass OR d.refobjid <> code.root)) -- each depends on its own table
      OR strpos(code.body, lower(kin.name)) > 0 AND (lower(kin.name) !~ '^[a-z0-9_]+$' OR code.body ~ (` + pattern(`\m`) + ` || lower(kin.name) || ` + pattern(`\M`) + `))
  ) touched`},
}

// body is the text of a function p. One with BEGIN ATOMIC or RETURN is kept as a tree, with all that it names in
// pg_depend but what is Postgres' own. Only where some of that matters is it made a text: that waits for who has locked
// a table that it names.
const body = `CASE WHEN p.prosqlbody IS NULL THEN p.prosrc WHEN p.prosqlbody::text ~ (SELECT ':(funcid|opfuncid|relid) (' || string_agg(odd.oid::text, '|') || ') ' FROM (
    SELECT f.oid FROM pg_proc f WHERE f.proname ~ '^(set_config|dblink|.+_to_xml|ts_stat)' UNION ALL SELECT 'pg_catalog.pg_settings'::regclass::oid) odd) THEN pg_get_function_sqlbody(p.oid) ELSE '' END`

// moves are the events that an UPDATE of a partitioned table makes on f, a partition of it: a row that it moves is
// deleted in one and inserted into another. For references, and for rules, it stays an UPDATE.
const moves = `CASE WHEN f.events & 16 <> 0 AND f.oid <> f.root AND EXISTS (SELECT FROM pg_class c WHERE c.oid = f.oid AND c.relispartition) THEN 12 ELSE 0 END`

// pattern writes a regular expression as a literal, which is the same whatever standard_conforming_strings is.
func pattern(re string) string {
	return `E'` + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(re) + `'`
}

// cascade gives the events that a foreign key con makes on its own table of those on the one
// that it points at. SET DEFAULT runs defaults, as an INSERT does.
func cascade(events string) string {
	return `(CASE WHEN ` + events + ` & 8 <> 0 THEN CASE con.confdeltype WHEN 'c' THEN 8 WHEN 'n' THEN 16 WHEN 'd' THEN 20 ELSE 0 END ELSE 0 END
      | CASE WHEN ` + events + ` & 16 <> 0 THEN CASE con.confupdtype WHEN 'c' THEN 16 WHEN 'n' THEN 16 WHEN 'd' THEN 20 ELSE 0 END ELSE 0 END)`
}

// with puts the relations that a query names, and those that they name, before it: that
// Postgres understands what is not asked would take longer than all answers.
func with(query string) string {
	named := map[string]bool{"given": true} // its parameters are always sent
	note := func(sql string) {
		for _, word := range strings.FieldsFunc(sql, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			named[word] = true
		}
	}
	note(query)
	var wanted []string
	for _, r := range slices.Backward(relations) {
		if named[r.name] {
			wanted = append(wanted, r.name+" AS ("+r.sql+")")
			note(r.sql)
		}
	}
	slices.Reverse(wanted)
	return "WITH RECURSIVE " + strings.Join(wanted, ",\n") + "\n"
}

// relationNamed gives the query of a relation that stands by itself.
func relationNamed(name string) string {
	for _, r := range relations {
		if r.name == name {
			return r.sql
		}
	}
	return ""
}
