package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	return conn // left open: the database must go all the same
}

// Ensure each test has an empty database that is gone after it, open sessions or not.
func TestDatabase(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = Database(t)
		_, err := connect(t, first).Exec(t.Context(), "CREATE TABLE a (x int)")
		check(t, err)
	})
	t.Run("second", func(t *testing.T) {
		var left int
		const tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
		check(t, connect(t, Database(t)).QueryRow(t.Context(), tables).Scan(&left))
		if left != 0 {
			t.Errorf("the second database has %d tables", left)
		}
	})
	_, err := pgx.Connect(t.Context(), first)
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "3D000" {
		t.Errorf("the first database outlived its test: %v", err)
	}
}

// Ensure all tests of a binary have one server, with the settings that make it quick.
func TestCluster(t *testing.T) {
	c := Cluster(t)
	if c != Cluster(t) {
		t.Error("two servers")
	}
	var fsync, connections string
	conn := connect(t, c.AdminURL("postgres"))
	defer func() { _ = conn.Close(t.Context()) }()
	check(t, conn.QueryRow(t.Context(), "SELECT current_setting('fsync'), current_setting('max_connections')").Scan(&fsync, &connections))
	if fsync != "off" || connections != "300" {
		t.Errorf("fsync %s, max_connections %s", fsync, connections)
	}
}

// Ensure As changes the role and keeps the database.
func TestAs(t *testing.T) {
	admin := Database(t)
	role := Name("reader")
	conn := connect(t, admin)
	_, err := conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'p/@:w'")
	check(t, err)
	t.Cleanup(func() { dropRole(t, role) })
	var user, here, there string
	check(t, conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&there))
	check(t, connect(t, As(t, admin, role, "p/@:w")).QueryRow(t.Context(), "SELECT current_user, current_database()").Scan(&user, &here))
	if user != role || here != there {
		t.Errorf("user %s in %s, want %s in %s", user, here, role, there)
	}
}

func dropRole(t *testing.T, role string) { admin(t, Cluster(t), "DROP ROLE "+role) }

// Ensure a server that nobody would stop is not started.
func TestWithoutMain(t *testing.T) {
	var s server
	if _, err := s.get(); err == nil || !strings.Contains(err.Error(), "TestMain") {
		t.Errorf("get: %v", err)
	}
}

// Ensure the end of the tests stops the server and removes its files.
func TestStop(t *testing.T) {
	s := server{main: true}
	c, err := s.get()
	check(t, err)
	check(t, s.stop())
	select {
	case <-c.Done():
	default:
		t.Error("the server runs")
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", s.dir, err)
	}
}

func TestConfig(t *testing.T) {
	t.Setenv("TENANTGATE_PG_BIN", "/opt/pg/bin")
	if got := Config("/d"); got.BinDir != "/opt/pg/bin" || got.DataDir != "/d" {
		t.Errorf("%+v", got)
	}
}

// Ensure a test's directory can be entered by others and goes with the test, and with
// it a cluster that had to live elsewhere.
func TestDataDir(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "cluster")
	check(t, os.Mkdir(elsewhere, 0o700))
	var dir string
	t.Run("", func(t *testing.T) {
		dir = DataDir(t)
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o711 {
			t.Errorf("%v, %v", st, err)
		}
		check(t, os.WriteFile(filepath.Join(dir, "location"), []byte(elsewhere+"\n"), 0o600))
	})
	for _, gone := range []string{dir, elsewhere} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", gone, err)
		}
	}
}

// Ensure what killed test binaries left is removed, and nothing else.
func TestRemoveLeft(t *testing.T) {
	parent := t.TempDir()
	folder := func(name string, age time.Duration) string {
		dir := filepath.Join(parent, name)
		check(t, os.Mkdir(dir, 0o711))
		check(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
		check(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-age)))
		return dir
	}
	want := map[string]bool{ // folder → stays
		folder(dirPrefix+"old", 2*time.Hour):     false,
		folder(dirPrefix+"young", time.Minute):   true,
		folder("another-program's", 2*time.Hour): true,
	}
	used := folder(dirPrefix+"used", 2*time.Hour)
	lock, err := os.Open(filepath.Join(used, "lock"))
	check(t, err)
	defer func() { _ = lock.Close() }()
	check(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	want[used] = true
	check(t, os.Symlink(used, filepath.Join(parent, dirPrefix+"link")))
	if os.Geteuid() == 0 {
		foreign := folder(dirPrefix+"foreign", 2*time.Hour)
		check(t, os.Chown(foreign, 65534, 65534))
		want[foreign] = true
	}
	removeLeft(parent)
	for dir, stays := range want {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: stays %t, want %t", dir, err == nil, stays)
		}
	}
}
