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

// unsigned are values of the wall's setting that nobody signed: none of them is a server.
func unsigned() []string {
	const server = "srv_1"
	return []string{
		"", server, "1." + server, "1.." + server, "0." + server + "." + server, "1." + strings.Repeat("0", 2*wall.Size) + "." + server,
		wall.Key{ID: 1}.Sign(server), wall.Key{ID: 1, Secret: make([]byte, wall.Size)}.Sign(server), // a key that was forgotten
	}
}

// probe asks the function of the wall about values that nobody signed, as the session's
// role. Where there is no function, or the role may not call it, others say so.
func probe(ctx context.Context, tx pgx.Tx) (findings []Finding, asked bool, err error) {
	var callable bool
	err = tx.QueryRow(ctx, "WITH judge AS ("+relationNamed("judge")+`)
		SELECT EXISTS (SELECT FROM judge WHERE has_schema_privilege(pronamespace, 'USAGE') AND has_function_privilege(oid, 'EXECUTE'))`).Scan(&callable)
	if err != nil {
		return nil, false, fmt.Errorf("looking for %s(): %w", wall.Server, err)
	}
	if !callable {
		return nil, false, nil
	}
	for _, value := range unsigned() {
		gave, state, err := try(ctx, tx, value)
		switch {
		case err != nil:
			return nil, false, err
		case state != "":
			return []Finding{{Severity: Risk, Check: "function-fails", Object: wall.Server + "()", wall: true, Instead: `Run "tenantgate migrate", which makes it again.`,
				Says: wall.Server + "() fails with SQLSTATE " + state + " where nothing was signed, and should give NULL: so may statements"}}, true, nil
		case gave != nil:
			return []Finding{{Severity: Leak, Check: "function-lies", Object: wall.Server + "()", wall: true, Instead: `Run "tenantgate migrate", which makes it again.`,
				Says: wall.Server + "() names a server that nobody signed for: a statement that reaches set_config could become any server"}}, true, nil
		}
	}
	return nil, true, nil
}

// try has the function judge one value of the setting; state is its own error's SQLSTATE.
func try(ctx context.Context, tx pgx.Tx, value string) (gave *string, state string, err error) {
	inner, err := tx.Begin(ctx) // a savepoint: its error is not the examination's
	if err != nil {
		return nil, "", fmt.Errorf("asking %s(): %w", wall.Server, err)
	}
	defer func() { err = errors.Join(err, inner.Rollback(ctx)) }()
	if _, err := inner.Exec(ctx, "SELECT set_config($1, $2, true)", wall.Setting, value); err != nil {
		return nil, "", fmt.Errorf("setting %s: %w", wall.Setting, err)
	}
	err = inner.QueryRow(ctx, "SELECT "+wall.Server+"()::text").Scan(&gave)
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return nil, failed.Code, nil
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
	return []Finding{{Severity: Risk, Check: "keys-none", Object: wall.Keys, wall: true,
		Says:    wall.Keys + " holds no key: no signature can be right, so statements see no rows",
		Instead: `Run "tenantgate migrate": it makes the keys and gives them to the service. They are not printed here.`}}, true, nil
}
