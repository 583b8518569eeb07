package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/wall"
)

// unsigned are pairs of a server and a signature that no key of the wall made: none of them
// is a server.
func unsigned() [][2]string {
	const server = "srv_1"
	empty := wall.Key{Secret: make([]byte, wall.Size)}
	return [][2]string{
		{"", ""}, {server, ""}, {server, server}, {server, strings.Repeat("0", 2*wall.Size)}, {"1." + strings.Repeat("0", 2*wall.Size) + "." + server, ""},
		{server, wall.Key{}.Sign(server)}, {server, empty.Sign(server)}, // a key that was forgotten
	}
}

// probe asks the view of the wall about what nobody signed, as the session's role. Where
// there is no view, or the role may not read it, others say so.
func probe(ctx context.Context, tx pgx.Tx) (findings []Finding, asked bool, err error) {
	var readable bool
	err = tx.QueryRow(ctx, "WITH judge AS ("+relationNamed("judge")+`)
		SELECT EXISTS (SELECT FROM judge WHERE has_schema_privilege(relnamespace, 'USAGE') AND has_column_privilege(oid, 1::int2, 'SELECT'))`).Scan(&readable)
	if err != nil {
		return nil, false, fmt.Errorf("looking for %s: %w", wall.Server, err)
	}
	if !readable {
		return nil, false, nil
	}
	for _, pair := range unsigned() {
		gave, state, err := try(ctx, tx, pair)
		switch {
		case err != nil:
			return nil, false, err
		case state != "":
			return []Finding{{Grade: Risk, Check: "view-fails", Object: wall.Server, wall: true, Instead: migrateAgain,
				Says: wall.Server + " fails with SQLSTATE " + state + " where nothing was signed, and should have no row: so may statements"}}, true, nil
		case gave:
			return []Finding{{Grade: Breach, Check: "view-lies", Object: wall.Server, wall: true, Instead: migrateAgain,
				Says: wall.Server + " names a server that nobody signed for: a statement that reaches set_config could become any server"}}, true, nil
		}
	}
	return nil, true, nil
}

// try has the view judge one pair, and tells whether it gave a server; state is its own
// error's SQLSTATE.
func try(ctx context.Context, tx pgx.Tx, pair [2]string) (gave bool, state string, err error) {
	inner, err := tx.Begin(ctx) // a savepoint: its error is not the examination's
	if err != nil {
		return false, "", fmt.Errorf("asking %s: %w", wall.Server, err)
	}
	defer func() { err = errors.Join(err, inner.Rollback(ctx)) }()
	if _, err := inner.Exec(ctx, "SELECT set_config($1, $2, true), set_config($3, $4, true)", wall.Setting, pair[0], wall.Signature, pair[1]); err != nil {
		return false, "", fmt.Errorf("setting %s: %w", wall.Setting, err)
	}
	err = inner.QueryRow(ctx, "SELECT count(id) > 0 FROM "+wall.Server).Scan(&gave)
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return false, failed.Code, nil
	}
	return gave, "", err
}

// countKeys tells whether the wall has a key to verify with, if the session's role may look.
func countKeys(ctx context.Context, tx pgx.Tx) (findings []Finding, looked bool, err error) {
	var there, readable bool
	err = tx.QueryRow(ctx, "WITH keyring AS ("+relationNamed("keyring")+`)
		SELECT EXISTS (SELECT FROM keyring), EXISTS (SELECT FROM keyring WHERE has_table_privilege(oid, 'SELECT') AND has_schema_privilege(relnamespace, 'USAGE'))`).Scan(&there, &readable)
	if err != nil || !there {
		return nil, true, err
	}
	if !readable {
		return nil, false, nil
	}
	var keys int
	if err := tx.QueryRow(ctx, "SELECT count(id) FROM "+wall.Keys).Scan(&keys); err != nil {
		return nil, false, fmt.Errorf("counting the keys: %w", err)
	}
	if keys > 0 {
		return nil, true, nil
	}
	return []Finding{{Grade: Risk, Check: "keys-none", Object: wall.Keys, wall: true,
		Says:    wall.Keys + " holds no key: no signature can be right, so statements see no rows",
		Instead: `Run "tenantgate migrate": it creates the keys and passes them to the service. They are not printed here.`}}, true, nil
}
