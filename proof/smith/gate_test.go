package smith_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof"
)

// serve runs the program in front of a database, whose superuser's URL is given, and gives the
// URL of a client that is the server.
func serve(t *testing.T, program, database string) string {
	t.Helper()
	cluster, dir := pgtest.Cluster(t), t.TempDir()
	store := pgtest.Database(t)
	project, key := register(t, store)
	if err := (control.WallKeys{ControlURL: store, OwnerURL: database}).Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, cluster.AdminURL("postgres"), "ALTER ROLE "+world.role+" LOGIN NOINHERIT PASSWORD 'smith'")
	file := filepath.Join(dir, "policy.yaml")
	rules := proof.PolicyFile(policy.Inject) + "limits: {maxRows: none, maxResultBytes: none, maxConcurrent: none, requestsPerSecond: none}\n"
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "stderr.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, "serve", "--pg-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--rls", "required", "--policy", file, "--log-format", "json")
	cmd.Env = append(os.Environ(), "TENANTGATE_DATABASE_URL="+pgtest.As(t, database, world.role, "smith"), "TENANTGATE_CONTROL_DATABASE_URL="+store,
		"TENANTGATE_LOOKUP_DATABASE_URL="+database)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s", said)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("project %s: tenantgate ended with %v", project, err)
		}
	})
	u := url.URL{Scheme: "postgres", User: url.UserPassword(world.server, key), Host: serving(t, log.Name()), Path: "/" + world.server, RawQuery: "sslmode=disable"}
	return u.String()
}

// register makes a control store with the server in it.
func register(t *testing.T, url string) (project, key string) {
	t.Helper()
	if err := control.MigrateControl(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	store, err := control.Open(t.Context(), control.Config{ControlURL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	made, err := store.CreateProject(t.Context(), "smith")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err = store.CreateServerWithID(t.Context(), made.ID, world.server, "smith", "")
	if err != nil {
		t.Fatal(err)
	}
	return made.ID, key
}

// serving reads the log until it tells where the listener is.
func serving(t *testing.T, log string) string {
	t.Helper()
	for range 1500 {
		said, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(said) {
			var entry struct{ Msg, PG string }
			if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
				return entry.PG
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	said, _ := os.ReadFile(log)
	t.Fatal("tenantgate was not ready in time: ", strings.TrimSpace(string(said)))
	return ""
}

// planned fails or not by its plan, which goes by the sizes of the tables: whether b.attrs is read before it is known
// that no row of a is wanted. In front of world.other tenantgate has another plan, in front of world.alone the same.
const planned = `select 8 from public.files as f,
	lateral (select f.content_type as c0 from shop.items as a where a.day is not null and cast(null as "timestamp") < (select placed from shop.orders limit 1 offset 5)) as s,
	lateral (select b.n as c0 from shop.items as b where pg_catalog.int2(b.attrs) > f.size_bytes) as t`

// TestGate replays through tenantgate.
func TestGate(t *testing.T) {
	cfg := build(t)
	program := filepath.Join(t.TempDir(), "tenantgate")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tenantgate").CombinedOutput(); err != nil {
		t.Fatalf("building tenantgate: %v: %s", err, out)
	}
	cfg.Gate, cfg.Alone = serve(t, program, world.shared), serve(t, program, world.alone)
	cfg.Statements = append(slices.Clone(cfg.Statements), planned)
	d := kept(t, world.shared)
	cfg.Restore = d.Restore
	report := replayed(t, cfg)
	if all, alone := sizes(t, d), sizes(t, kept(t, world.alone)); all != alone {
		t.Errorf("the plans are not the same any more: the sizes are %s, and without the rows of others %s", all, alone)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
	if report.Leaks+report.Mismatches+report.Lost > 0 || report.Admitted == 0 {
		t.Error("see above")
	}
}

func kept(t *testing.T, url string) *proof.Kept {
	t.Helper()
	k, err := proof.Keep(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close(context.WithoutCancel(t.Context())) })
	return k
}

func sizes(t *testing.T, k *proof.Kept) string {
	t.Helper()
	s, err := k.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
