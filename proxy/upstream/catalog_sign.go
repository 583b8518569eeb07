package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/policy"
)

// Reading the catalog costs Postgres tens of milliseconds, and seconds for policies of a thousand tables, and the
// catalog hardly ever changes. So each reading first reads the catalog's sign, a digest that changes with the catalog.
// If it is that of the last reading, the last result is used again.
//
// The digest is of the number of rows that each transaction (xmin) has written, in each catalog table that is read:
// every change writes a row under the xmin of another transaction. Roles can be read through a view only, so the digest has
// the view's rows. The sign is taken before the catalog is read, so a change during the reading shows at the next one.
//
// The sign leaves out pg_statistic, which only a superuser may read (a finding that is only a hint may depend on
// it), and what Postgres updates in place, which is not read here.

// anewAfter is how long a result is used again at most, even if the sign stays the same.
const anewAfter = time.Minute

// signedTables are the tables of pg_catalog that the sign covers.
var signedTables = strings.Fields(`pg_am pg_amproc pg_attrdef pg_attribute pg_auth_members pg_cast pg_class pg_collation pg_constraint pg_database pg_db_role_setting
	pg_depend pg_extension pg_index pg_inherits pg_language pg_namespace pg_opclass pg_operator pg_policy pg_proc pg_rewrite pg_statistic_ext pg_trigger pg_type`)

// signSQL gives the catalog's sign.
var signSQL = func() string {
	sql := `SELECT pg_catalog.md5(pg_catalog.concat_ws(' ', current_user, session_user, pg_catalog.current_database(), pg_catalog.pg_postmaster_start_time(),
  pg_catalog.current_setting('row_security'), pg_catalog.current_setting('quote_all_identifiers'),
  (SELECT pg_catalog.string_agg(r::text, ' ' ORDER BY r.oid) FROM pg_catalog.pg_roles AS r),
  (SELECT pg_catalog.string_agg(line, ' ' ORDER BY line COLLATE "C") FROM (`
	for i, table := range signedTables {
		if i > 0 {
			sql += " UNION ALL "
		}
		sql += "SELECT pg_catalog.concat_ws(' ', '" + table + "', xmin, pg_catalog.count(*)) FROM pg_catalog." + table + " GROUP BY xmin"
	}
	return sql + ") AS written(line))))"
}()

// catalogRead is the result of one reading of the catalog, with the sign that was read before it.
type catalogRead struct {
	sign   string // "": unknown
	at     time.Time
	tables []policy.TableName
	scopes []string // of the tables

	rows     []catalogTable
	role     rlsOfRole
	schema   policy.Schema // without what is found of its tables
	path     string
	findings []policy.Finding
}

// lastRead is the last catalogRead.
type lastRead = atomic.Pointer[catalogRead]

// holds tells whether the result is of these tables and still valid.
func (c *catalogRead) holds(sign string, tables []policy.TableName, scopes []string) bool {
	return c != nil && sign != "" && c.sign == sign && time.Since(c.at) < anewAfter && slices.Equal(c.tables, tables) && slices.Equal(c.scopes, scopes)
}

// readSign reads the catalog's sign. It is "" where Postgres refuses to read it, as the role may lack the right to.
func readSign(ctx context.Context, conn *pgxpool.Conn) (sign string, err error) {
	var batch pgx.Batch
	batch.Queue(pathSQL)
	batch.Queue(signSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&sign) })
	err = conn.SendBatch(ctx, &batch).Close()
	if _, told := errors.AsType[*pgconn.PgError](err); told {
		return "", nil
	}
	return sign, err
}
