package embedded

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// helperVar makes this test binary a tenantgate that has a cluster in the directory
// which it names, for tests that kill one.
const helperVar = "EMBEDDED_TEST_HELPER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperVar); dir != "" {
		helperMain(dir)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if template.top != "" {
			_ = os.RemoveAll(template.top)
		}
		os.Exit(code)
	}))
}

func helperMain(dir string) {
	c, err := Start(context.Background(), quick(dir))
	if err != nil {
		os.Stdout.WriteString("error: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString(c.AdminURL("postgres") + "\n")
	time.Sleep(time.Hour)
}

// helper starts the binary again and returns the line that it prints.
func helper(t *testing.T, binary, dir string, as account) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), helperVar+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as.credential()}
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := make([]byte, 4096)
	n, err := out.Read(line)
	check(t, err)
	return cmd, strings.TrimSpace(string(line[:n]))
}

// quick is a configuration for a test. TENANTGATE_PG_BIN chooses the version tested.
func quick(dir string) Config {
	return Config{
		BinDir:    os.Getenv("TENANTGATE_PG_BIN"),
		DataDir:   dir,
		Settings:  map[string]string{"fsync": "off", "shared_buffers": "1MB"},
		elsewhere: []string{filepath.Join(filepath.Dir(dir), "elsewhere")},
	}
}

// openDir is a data directory that every user can enter. Its parent is the test's.
func openDir(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("", "embedded-test-")
	check(t, err)
	t.Cleanup(func() { check(t, removeAll(top)) })
	check(t, os.Chmod(top, 0o711))
	return filepath.Join(top, "data")
}

// removeAll removes a folder in which a server of another process may still be writing
// its last files.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// template is a cluster that was never used, made once: initdb takes most of a test.
var template struct {
	once sync.Once
	top  string
}

// madeDir is an openDir that holds a new cluster.
func madeDir(t *testing.T) string {
	t.Helper()
	template.once.Do(func() {
		var err error
		template.top, err = os.MkdirTemp("", "embedded-test-")
		check(t, err)
		check(t, os.Chmod(template.top, 0o711))
		c, err := Start(t.Context(), quick(filepath.Join(template.top, "data")))
		check(t, err)
		stop(t, c)
	})
	dir := openDir(t)
	check(t, makeDir(dir))
	for _, name := range []string{"lock", "pg", "superuser"} {
		out, err := exec.Command("cp", "-a", filepath.Join(template.top, "data", name), dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func start(t *testing.T, cfg Config) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), cfg)
	check(t, err)
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	check(t, c.Stop(ctx))
}

// refused starts a server and wants an error with all these texts.
func refused(t *testing.T, cfg Config, texts ...string) {
	t.Helper()
	c, err := Start(t.Context(), cfg)
	if err == nil {
		stop(t, c)
		t.Fatal("it started")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer func() { _ = conn.Close(ctx) }()
	var v T
	check(t, conn.QueryRow(ctx, sql).Scan(&v))
	return v
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	check(t, err)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 15 s: %s", what)
		}
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
