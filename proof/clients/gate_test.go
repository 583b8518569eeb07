package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

// service is the one tenantgate of this test binary, a process of its own.
type service struct {
	once    sync.Once
	err     error
	dir     string
	admin   string   // the superuser's URL
	policy  string   // its file; "" for testdata/policy.yaml
	flags   []string // more of them
	address string   // of the listener
	http    string   // of REST
	ops     string   // where its metrics are
	before  string   // a digest of the other server's rows
	store   *control.Store
	project string // its id
	cmd     *exec.Cmd
}

// gate is package state because the tests have nothing else in common that could hold it.
var gate service

// The roles, with one password: the cluster listens on loopback and goes with the tests.
const (
	gateDatabase = "clients_gate"
	gatePassword = "clients"
)

// tenant registers a server and gives the URL of a client that is it. When the test ends,
// the other server's rows must be what they were.
func tenant(t *testing.T) string {
	t.Helper()
	cluster := pgtest.Cluster(t)
	gate.once.Do(func() {
		gate.err = gate.start(context.Background(), cluster.AdminURL, func(role string) string { return cluster.URL(role, gatePassword, gateDatabase) })
	})
	if gate.err != nil {
		t.Fatal(gate.err)
	}
	made := gate.server(t)
	t.Cleanup(func() {
		if after, err := digest(context.Background(), gate.admin); err != nil || after != gate.before {
			t.Errorf("another server's rows were changed (%v)", err)
		}
	})
	return made
}

// server registers one and gives the URL of a client that is it.
func (s *service) server(t *testing.T) string {
	t.Helper()
	server, key, err := s.store.CreateServer(t.Context(), s.project, strings.ReplaceAll(t.Name(), "/", " "), "")
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(server.ID, key), Host: s.address, Path: "/" + server.ID, RawQuery: "sslmode=disable"}
	return u.String()
}

func (s *service) start(ctx context.Context, admin, as func(string) string) (err error) {
	if err := s.prepare(ctx, admin, as); err != nil {
		return fmt.Errorf("preparing the database: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "tenantgate-clients-"); err != nil {
		return err
	}
	program := filepath.Join(s.dir, "tenantgate")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tenantgate").CombinedOutput(); err != nil {
		return fmt.Errorf("building tenantgate: %w: %s", err, out)
	}
	if s.policy == "" {
		s.policy = "testdata/policy.yaml"
	}
	s.cmd = exec.Command(program, append([]string{"serve", "--http-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--pg-addr", "127.0.0.1:0", "--rls", "required",
		"--policy", s.policy, "--log-format", "json"}, s.flags...)...)
	s.cmd.Env = append(os.Environ(), "TENANTGATE_DATABASE_URL="+as("clients_statement"), "TENANTGATE_CONTROL_DATABASE_URL="+as("clients_control"),
		"TENANTGATE_LOOKUP_DATABASE_URL="+as("clients_lookup"))
	said, err := os.Create(filepath.Join(s.dir, "stderr.log"))
	if err != nil {
		return err
	}
	defer said.Close()
	s.cmd.Stderr = said
	if err := s.cmd.Start(); err != nil {
		return err
	}
	return s.wait(said.Name())
}

// wait reads the log until it tells where the listener is.
func (s *service) wait(log string) error {
	exited := make(chan error, 1)
	go func() { exited <- s.cmd.Wait() }()
	for range 1000 {
		said, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(said) {
			var entry struct{ Msg, PG, HTTP, Ops string }
			if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
				s.address, s.http, s.ops = entry.PG, entry.HTTP, entry.Ops
				return nil
			}
		}
		select {
		case <-exited:
			s.cmd = nil
			said, _ = os.ReadFile(log)
			return fmt.Errorf("tenantgate ended: %s", said)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("tenantgate was not ready in time")
}

// prepare makes database, roles, tables and a project, and the other server's rows.
func (s *service) prepare(ctx context.Context, admin, as func(string) string) error {
	texts := []string{"CREATE DATABASE " + gateDatabase}
	for _, role := range []string{"clients_statement", "clients_control", "clients_lookup"} {
		texts = append(texts, "CREATE ROLE "+role+" LOGIN PASSWORD '"+gatePassword+"'")
	}
	texts = append(texts, "GRANT CREATE ON DATABASE "+gateDatabase+" TO clients_control")
	if err := run(ctx, admin("postgres"), texts...); err != nil {
		return err
	}
	s.admin = admin(gateDatabase)
	if err := control.MigrateControl(ctx, as("clients_control")); err != nil {
		return err
	}
	if _, err := control.MigrateBundled(ctx, s.admin, control.Roles{Statement: "clients_statement", Lookup: "clients_lookup"}); err != nil {
		return err
	}
	if err := (control.WallKeys{ControlURL: as("clients_control"), OwnerURL: s.admin}).Ensure(ctx); err != nil {
		return err
	}
	for _, path := range []string{"testdata/tables.sql", "testdata/wall.sql"} {
		sql, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := run(ctx, s.admin, string(sql)); err != nil {
			return err
		}
	}
	var err error
	if s.before, err = digest(ctx, s.admin); err != nil {
		return err
	}
	if s.store, err = control.Open(ctx, control.Config{ControlURL: as("clients_control")}); err != nil {
		return err
	}
	project, err := s.store.CreateProject(ctx, "clients")
	s.project = project.ID
	return err
}

func (s *service) stop() {
	if s.store != nil {
		s.store.Close()
	}
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}
