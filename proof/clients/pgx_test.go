package clients_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// modes are all ways in which pgx sends a query.
var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// pgxTests are what pgx does in each of its modes. Each has the rows that the last one left.
var pgxTests = []struct {
	name string
	test func(t *testing.T, conn *pgx.Conn)
}{
	{"CRUD", pgxCRUD}, {"types", pgxTypes}, {"stored", pgxStored}, {"transactions", pgxTransactions}, {"prepared", pgxPrepared}, {"batch", pgxBatch},
	{"pipeline", pgxPipeline}, {"errors", pgxErrors}, {"cancel", pgxCancel}, {"large", pgxLarge}, {"cursor", pgxCursor}, {"copy to", pgxCopyTo}, {"copy from", pgxCopyFrom},
}

// TestPgx does everything in each mode.
func TestPgx(t *testing.T) {
	for _, mode := range modes {
		t.Run(strings.ReplaceAll(mode.String(), " ", "_"), func(t *testing.T) {
			each(t, func(t *testing.T, url string) {
				conn := dialIn(t, url, mode)
				for _, p := range pgxTests {
					t.Run(p.name, func(t *testing.T) { p.test(t, conn) })
					if conn.IsClosed() {
						t.Fatalf("%s: the connection was lost", p.name)
					}
				}
			})
		})
	}
}

// TestPgxTargets connects only where there is what it wants: pgx asks the server for that.
func TestPgxTargets(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		for target, there := range map[string]bool{"any": true, "read-write": true, "primary": true, "prefer-standby": true, "standby": false, "read-only": false} {
			conn, err := pgx.Connect(t.Context(), url+"&target_session_attrs="+target)
			if err == nil {
				_ = conn.Close(t.Context())
			}
			if (err == nil) != there || err != nil && !strings.HasSuffix(err.Error(), "not in hot standby mode") && !strings.HasSuffix(err.Error(), "connection is not read only") {
				t.Errorf("%s: %v", target, err)
			}
		}
	})
}

// dialIn connects so that a context that ends asks the server to cancel, and waits for its answer.
func dialIn(t *testing.T, url string, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = mode
	cfg.RuntimeParams["timezone"] = "UTC"
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 20 * time.Second}
	}
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func exec1(t *testing.T, q querier, sql string, args ...any) pgconn.CommandTag {
	t.Helper()
	tag, err := q.Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag
}

