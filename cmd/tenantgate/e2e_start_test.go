package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func (in *instance) ops(t testing.TB, path string) (int, string) {
	t.Helper()
	answer, err := http.Get(in.OpsURL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestOperationsListener(t *testing.T) {
	in := sharedInstance(t)
	in.query(t, "SELECT 1")
	in.query(t, "SELECT pg_sleep(1)")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/openapi.json": 404, "/debug/pprof/": 404} {
		if got, body := in.ops(t, path); got != want {
			t.Errorf("%s: %d %.200s", path, got, body)
		}
	}
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		if r := in.do(t, http.MethodGet, path, ""); r.status != 404 {
			t.Errorf("%s is served on the public address: %d", path, r.status)
		}
	}
	_, text := in.ops(t, "/metrics")
	for _, want := range []string{
		`tenantgate_requests_total{code="ok",endpoint="`, `tenantgate_rejections_total{code="function_not_allowed",frontend="rest"}`,
		`tenantgate_statements_total{kind="select",outcome="ok"}`, `tenantgate_stage_duration_seconds_count{stage="policy"}`, `tenantgate_stage_duration_seconds_count{stage="upstream"}`,
		`tenantgate_stage_duration_seconds_count{stage="auth"}`, `tenantgate_plan_cache_hits_total`, `tenantgate_upstream_pool_max 10`, `tenantgate_policy_info{name="default"`, `tenantgate_build_info{`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, secret := range []string{in.ServerID, in.AccessToken, in.APIKey} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics hold %.10s…", secret)
		}
	}
}

func TestBasePath(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--base-path", "/x/y")
	if !strings.HasSuffix(in.BaseURL, "/x/y") {
		t.Errorf("baseUrl %s", in.BaseURL)
	}
	if r := in.query(t, "SELECT 1"); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	answer, err := http.Get(strings.TrimSuffix(in.BaseURL, "/x/y") + in.serversPath())
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != 404 {
		t.Errorf("without the base path: %d", answer.StatusCode)
	}
}

// TestRestart stops and starts on the same data directory: everything is still there.
func TestRestart(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	if info, err := os.Stat(filepath.Join(in.dir, "credentials.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the credentials file: %v %v", info, err)
	}
	in.query(t, "INSERT INTO files (id, server_id, name) VALUES ('kept', ?, 'x')", "")
	before := in.credentials
	if code := in.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	start := time.Now()
	again, err := launchIn(in.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.stop()
	t.Logf("the second start took %s", time.Since(start))
	if again.AccessToken != before.AccessToken || again.ServerID != before.ServerID || again.APIKey != before.APIKey {
		t.Error("the credentials changed")
	}
	if r := again.query(t, "SELECT name FROM files WHERE server_id = ? AND id = 'kept'"); !strings.Contains(r.body, `[["x"]]`) {
		t.Errorf("%s", r.body)
	}
}

// TestKilled kills the real program with SIGKILL in the middle of its work; the next
// start must recover.
func TestKilled(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "tenantgate")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "credentials.json")
	var said bytes.Buffer
	program := exec.Command(binary, "dev", "--data-dir", filepath.Join(dir, "data"), "--credentials-file", file, "--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0")
	program.Stdout, program.Stderr = &said, &said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if _, err := os.Stat(file); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := program.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	again, err := launchIn(dir)
	if err != nil {
		t.Fatalf("%v after %s", err, said.String())
	}
	defer again.stop()
	if r := again.query(t, "SELECT count(*) FROM end_users WHERE server_id = ?"); !strings.Contains(r.body, "[[2]]") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestPrintedCurl runs what the first start prints.
func TestPrintedCurl(t *testing.T) {
	in := sharedInstance(t)
	said := in.banner(t)
	commands := regexp.MustCompile(`(?s)  (curl -sS .*?)\n\n`).FindAllStringSubmatch(said, -1)
	if len(commands) != 2 {
		t.Fatalf("%d commands in %s", len(commands), said)
	}
	for i, want := range []string{`["ada","Ada Lovelace","ada@example.com"]`, `"username":"ada"`} {
		out, err := exec.Command("bash", "-c", commands[i][1]).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s\nprinted %s: %v", commands[i][1], out, err)
		}
	}
}

