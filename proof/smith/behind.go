package smith

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// behind tells whether an error, of either, is of the server's own rows alone: where tenantgate
// in front of them answers what it answers in front of all. Postgres does not promise whether a
// condition that fails is asked for before one that would have spared it, and the walls, which
// come first, choose that.
func (r *replay) behind(ctx context.Context, statement string, got, own answer) (bool, error) {
	if r.cfg.Alone == "" || !byValues(got, own) {
		return false, nil
	}
	if r.alone == nil {
		var err error
		if r.alone, err = open(ctx, r.cfg.Alone, nil); err != nil {
			return false, err
		}
	}
	a, err := r.alone.run(ctx, statement)
	if err != nil || a.equal(got) {
		return err == nil, err
	}
	return r.behindVaried(ctx, statement, got)
}

// behindVaried tells whether tenantgate in front of the server's rows alone gives the answer with another plan: the
// sizes of tables choose the plan, and the plan chooses which condition is asked for first.
func (r *replay) behindVaried(ctx context.Context, statement string, got answer) (bool, error) {
	admin, err := pgconn.Connect(ctx, r.cfg.AloneAdmin)
	if err != nil {
		return false, fmt.Errorf("connecting to the database behind tenantgate: %w", err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	for _, turn := range r.cfg.Variants {
		if err := setDatabase(ctx, admin, turn[0]); err != nil {
			return false, err
		}
		a, err := r.alone.run(ctx, statement)
		if err := errors.Join(err, setDatabase(ctx, admin, turn[1])); err != nil {
			return false, err
		}
		if a.equal(got) {
			return true, nil
		}
	}
	return false, nil
}

// setDatabase has every new session of a database begin with a setting, and ends those of tenantgate.
func setDatabase(ctx context.Context, admin *pgconn.PgConn, turn string) error {
	const text = `DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I %s', current_database()); END $$;
		SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tenantgate'`
	if _, err := admin.Exec(ctx, fmt.Sprintf(text, turn)).ReadAll(); err != nil {
		return fmt.Errorf("%s for a database: %w", turn, err)
	}
	return nil
}

// byValues tells whether answers may differ for the order in which conditions are asked for: one is an error that a
// value causes, or both are, since which of several errors comes first depends on that order, too.
func byValues(got, own answer) bool {
	if got.state != "" && own.state != "" {
		return ofValues(got) && ofValues(own)
	}
	return ofValues(got) || ofValues(own)
}

// ofValues tells whether a value of some row is the cause of an error: a cardinality violation, a data exception,
// an encoding that to_ascii does not support, a text that is no tsquery, or one that says no bounds of a range.
func ofValues(a answer) bool {
	return strings.HasPrefix(a.state, "21") || strings.HasPrefix(a.state, "22") ||
		a.state == "42704" && strings.Contains(a.message, "is not a valid encoding code") ||
		a.state == "0A000" && strings.Contains(a.message, "to ASCII not supported") ||
		a.state == "42601" && (strings.HasPrefix(a.message, "syntax error in tsquery") || strings.HasPrefix(a.message, "invalid range bound flags"))
}
