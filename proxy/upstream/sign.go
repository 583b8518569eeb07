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

// Reading the catalog costs Postgres tens of milliseconds, and seconds for policies of a thousand tables,
// mostly for what hardly ever changes. So each reading begins with the catalog's sign, and what was read
// with that sign is taken again. The sign is how many rows each transaction wrote of those that are there,
// in each catalog table that is read: any change of a row is a row of another transaction. Roles show in a view
// only, so what it says of them is in the sign. A change while the catalog is read shows at the next
// reading: the sign was taken before.
//
// Not in it are the rows of pg_statistic, which nobody but a superuser sees, by which a finding that
// only tells may come or go; and what Postgres writes in place, which nothing here reads.

// anewAfter is how long what was read is taken again, whatever the sign says.
const anewAfter = time.Minute

// signedTables are those of pg_catalog of whose rows the sign is.
var signedTables = strings.Fields(`pg_am pg_attrdef pg_attribute pg_auth_members pg_cast pg_class pg_collation pg_constraint pg_database pg_db_role_setting
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

// catalogRead is what was read of the catalog, and with which sign.
type catalogRead struct {
	sign   string // "": it is not known
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

// holds tells whether what was read of these tables is still so.
func (c *catalogRead) holds(sign string, tables []policy.TableName, scopes []string) bool {
	return c != nil && sign != "" && c.sign == sign && time.Since(c.at) < anewAfter && slices.Equal(c.tables, tables) && slices.Equal(c.scopes, scopes)
}

// readSign gives the catalog's sign, "" where Postgres does not tell it: a catalog may be closed to the role.
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