// TestSchemaChange alters tables under running plans: a statement must never be answered
// by what it was.
func TestSchemaChange(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	const text = "SELECT * FROM end_users WHERE server_id = ? AND id = 'ada'"
	has := func(column string) bool { return strings.Contains(in.query(t, text).body, `"`+column+`"`) }
	if has("nickname") || !has("username") {
		t.Fatal("unexpected columns")
	}
	in.admin(t, "ALTER TABLE public.end_users ADD COLUMN nickname text DEFAULT 'x'")
	if r := in.query(t, text); r.status != 200 || strings.Contains(r.body, "nickname") {
		t.Errorf("a column that the role may not read yet: %d %s", r.status, r.body)
	}
	in.admin(t, "GRANT SELECT (nickname) ON public.end_users TO tenantgate_statement")
	waitFor(t, func() bool { return has("nickname") })
	conn := in.as(t, in.ServerID, in.APIKey)
	const message = "SELECT * FROM end_users"
	if got, err := conn.PgConn().Exec(t.Context(), message).ReadAll(); err != nil || len(got[0].Rows) == 0 {
		t.Fatal(got, err)
	}
	in.admin(t, "ALTER TABLE public.end_users DROP COLUMN nickname")
	got, err := conn.PgConn().Exec(t.Context(), message).ReadAll()
	if err != nil || len(got[0].Rows) == 0 {
		t.Errorf("a Query message after the column was dropped: %v %v", got, err)
	}
	if r := in.query(t, text); r.status != 200 || strings.Contains(r.body, "nickname") {
		t.Errorf("after the column was dropped: %d %s", r.status, r.body)
	}
	in.admin(t, "ALTER TABLE public.messages ADD COLUMN extra int")
	waitFor(t, func() bool { // a busy machine may take longer to read the schema than a statement waits for that
		return in.query(t, "SELECT m.extra FROM messages m WHERE m.server_id = ? LIMIT 1").status == 200
	})
	in.query(t, "SELECT extra FROM messages WHERE server_id = ?")
	in.admin(t, "ALTER TABLE public.messages ALTER COLUMN extra TYPE text")
	if r := in.query(t, "SELECT extra FROM messages WHERE server_id = ?"); r.status != 200 {
		t.Errorf("a changed type: %d %s", r.status, r.body)
	}
	in.admin(t, "ALTER TABLE public.messages ADD COLUMN more int")
	waitFor(t, func() bool { return in.query(t, "UPDATE messages SET more = 1 WHERE server_id = ?").status == 200 })
}

// TestUpstreamGone stops Postgres under the service: it says so, and does not hang.
func TestUpstreamGone(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	in.admin(t, "ALTER ROLE tenantgate_statement CONNECTION LIMIT 0", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tenantgate_statement'")
	r := in.query(t, "SELECT 1")
	if r.status != 503 || r.header.Get("Retry-After") == "" || strings.Contains(r.body, "127.0.0.1") || strings.Contains(r.body, "tenantgate_statement") {
		t.Errorf("%d %s", r.status, r.body)
	}
	waitFor(t, func() bool { code, _ := in.ops(t, "/readyz"); return code == 503 })
	in.admin(t, "ALTER ROLE tenantgate_statement CONNECTION LIMIT -1")
	waitFor(t, func() bool { return in.query(t, "SELECT 1").status == 200 })
}

// TestPreparedStatements has more texts in use than a connection keeps, and sees it told: one is kept
// when it is asked for the second time.
func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	for kept, parsed := range map[string]string{"1": "6", "2": "4"} {
		in := fresh(t, "--pool-max=1", "--pool-min=0", "--prepared-statements="+kept)
		for range 3 {
			for _, text := range []string{"SELECT 1", "SELECT 2"} {
				if r := in.query(t, text); r.status != 200 {
					t.Fatalf("%d %s", r.status, r.body)
				}
			}
		}
		if _, text := in.ops(t, "/metrics"); !strings.Contains(text, "\ntenantgate_upstream_statements_parsed_total "+parsed+"\n") {
			t.Errorf("with %s kept, the metrics do not tell of %s parsed", kept, parsed)
		}
	}
}
