package control

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

func (c LookupConfig) withDefaults() LookupConfig {
	for field, name := range map[*string]string{
		&c.Schema: "public", &c.Table: "end_users", &c.ScopeColumn: "server_id",
		&c.Columns.ID: "id", &c.Columns.ExternalUserID: "external_user_id", &c.Columns.Username: "username",
		&c.Columns.Email: "email", &c.Columns.PhoneNumber: "phone_number", &c.Columns.PasswordHash: "password_hash",
	} {
		if *field == "" {
			*field = name
		}
	}
	if c.MaxConns <= 0 {
		c.MaxConns = 4
	}
	if c.Short == nil {
		c.Short = func(string, string) {}
	}
	c.Timeout = positive(c.Timeout, 2*time.Second)
	return c
}

// check reads the table from the catalog, compares it with the configuration, and gives
// the statement that looks a user up.
func (c LookupConfig) check(ctx context.Context, pool *pool) (query string, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+loadTimeout)
	defer cancel()
	types, err := c.readTypes(ctx, pool)
	if err != nil {
		return "", fmt.Errorf("reading the table of end users: %w", err)
	}
	if len(types) == 0 {
		return "", fmt.Errorf("the table of end users, %s, does not exist, or the look-up role may not use its schema", c.table())
	}
	if lacking := c.lacking(types); len(lacking) > 0 {
		return "", fmt.Errorf("the table of end users, %s, has no column %s: in the file of --config name the right one under endUsers.columns (of the server's id: endUsers.scopeColumn), or \"-\" for none",
			c.table(), strings.Join(lacking, ", "))
	}
	for _, column := range c.used() {
		if !types[column].readable {
			return "", fmt.Errorf("the look-up role may not read %s of %s; run: GRANT SELECT ON %s TO it", quoted(column), c.table(), c.table())
		}
	}
	return c.query(types[c.ScopeColumn].name), nil
}

// columnType is a column's type as SQL writes it, and whether the role may read it.
type columnType struct {
	name     string
	readable bool
}

func (c LookupConfig) readTypes(ctx context.Context, pool *pool) (map[string]columnType, error) {
	rows, err := pool.Query(ctx, `
		SELECT a.attname, format_type(a.atttypid, -1), has_column_privilege(t.oid, a.attnum, 'SELECT')
		FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
			JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE n.nspname = $1 AND t.relname = $2 AND has_schema_privilege(n.oid, 'USAGE')`, c.Schema, c.Table)
	if err != nil {
		return nil, err
	}
	types := map[string]columnType{}
	var column string
	var t columnType
	_, err = pgx.ForEachRow(rows, []any{&column, &t.name, &t.readable}, func() error {
		types[column] = t
		return nil
	})
	return types, err
}

func (c LookupConfig) table() string { return pgx.Identifier{c.Schema, c.Table}.Sanitize() }

// lacking are the columns that the table does not have, quoted.
func (c LookupConfig) lacking(types map[string]columnType) (columns []string) {
	for _, column := range c.used() {
		if _, ok := types[column]; !ok {
			columns = append(columns, quoted(column))
		}
	}
	return columns
}

func (c LookupConfig) used() (columns []string) {
	k := c.Columns
	for _, column := range []string{c.ScopeColumn, k.ID, k.ExternalUserID, k.Username, k.Email, k.PhoneNumber, k.PasswordHash} {
		if column != NoColumn {
			columns = append(columns, column)
		}
	}
	return columns
}

// maxUser is how many bytes the values of one user have together at most. A server writes its users
// itself, as long as it likes, and what is read of one is in memory as often as it is asked for.
const maxUser = 64 << 10

// query writes the statement with the server's id as $1 and the address as $2. The
// parameter is cast to the column's type, so that an index on the column serves; then both
// are compared as text, because to some types "1" and "01", or "A" and "a", are equal where
// they are two servers. The condition on the address is that of the bundled unique index. Of a user
// whose values are too long none leaves the database, which tells a value's length without reading it.
func (c LookupConfig) query(scopeType string) string {
	email := "u." + quoted(c.Columns.Email)
	fields := []string{
		"u." + quoted(c.Columns.ID) + "::text AS id",
		textOf(c.Columns.ExternalUserID, "''") + " AS external", textOf(c.Columns.Username, "''") + " AS username",
		email + "::text AS email",
		textOf(c.Columns.PhoneNumber, "NULL") + " AS phone", textOf(c.Columns.PasswordHash, "NULL") + " AS hash",
		email + "::text = $2::text AS exact",
	}
	return "SELECT CASE WHEN fits THEN id ELSE '' END, CASE WHEN fits THEN external ELSE '' END, CASE WHEN fits THEN username ELSE '' END," +
		" CASE WHEN fits THEN email ELSE '' END, CASE WHEN fits THEN phone END, CASE WHEN fits THEN hash END, exact, fits" +
		" FROM (SELECT " + strings.Join(fields, ", ") + " FROM " + c.table() + " u" +
		" WHERE u." + quoted(c.ScopeColumn) + " = $1::text::" + scopeType +
		" AND u." + quoted(c.ScopeColumn) + `::text COLLATE "C" = $1::text` +
		" AND lower(" + email + "::text) = lower($2::text) AND " + email + " <> ''" +
		" ORDER BY exact DESC LIMIT 2) AS found," +
		" LATERAL (SELECT octet_length(id)::bigint + octet_length(external) + octet_length(username) + octet_length(email)" +
		" + octet_length(coalesce(phone, '')) + octet_length(coalesce(hash, '')) <= " + strconv.Itoa(maxUser) + " AS fits) AS size" +
		" ORDER BY exact DESC"
}

// textOf reads a column as text, and absent when the table has none or it is null.
func textOf(column, absent string) string {
	if column == NoColumn {
		return absent + "::text"
	}
	return "coalesce(u." + quoted(column) + "::text, " + absent + ")"
}