// querier is a connection or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// value reads the only value of a query.
func value[T any](t *testing.T, q querier, sql string, args ...any) (v T) {
	t.Helper()
	if err := q.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// state gives an error's SQLSTATE.
func state(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return fmt.Sprint(err)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func pgxCRUD(t *testing.T, conn *pgx.Conn) {
	equal(t, "insert", exec1(t, conn, "INSERT INTO conversations (id, title) VALUES ($1, $2), ($3, $4)", "c1", "eins", "c2", "zwei").String(), "INSERT 0 2")
	id := value[string](t, conn, "INSERT INTO messages (conversation_id, content, metadata) VALUES ($1, $2, $3) RETURNING id", "c1", "世界", `{"k": 1}`)
	equal(t, "select", value[string](t, conn, "SELECT content FROM messages WHERE id = $1", id), "世界")
	equal(t, "join", value[string](t, conn, "SELECT c.title FROM conversations AS c JOIN messages AS m ON m.conversation_id = c.id WHERE m.metadata ->> 'k' = $1", "1"), "eins")
	equal(t, "update", exec1(t, conn, "UPDATE messages SET content = $2 WHERE id = $1", id, "x").RowsAffected(), 1)
	for n := range 2 {
		upserted := value[int32](t, conn, "INSERT INTO samples (id, i4) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 1 RETURNING i4", -1)
		equal(t, "upsert", upserted, int32(n+1))
	}
	equal(t, "delete", exec1(t, conn, "DELETE FROM conversations WHERE id = ANY($1)", []string{"c1", "c2", "c3"}).RowsAffected(), 2)
	equal(t, "cascade", value[int64](t, conn, "SELECT count(*) FROM messages"), 0)
}

func pgxTransactions(t *testing.T, conn *pgx.Conn) {
	ctx := t.Context()
	for _, end := range []string{"rollback", "commit"} {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		exec1(t, tx, "INSERT INTO samples (id, code) VALUES ($1, $2)", 10, "tx")
		point, err := tx.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = point.Exec(ctx, "INSERT INTO samples (id, code) VALUES ($1, $2)", 11, "tx")
		equal(t, "unique violation", state(err), "23505")
		_, err = point.Exec(ctx, "SELECT 1")
		equal(t, "in a failed transaction", state(err), "25P02")
		if err := point.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		if point, err = tx.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		exec1(t, point, "INSERT INTO samples (id, code) VALUES ($1, $2)", 11, "nested")
		if err := point.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if end == "commit" {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		equal(t, end, value[int64](t, conn, "SELECT count(*) FROM samples WHERE id IN (10, 11)"), map[string]int64{"rollback": 0, "commit": 2}[end])
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.Serializable, DeferrableMode: pgx.Deferrable})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(ctx, "DELETE FROM samples")
	equal(t, "read only", state(err), "25006")
	if err := tx.Commit(ctx); !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Errorf("commit of a failed transaction: %v", err)
	}
}

// pgxPrepared keeps more statements than pools and caches keep as a rule.
func pgxPrepared(t *testing.T, conn *pgx.Conn) {
	const many = 60
	for round := range 3 {
		for n := range many {
			name := fmt.Sprintf("stmt_%d", n)
			if round == 0 {
				d, err := conn.Prepare(t.Context(), name, fmt.Sprintf("SELECT $1::int4 + %d, count(*) FROM samples WHERE id < $2", n))
				if err != nil {
					t.Fatal(err)
				}
				if len(d.ParamOIDs) != 2 || len(d.Fields) != 2 || d.ParamOIDs[1] != 20 || d.Fields[0].DataTypeOID != 23 {
					t.Fatalf("described as %+v", d)
				}
			}
			equal(t, name, value2(t, conn, name, round, -1000), int32(n+round))
		}
	}
	if err := conn.Deallocate(t.Context(), "stmt_0"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Prepare(t.Context(), "stmt_0", "SELECT $1::int4 * 2, 0::int8 WHERE $2 < 0"); err != nil {
		t.Fatal(err)
	}
	equal(t, "prepared anew", value2(t, conn, "stmt_0", 21, -1), 42)
	if err := conn.DeallocateAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// value2 reads the first of a row's two values.
func value2(t *testing.T, conn *pgx.Conn, sql string, args ...any) (first int32) {
	t.Helper()
	var second int64
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&first, &second); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return first
}

func pgxErrors(t *testing.T, conn *pgx.Conn) {
	for want, sql := range map[string]string{
		"22012": "SELECT 1 / (count(*) - count(*)) FROM samples", "42601": "SELECT FROM WHERE", "42703": "SELECT nothing FROM samples",
		"23503": "INSERT INTO messages (conversation_id) VALUES ('nobody')", "22P02": "SELECT 'x'::int4", "23502": "INSERT INTO samples (id) VALUES (NULL)",
	} {
		_, err := conn.Exec(t.Context(), sql)
		equal(t, sql, state(err), want)
		equal(t, "after", value[int32](t, conn, "SELECT 1"), 1)
	}
	_, err := conn.Exec(t.Context(), "SELECT 1 FRM samples")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Severity != "ERROR" || pg.Position == 0 {
		t.Errorf("%+v", pg)
	}
}

// pgxCancel ends statements by their contexts: outside of a transaction, and in one.
func pgxCancel(t *testing.T, conn *pgx.Conn) {
	for _, begin := range []bool{false, true, false} {
		if begin {
			exec1(t, conn, "BEGIN")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		start := time.Now()
		_, err := conn.Exec(ctx, slow)
		cancel()
		equal(t, "cancelled", state(err), "57014")
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if begin {
			exec1(t, conn, "ROLLBACK")
		}
		equal(t, "after", value[int32](t, conn, "SELECT 40 + 2"), 42)
	}
}
