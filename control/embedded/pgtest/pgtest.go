// Package pgtest gives tests a real PostgreSQL: one server for each test binary,
// started when the first test needs it, and an empty database for each test.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	func TestIt(t *testing.T) {
//		conn, err := pgx.Connect(t.Context(), pgtest.Database(t))
//
// Main stops the server after the last test, also when a test failed. If a test binary
// panics or is killed, the server stops too, and the next one removes the
// files that it left.
//
// TENANTGATE_PG_BIN names the folder of initdb and postgres to use, so that all
// tests can run against each supported version.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded"
)

// requestLimit bounds the making or dropping of a database.
const requestLimit = 30 * time.Second

// Main runs the tests and then stops the server, if one was started. It returns the
// exit code for os.Exit.
func Main(m *testing.M) int {
	shared.mu.Lock()
	shared.main = true
	shared.mu.Unlock()
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return max(code, 1)
	}
	return code
}

// Cluster is the shared server. Roles are common to all its databases: give those
// that a test makes a name of its own (Name). A test must not stop it.
func Cluster(t testing.TB) *embedded.Cluster {
	t.Helper()
	c, err := shared.get()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return c
}

// Database makes an empty database, which is dropped, its sessions with it, when the
// test ends, and returns the superuser's URL for it.
func Database(t testing.TB) (adminURL string) {
	t.Helper()
	c := Cluster(t)
	name := Name("test")
	admin(t, c, "CREATE DATABASE "+name)
	t.Cleanup(func() { admin(t, c, "DROP DATABASE "+name+" WITH (FORCE)") })
	return c.AdminURL(name)
}

// As is the URL of another role for the database of adminURL.
func As(t testing.TB, adminURL, role, password string) string {
	t.Helper()
	u, err := url.Parse(adminURL)
	if err != nil {
		t.Fatal("pgtest: not a URL") // parse errors quote it, password included
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// Name is an identifier that no other call returns, for a role or a database. It
// needs no quotes. prefix must not either.
func Name(prefix string) string {
	return prefix + "_" + strings.ToLower(rand.Text()[:12])
}

// DataDir is an empty folder for an embedded.Config of the test's own, removed at
// its end. Unlike t.TempDir's, other users can enter it, so that a server which runs
// as another user can live there.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := makeDir()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := removeDir(dir); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return dir
}

func admin(t testing.TB, c *embedded.Cluster, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.AdminURL("postgres"))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("pgtest: %s: %v", sql, err)
	}
}

// Config is that of the shared server, for another data directory: quick, careless
// with the data, with room for many connections.
func Config(dataDir string) embedded.Config {
	return embedded.Config{
		BinDir:   os.Getenv("TENANTGATE_PG_BIN"),
		CacheDir: cacheDir(),
		DataDir:  dataDir,
		Settings: map[string]string{
			"fsync":              "off",
			"synchronous_commit": "off",
			"full_page_writes":   "off",
			"max_connections":    "300",
		},
	}
}

// cacheDir is where the Makefile puts a Postgres if there is no package of it.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tenantgate", "postgres")
}
