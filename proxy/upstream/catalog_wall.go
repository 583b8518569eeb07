package upstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/wall"
)

// A table is Walled where no statement on rows that the role can run shows it the rows of
// another server: the role is bound by row-level security, the one policy that shows it
// rows has the condition of package wall on the scope column, and the view in that
// condition is that package's, was tried and tells true signatures from false ones. What is not as expected to
// the letter does not count; what the operator should do about it is doctor's to say.

// rlsOfRole is what roleRLS tells of the role and the view.
type rlsOfRole struct {
	Bypasses bool     `json:"bypasses"`  // it is, or can become, a role that row-level security does not bind
	KeysOpen bool     `json:"keys_open"` // it can reach the table of keys
	View     *rlsView `json:"view"`      // nil: there is none
}

// rlsView is what roleRLS tells of the view.
type rlsView struct {
	Defined  bool `json:"defined"`  // it is a view, of package wall's query
	Barrier  bool `json:"barrier"`  // which comes before what its reader asks
	Invoker  bool `json:"invoker"`  // it reads the keys as the role
	Owned    bool `json:"owned"`    // the role can become its owner
	Writable bool `json:"writable"` // the role may do more than read it
	Runs     bool `json:"runs"`     // the role may read it within a policy
	Readable bool `json:"readable"` // and by its name
}

// rlsOfTable is what tableRLS tells of a table.
type rlsOfTable struct {
	Owned  bool     `json:"owned"`  // the role can become its owner
	Active bool     `json:"active"` // row-level security binds the role
	Far    bool     `json:"far"`    // it is no foreign table, and some of its rows are in a foreign table that inherits from it or is a partition
	Named  bool     `json:"named"`  // a policy of wall.Policy's name is there for the role
	Former bool     `json:"former"` // which calls the function that was in the view's place: it gives no server any more
	Stands bool     `json:"stands"` // and it is as it must be
	Others []string `json:"others"` // further policies that show the role rows
}

// members are the roles whose rights the session has or can take.
const members = `(SELECT me.oid FROM pg_catalog.pg_roles AS me WHERE me.rolname IN (current_user, session_user)) AS me`

const roleRLS = `SELECT pg_catalog.json_build_object(
  'bypasses', EXISTS (SELECT FROM pg_catalog.pg_roles AS r, ` + members + `
    WHERE (r.rolsuper OR r.rolbypassrls) AND pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER')),
  'keys_open', EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    CROSS JOIN pg_catalog.pg_roles AS r
    WHERE n.nspname || '.' || c.relname IN ('` + wall.Keys + `', '` + wall.Secrets + `') AND EXISTS (SELECT FROM ` + members + ` WHERE pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER'))
    AND (r.oid = c.relowner OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT') OR ` + writes + `)),
  'view', (SELECT pg_catalog.json_build_object(
      'defined', ` + wall.Defined + `, 'barrier', ` + wall.Barrier + `, 'invoker', ` + wall.Invoker + `,
      'owned', EXISTS (SELECT FROM ` + members + ` WHERE pg_catalog.pg_has_role(me.oid, c.relowner, 'MEMBER') OR pg_catalog.pg_has_role(me.oid, n.nspowner, 'MEMBER')),
      'writable', EXISTS (SELECT FROM pg_catalog.pg_roles AS r, ` + members + ` WHERE pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER') AND ` + writes + `),
      'runs', pg_catalog.has_column_privilege(c.oid, 1::int2, 'SELECT'),
      'readable', pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, 1::int2, 'SELECT'))
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname || '.' || c.relname = '` + wall.Server + `' AND c.relkind = 'v'))`

// writes is that a role r may change the relation c.
const writes = `(pg_catalog.has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE, REFERENCES') OR pg_catalog.has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER'))`

// tableRLS is the part of schemaSQL about the table c, its scope column want.scope, and kin, of what inherits from it.
const tableRLS = `(SELECT pg_catalog.json_build_object(
    'owned', EXISTS (SELECT FROM ` + members + ` WHERE pg_catalog.pg_has_role(me.oid, c.relowner, 'MEMBER')),
    'active', pg_catalog.row_security_active(c.oid),
    'far', kin.far AND c.relkind <> 'f',
    'named', coalesce(pg_catalog.bool_or(own), false),
    'former', coalesce(pg_catalog.bool_or(own AND EXISTS (SELECT FROM pg_catalog.pg_depend AS d
      JOIN pg_catalog.pg_proc AS f ON f.oid = d.refobjid AND f.proname = 'server' JOIN pg_catalog.pg_namespace AS n ON n.oid = f.pronamespace AND n.nspname = '` + wall.Schema + `'
      WHERE d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass)), false),
    'stands', coalesce(pg_catalog.bool_or(own AND p.polcmd = '*' AND printed = pg_catalog.pg_get_expr(p.polqual, c.oid)
      AND printed = pg_catalog.pg_get_expr(p.polwithcheck, c.oid) AND ` + wall.Alone + `), false),
    'others', coalesce(pg_catalog.json_agg(p.polname ORDER BY p.polname) FILTER (WHERE NOT own), '[]'))
  FROM pg_catalog.pg_policy AS p
  CROSS JOIN LATERAL (SELECT p.polname = '` + wall.Policy + `') AS named(own)
  LEFT JOIN LATERAL (SELECT (` + wall.Printed + `) FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attname = want.scope AND a.attnum > 0 AND NOT a.attisdropped) AS e(printed) ON true
  WHERE p.polrelid = c.oid AND p.polpermissive
  AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.unnest(p.polroles) AS r, ` + members + ` WHERE pg_catalog.pg_has_role(me.oid, r, 'MEMBER'))))`

