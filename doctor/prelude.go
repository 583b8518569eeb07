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
//	family   these, and their partitions and inheritance children
//	behind   what may run with a statement on one of these, as far as dependencies tell:
//	         the object id of the catalog class, and what of the table brings it in
//	scoped   those of named whose rows belong to servers, with their scope column
//	units    these, and their partitions and inheritance children
//	above    what these are partitions or children of, at whatever remove: it serves their rows
//	over     views and materialised views that read units or what is above, through others too
//	rights   what me, or PUBLIC (0), may do with a relation (attnum 0) or a column
//	reached  schemas that me may use, those of the system too: what somebody put there has an
//	         oid that is not below firstOwn
//	allowed  functions outside pg_catalog that a policy allows
//
// Rights are those granted to the role itself and to everybody: what it has through other
// roles goes with the membership, which is a finding of its own. A superuser's rights are
// those too, since that it is one is the finding.
var relations = []relation{
	{"given", `SELECT $1::text AS role, $2::jsonb AS policies`},
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
    AS t(schema text, name text, scoped bool, "column" text, scopes text[], ruled text[], access text[], hidden text[], locked text[], shared text[], expression text, textual text)`},
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
	{"family", `  SELECT oid, ident FROM named
  UNION
  SELECT c.oid, format('%I.%I', n.nspname, c.relname) FROM family f JOIN pg_inherits i ON i.inhparent = f.oid JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace`},
	{"behind", `  SELECT f.ident, b.what, b.class::oid, b.id FROM family f JOIN LATERAL (
    SELECT 'pg_trigger'::regclass AS class, t.oid AS id, 'the trigger ' || quote_ident(t.tgname) AS what FROM pg_trigger t WHERE t.tgrelid = f.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
    UNION ALL SELECT 'pg_attrdef'::regclass, d.oid, CASE a.attgenerated WHEN '' THEN 'a default' ELSE 'the generated column ' || quote_ident(a.attname) END
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = f.oid
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, 'the constraint ' || quote_ident(k.conname) FROM pg_constraint k WHERE k.conrelid = f.oid
    UNION ALL SELECT 'pg_class'::regclass, c.oid, 'the index ' || quote_ident(c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = f.oid
    UNION ALL SELECT 'pg_type'::regclass, a.atttypid, 'the type ' || format_type(a.atttypid, NULL) FROM pg_attribute a WHERE a.attrelid = f.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) b ON true
  UNION
  SELECT b.ident, b.what, e.class, e.id FROM behind b JOIN LATERAL (
    SELECT d.refclassid AS class, d.refobjid AS id FROM pg_depend d
    WHERE d.classid = b.class AND d.objid = b.id AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k WHERE b.class = 'pg_type'::regclass AND k.contypid = b.id
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
