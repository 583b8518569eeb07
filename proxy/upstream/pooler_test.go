package upstream

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// pooler starts PgBouncer in transaction mode, with two server connections, in front of a
// database. The test is skipped on a machine without it.
func pooler(t *testing.T, databaseURL string) string {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bin = "/usr/sbin/pgbouncer"; !executable(bin) {
			t.Skip("pgbouncer is not installed")
		}
	}
	cfg, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	dir := pgtest.DataDir(t)
	ini := fmt.Sprintf(`[databases]
test = host=%s port=%d dbname=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`, cfg.Host, cfg.Port, cfg.Database, cfg.User, cfg.Password, port)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(ini), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{file}
	if os.Geteuid() == 0 {
		args = []string{"-u", "nobody", file}
	}
	cmd := exec.Command(bin, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	waitForPort(t, port)
	return "postgres://any@127.0.0.1:" + strconv.Itoa(port) + "/test?sslmode=disable"
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode()&0o111 != 0
}

func waitForPort(t *testing.T, port int) {
	t.Helper()
	for range 200 {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the pooler does not listen")
}

// Ensure many statements over few server connections, shared behind a pooler, get their
// own results with the session's settings, errors and refusals among them.
func TestBehindPooler(t *testing.T) {
	db := pgtest.Database(t)
	through := pooler(t, db)
	b := setup(t, Config{URL: through, NoPrepared: true, MaxConns: 10}, "")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for j := range 30 {
				n := strconv.Itoa(i*100 + j)
				st := sel("SELECT $1::int AS v", num(n))
				switch j % 6 {
				case 1:
					st = sel("SELECT $1::text || 'x' AS w, ARRAY[$2::int] AS v", str("é"), num(n))
				case 2:
					st = sel("SELECT '2026-01-31 09:15:00+09'::timestamptz AS x, ARRAY['(1,1),(0,0)']::box[], '\\x61'::bytea, $1::int AS v", num(n))
				case 3:
					refusal(t, second(b.query(sel("SELECT $1::int", str("x")))), policy.InvalidArgument, "bad argument")
					refusal(t, second(b.query(sel("SELECT 1/0"))), policy.QueryFailed, "bad statement")
				case 4:
					refusal(t, second(b.query(withLimits(sel("SELECT generate_series(1,5)"), 4, 1<<20))), proxy.ResultTooLarge, "too many rows")
				}
				if body, err := b.query(st); err != nil || !strings.Contains(body, n) || strings.Count(body, "[[") > 1 {
					t.Errorf("%s: got %s, %v; want %s", st.text(), body, err, n)
				}
				if j%6 == 2 {
					if body, err := b.query(st); err != nil || !strings.Contains(body, `[["2026-01-31T00:15:00Z",["(1,1),(0,0)"],"YQ==",`+n+`]]`) {
						t.Errorf("got %s, %v", body, err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func second[T any](_ T, err error) error { return err }

// Ensure a refused RETURNING is rolled back and a schema is read behind a pooler, too.
func TestWritesBehindPooler(t *testing.T) {
	db := pgtest.Database(t)
	through := pooler(t, db)
	b := setup(t, Config{URL: through, NoPrepared: true, MaxConns: 3, SearchPath: "pg_catalog, public"}, "")
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(t.Context()) }()
	if _, err := admin.Exec(t.Context(), "CREATE TABLE public.t (a int)"); err != nil {
		t.Fatal(err)
	}
	st := withLimits(write("insert", true, "INSERT INTO t SELECT g FROM generate_series(1,10) g RETURNING a"), 9, 1<<20)
	b.fail(st, proxy.ResultTooLarge)
	st.limits.MaxRows = 10
	b.must(st)
	if got := b.must(sel("SELECT count(*) FROM t")); !strings.HasSuffix(got, "[[10]]") {
		t.Errorf("rows: %s", got)
	}
	got, err := b.pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "t"}})
	if err != nil || len(got.Tables) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