// dark tells whether the table shows the role no row, where what this service signs is not
// taken if blind.
func (t rlsOfTable) dark(blind bool) bool {
	return t.Active && (t.Named && (blind || t.Former) || !t.Named && len(t.Others) == 0)
}

// lacks says what keeps a table from being Walled; "" for nothing.
func (t rlsOfTable) lacks(scope string) string {
	switch {
	case scope == "":
		return "the policies do not say by which one column it is scoped"
	case t.Owned:
		return "the role that runs statements can act as its owner, whom row-level security does not bind"
	case !t.Active:
		return "row-level security is not enabled on it"
	case t.Far:
		return "a foreign table inherits from it, or is a partition of it: where its rows are, Postgres evaluates conditions without regard to row-level security"
	case t.Former:
		return "its policy " + wall.Policy + " calls the function " + wall.Server + "(), which earlier versions had, and shows no row; tenantgate doctor prints the one to put in its place"
	case !t.Stands:
		return "it has no policy " + wall.Policy + " for all commands that compares " + scope + " with the signed server, as tenantgate writes it, in USING and WITH CHECK"
	case len(t.Others) > 0:
		return "further permissive policies show the role that runs statements more rows: " + strings.Join(t.Others, ", ")
	}
	return ""
}

// lacks says what keeps every table from being Walled; "" for nothing.
func (r rlsOfRole) lacks() string {
	switch {
	case r.Bypasses:
		return "row-level security does not bind the role that runs statements: superuser, BYPASSRLS, or a member of such a role"
	case r.View == nil:
		return "there is no view " + wall.Server + "; tenantgate migrate makes it"
	case r.View.Owned:
		return "the role that runs statements can act as the owner of " + wall.Server
	case !r.View.Defined:
		return wall.Server + " is not the view that tenantgate migrate makes"
	case !r.View.Barrier:
		return wall.Server + " is not a security_barrier view; tenantgate migrate makes it one"
	case r.View.Invoker:
		return wall.Server + " is a security_invoker view, which reads the keys as its reader; tenantgate migrate mends that"
	case !r.View.Readable:
		return "the role that runs statements may not read " + wall.Server + "; tenantgate migrate grants that"
	case r.View.Writable:
		return "the role that runs statements may do more with " + wall.Server + " than read it, and so change " + wall.Keys
	case r.KeysOpen:
		return "the role that runs statements can reach " + wall.Keys + " or " + wall.Secrets
	}
	return ""
}

// probeSQL has the view judge four pairs of an id and a signature, in this order: $1 with its
// own, $2 with that of $1, $1 with none, and neither.
const probeSQL = `SELECT
  CASE WHEN ` + claim + `$1, true), pg_catalog.set_config('` + wall.Signature + `', $3, true)) IS NOT NULL THEN (SELECT id FROM ` + wall.Server + `) END,
  CASE WHEN ` + claim + `$2, true), pg_catalog.set_config('` + wall.Signature + `', $3, true)) IS NOT NULL THEN (SELECT id FROM ` + wall.Server + `) END,
  CASE WHEN ` + claim + `$1, true), pg_catalog.set_config('` + wall.Signature + `', '', true)) IS NOT NULL THEN (SELECT id FROM ` + wall.Server + `) END,
  CASE WHEN ` + claim + `'', true), pg_catalog.set_config('` + wall.Signature + `', '', true)) IS NOT NULL THEN (SELECT id FROM ` + wall.Server + `) END`

const claim = `pg_catalog.concat(pg_catalog.set_config('` + wall.Setting + `', `

// tried is what came of trying the view.
type tried struct {
	lacks string // what keeps every table from being Walled; "" for nothing
	blind bool   // it does not take what this service signs: the policies show no row
}

// tryWall tries the view with two servers' ids that nobody has. An error says nothing of the view: the connection was lost, or
// a lock did not come in time.
func (p *Pool) tryWall(ctx context.Context, conn *pgxpool.Conn, role rlsOfRole) (tried, error) {
	one, other := rand.Text(), rand.Text()
	key, known := p.cfg.Wall.key(one)
	switch {
	case p.cfg.Wall.Key == nil:
		return tried{blind: true}, nil
	case role.View == nil || !role.View.Readable:
		return tried{lacks: role.lacks(), blind: role.View == nil || !role.View.Runs}, nil
	case !known:
		return tried{cmp.Or(role.lacks(), "the control store has no key to sign with; tenantgate migrate makes one"), true}, nil
	}
	var right, wrong, unsigned, empty *string
	err := conn.QueryRow(ctx, probeSQL, one, other, key.Sign(one)).Scan(&right, &wrong, &unsigned, &empty)
	var refused *pgconn.PgError
	if err != nil && (!errors.As(err, &refused) || ofTheMoment(refused.Code)) {
		return tried{}, fmt.Errorf("trying %s: %w", wall.Server, err)
	}
	t := tried{lacks: role.lacks(), blind: right == nil || *right != one}
	switch {
	case refused != nil:
		t.lacks = cmp.Or(t.lacks, wall.Server+" fails with SQLSTATE "+refused.Code)
	case wrong != nil || unsigned != nil || empty != nil:
		t.lacks = cmp.Or(t.lacks, wall.Server+" takes a server's id without its signature")
	case t.blind:
		t.lacks = cmp.Or(t.lacks, wall.Server+" does not take the signature of the key that this service signs with; tenantgate key list says which it takes, and tenantgate migrate adds one that is missing")
	}
	return t, nil
}

// ofTheMoment tells whether an SQLSTATE passes by itself: it is about the connection, a resource or what else runs.
func ofTheMoment(state string) bool {
	switch sqlClass(state) {
	case "08", "40", "53", "57":
		return true
	}
	return state == lockNotAvailable
}
