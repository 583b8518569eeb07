package control

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// controlDB makes a migrated control store for one test and gives its URL. Everything the
// test starts must have ended when it ends.
func controlDB(t *testing.T) string {
	t.Helper()
	pgtest.Cluster(t) // its goroutines are not the test's
	noLeaks(t)
	url := pgtest.Database(t)
	if err := MigrateControl(t.Context(), url); err != nil {
		t.Fatalf("migrating: %v", err)
	}
	return url
}

func noLeaks(t *testing.T) {
	t.Helper()
	ignored := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignored) })
}

// open opens a store and closes it with the test. It does not run.
func open(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// run opens a store and runs it, as the service does.
func run(t *testing.T, cfg Config) *Store {
	t.Helper()
	s := open(t, cfg)
	runStore(t, s)
	return s
}

func runStore(t *testing.T, s *Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Run did not return")
		}
	})
}

// exec runs SQL as the superuser.
func exec(t *testing.T, url, sql string, args ...any) {
	t.Helper()
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func query[T any](t *testing.T, url, sql string, args ...any) (value T) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// wantCode fails unless err is a *proxy.Error of this code; the empty code is no error.
func wantCode(t *testing.T, err error, code proxy.Code) {
	t.Helper()
	var e *proxy.Error
	switch {
	case code == "" && err != nil:
		t.Fatalf("got %v, want no error", err)
	case code != "" && (!errors.As(err, &e) || e.Code != code):
		t.Fatalf("got %v, want %s", err, code)
	}
}

// within fails unless what happens becomes true in time; it gives how long it took.
func within(t *testing.T, limit time.Duration, what string, happened func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !happened() {
		if time.Since(began) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(began)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// made is a project with a server, its key and a token for everything.
type made struct {
	project Project
	server  proxy.Server
	key     string
	token   Token
	text    string // of the token
}

func populate(t *testing.T, s *Store) (m made) {
	t.Helper()
	var err error
	m.project = must[Project](t)(s.CreateProject(t.Context(), "demo"))
	if m.server, m.key, err = s.CreateServer(t.Context(), m.project.ID, "one", "the first"); err != nil {
		t.Fatal(err)
	}
	m.token, m.text, err = s.CreateToken(t.Context(), TokenSpec{
		Name: "ci", Projects: []string{m.project.ID}, Scopes: proxy.Manage | proxy.Read | proxy.Write,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// dropRole drops a role of a test whose databases are gone.
func dropRole(t *testing.T, admin, name string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), admin)
	if err != nil {
		t.Errorf("dropping a role: %v", err)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), "DROP ROLE "+name); err != nil {
		t.Errorf("dropping a role: %v", err)
	}
}
