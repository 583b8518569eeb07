package cost

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	"github.com/tenantgate/tenantgate/wall"
)

// way is one way to run a statement, on a connection of its own.
type way struct {
	name string
	pid  string // of the connection's process
	run  func(ctx context.Context, s sample) (rows int, err error)
}

// names are those of the ways; the first is the measure.
var names = []string{
	"by hand, bare",
	"by hand, with the time limit",
	"wall 2: rewritten with the barrier",
	"wall 3: by hand, signed",
	"walls 2 and 3: rewritten, signed",
	"the service's pool, rls off",
	"the service's pool, walls 2 and 3",
}

// ways are what is compared, in the order of names, on new connections.
func (b *bench) ways(t *testing.T) []way {
	b.free = b.side(t, b.free.role, nil)
	b.walled = b.side(t, b.walled.role, func() (wall.Key, bool) { return b.key, true })
	byHand := func(s sample) (string, [][]byte) { return s.hand, s.params }
	free := func(s sample) (string, [][]byte) { return text(s.free) }
	walled := func(s sample) (string, [][]byte) { return text(s.walled) }
	list := []way{
		b.wire(t, b.free, "", byHand),
		b.wire(t, b.free, limitSQL, byHand),
		b.wire(t, b.free, limitSQL, free),
		b.wire(t, b.walled, limitSQL+signedSQL, byHand),
		b.wire(t, b.walled, limitSQL+signedSQL, walled),
		b.pooled(t, b.free, func(s sample) policy.Bound { return s.free }),
		b.pooled(t, b.walled, func(s sample) policy.Bound { return s.walled }),
	}
	for i := range list {
		list[i].name = names[i]
	}
	return list
}

// What package upstream opens each transaction with.
const (
	limitSQL  = "SELECT pg_catalog.set_config('statement_timeout', $1, true)"
	signedSQL = ", pg_catalog.set_config('" + wall.Setting + "', $2, true), pg_catalog.set_config('" + wall.Signature + "', $3, true)"
)

// cpu is what the way's process had of a CPU so far; 0 where the system does not tell.
func (w way) cpu(t *testing.T) time.Duration {
	t.Helper()
	content, err := os.ReadFile("/proc/" + w.pid + "/schedstat")
	if err != nil {
		return 0
	}
	ns, err := strconv.ParseInt(strings.Fields(string(content))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ns)
}

// pooled runs statements as the service does.
func (b *bench) pooled(t *testing.T, s side, bound func(sample) policy.Bound) way {
	t.Helper()
	var buf []byte
	run := func(ctx context.Context, x sample) (int, error) {
		res, err := s.pool.Query(ctx, "", bound(x), upstream.Encoding{}, buf[:0])
		buf = res.Body
		return res.Rows, err
	}
	if _, err := run(t.Context(), b.samples(t, queries[0])[0]); err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT pid::text FROM pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database() AND usename = "
	var pid string
	if err := b.admin.QueryRow(t.Context(), sql+"'"+s.role+"' ORDER BY backend_start DESC LIMIT 1").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return way{pid: pid, run: run}
}

// wire runs statements in one round trip each, prepared, with no more than pgconn between.
// opening, if there is one, runs before each.
func (b *bench) wire(t *testing.T, s side, opening string, statement func(sample) (string, [][]byte)) way {
	t.Helper()
	config, err := pgconn.ParseConfig(s.url)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = "pg_catalog, pg_temp" // the service's
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	prepared := map[string]*pgconn.StatementDescription{}
	prepare := func(ctx context.Context, sql string) (desc *pgconn.StatementDescription, err error) {
		if desc = prepared[sql]; desc == nil {
			desc, err = conn.Prepare(ctx, "p"+strconv.Itoa(len(prepared)), sql, nil)
			prepared[sql] = desc
		}
		return desc, err
	}
	run := func(ctx context.Context, x sample) (rows int, err error) {
		var open, desc *pgconn.StatementDescription
		var settings [][]byte
		if opening != "" {
			settings = b.settings(opening, x.server)
			if open, err = prepare(ctx, opening); err != nil {
				return 0, err
			}
		}
		sql, params := statement(x)
		if desc, err = prepare(ctx, sql); err != nil {
			return 0, err
		}
		return roundTrip(ctx, conn, open, settings, desc, params)
	}
	return way{pid: strconv.Itoa(int(conn.PID())), run: run}
}

func (b *bench) settings(opening, server string) [][]byte {
	values := [][]byte{[]byte("5000")}
	if strings.Contains(opening, wall.Setting) {
		values = append(values, []byte(server), []byte(b.key.Sign(server)))
	}
	return values
}

func roundTrip(ctx context.Context, conn *pgconn.PgConn, open *pgconn.StatementDescription, settings [][]byte, desc *pgconn.StatementDescription, params [][]byte) (rows int, err error) {
	pl := conn.StartPipeline(ctx)
	if open != nil {
		pl.SendQueryStatement(open, settings, nil, nil)
	}
	pl.SendQueryStatement(desc, params, nil, nil)
	if err := pl.Sync(); err != nil {
		return 0, err
	}
	for {
		answer, err := pl.GetResults()
		if err != nil {
			_ = pl.Close()
			return 0, err
		}
		result, ok := answer.(*pgconn.ResultReader)
		if !ok {
			return rows, pl.Close()
		}
		for rows = 0; result.NextRow(); rows++ {
		}
		if _, err := result.Close(); err != nil {
			_ = pl.Close()
			return 0, err
		}
	}
}

func text(b policy.Bound) (sql string, params [][]byte) {
	for _, p := range b.Params() {
		params = append(params, []byte(p.Value.Text))
	}
	return b.SQL(), params
}
