package wire

import (
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// driverQueries are what Postgres' JDBC driver (42.3 and later) asks the catalog for when it comes upon
// a type that it does not know, such as jsonb, its white space as single blanks. What runs
// instead is decided on as any other statement, and knows the built-in types alone, arr being
// those of their arrays.
var driverQueries = [...]struct{ asked, runs string }{
	{
		"SELECT pg_type.oid, typname FROM pg_catalog.pg_type " + onPath + " WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1",
		"SELECT oid, name AS typname FROM " + allTypes + " WHERE name = $1",
	},
	{
		"SELECT t.oid, t.typname FROM pg_catalog.pg_type t " + ofSchema + " WHERE t.typname = $1 AND " + inSchema,
		"SELECT oid, name AS typname FROM " + allTypes + " WHERE name = $1 AND ($2 = 'pg_catalog' OR $3)",
	},
	{
		"SELECT t.typarray, arr.typname FROM pg_catalog.pg_type t " + ofSchema + " JOIN pg_catalog.pg_type arr ON arr.oid = t.typarray WHERE t.typname = $1 AND " + inSchema,
		"SELECT arr AS typarray, '_' || name AS typname FROM " + ownTypes + " WHERE name = $1 AND ($2 = 'pg_catalog' OR $3)",
	},
	{
		"SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t " + ofSchema + " WHERE t.oid = $1",
		"SELECT true, 'pg_catalog' AS nspname, name AS typname FROM " + allTypes + " WHERE oid = $1",
	},
	{
		"SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type " + onPath + " WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC",
		kindOf + " WHERE name = $1",
	},
	{
		"SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type " + onPath + " WHERE pg_type.oid = $1 ORDER BY sp.r, pg_type.oid DESC",
		kindOf + " WHERE oid = $1",
	},
	{
		"SELECT e.oid, n.nspname = ANY(current_schemas(true)), n.nspname, e.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type e ON t.typelem = e.oid " + ofSchema + " WHERE t.oid = $1",
		"SELECT oid, true, 'pg_catalog' AS nspname, name AS typname FROM " + ownTypes + " WHERE arr = $1",
	},
	{
		"SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e WHERE t.oid = $1 and t.typelem = e.oid",
		"SELECT CASE name WHEN 'box' THEN ';' ELSE ',' END AS typdelim FROM " + ownTypes + " WHERE arr = $1",
	},
}

const (
	onPath = "LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns " +
		"join ( select s.r, (current_schemas(false))[s.r] as nspname from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r " +
		"using ( nspname ) ) as sp ON sp.nspoid = typnamespace"
	ofSchema = "JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid"
	inSchema = "(n.nspname = $2 OR $3 AND n.nspname = ANY (current_schemas(true))) ORDER BY t.oid DESC LIMIT 1"

	ownTypes = "(VALUES @) AS t (oid, name, arr)"
	allTypes = "(SELECT oid, name FROM " + ownTypes + " UNION ALL SELECT arr, '_' || name FROM " + ownTypes + ") AS t"
	kindOf   = "SELECT name LIKE E'\\\\_%' AS is_array, CASE WHEN name LIKE E'\\\\_%' THEN 'b' WHEN name LIKE '%multirange' THEN 'm' " +
		"WHEN name LIKE '%range' THEN 'r' ELSE 'b' END AS typtype, name AS typname, oid FROM " + allTypes
)

// driverRewrite gives the text that is prepared for the one that a client sent: for a look-up of types
// what runs instead, else itself.
func driverRewrite(text string) string {
	const shortest, longest = 100, 1 << 10
	if len(text) < shortest || len(text) > longest || !strings.Contains(text, "pg_catalog.pg_type") {
		return text
	}
	asked := strings.Join(strings.Fields(text), " ")
	for _, l := range driverQueries {
		if l.asked == asked {
			return strings.ReplaceAll(l.runs, "@", builtIn())
		}
	}
	return text
}

// builtIn lists the built-in types that have arrays, as rows of VALUES.
func builtIn() string {
	var b strings.Builder
	for _, pair := range arrayTypes {
		name := policy.TypeName(pair[0])
		if name == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString("(" + strconv.Itoa(int(pair[0])) + ",'" + name + "'," + strconv.Itoa(int(pair[1])) + ")")
	}
	return b.String()
}
