package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a command line and gives exit code and output.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, console{&stdout, &stderr})
	return code, stdout.String(), stderr.String()
}

func TestCommandLine(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("httpAddr: 127.0.0.1:0\nhttpAdr: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, "gives every server"}, {[]string{"serve", "--help"}, 0, "--control-database-url"}, {[]string{"version"}, 0, "tenantgate dev"},
		{[]string{"doctor", "--help"}, 0, "Exit code 0: no breach, tell or risk"},
		{[]string{"help"}, 0, "gives every server"}, {[]string{"help", "doctor"}, 0, "Exit code 0: no breach, tell or risk"},
		{[]string{"server", "create", "x", "--project"}, 2, "tenantgate: --project needs a value\n"},
		{[]string{"dev", "--pool-max"}, 2, "tenantgate: --pool-max needs a value\n"},
		{[]string{"nope"}, 2, "unexpected argument"}, {[]string{"serve"}, 2, "missing flags"}, {[]string{"token", "list"}, 1, "which control store?"},
		{[]string{"token", "list", "--data-dir", t.TempDir()}, 1, "tenantgate dev makes one"},
		{[]string{"dev", "--config", config}, 2, "httpAdr"}, {[]string{"dev", "--config", "/none"}, 2, "no such file"},
		{[]string{"dev", "--http-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--pg-addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--policy", "/none"}, 1, "reading the policy"},
		{[]string{"dev", "--http-addr", "8285"}, 2, "--http-addr 8285: write HOST:PORT, such as 127.0.0.1:8285"},
		{[]string{"dev", "--ops-addr", "localhost"}, 2, "--ops-addr localhost: write HOST:PORT, such as 127.0.0.1:9090"},
		{[]string{"dev", "--pg-addr", "127.0.0.1"}, 2, "--pg-addr 127.0.0.1: write HOST:PORT, such as 127.0.0.1:6432"},
		{[]string{"dev", "--drain-timeout", "0s"}, 2, "--drain-timeout must be more than 0s"}, {[]string{"dev", "--pool-wait", "0s"}, 2, "--pool-wait must be more than 0s"},
		{[]string{"dev", "--pool-wait=-1s"}, 2, "--pool-wait must"}, {[]string{"dev", "--max-conns", "0"}, 2, "--max-conns must be at least 1"},
		{[]string{"dev", "--max-body-bytes", "0"}, 2, "--max-body-bytes must be at least 1"}, {[]string{"dev", "--pool-max", "0"}, 2, "--pool-max must be at least 1"},
		{[]string{"dev", "--prepared-statements", "0"}, 2, "--prepared-statements must be at least 1"},
		{[]string{"dev", "--pool-min=-1"}, 2, "--pool-min must be from 0 to --pool-max"}, {[]string{"dev", "--pool-min", "21"}, 2, "--pool-min must be from 0 to --pool-max"},
		{[]string{"dev", "--max-conns-per-ip=-1"}, 2, "--max-conns-per-ip must be at least 0"},
		{[]string{"serve", "--database-url=x", "--control-database-url=y", "--max-conns", "0"}, 2, "--max-conns must be at least 1"},
		{[]string{"check", "--policy", config, "x.sql"}, 2, "reading the policy"}, {[]string{"check", "/none.sql"}, 2, "no such file"},
	} {
		code, out, errs := command(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v: exit %d\n%s%s\nwant %d and %q", c.args, code, out, errs, c.code, c.says)
		}
	}
}

// TestConfigPrecedence sets one value in all three places: flags win over variables,
// variables over the file.
func TestConfigPrecedence(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("basePath: /file\nlogLevel: warn\nrequestsPerSecond: 7\npolicy: [a.yaml, b.yaml]\npoolWait: 3s\nendUsers: {table: people}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(secret, []byte("postgres://secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TENANTGATE_BASE_PATH", "/env")
	t.Setenv("TENANTGATE_LOG_LEVEL", "error")
	t.Setenv("TENANTGATE_DATABASE_URL_FILE", secret)
	parser, err := newParser(console{&bytes.Buffer{}, &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parse(parser, []string{"serve", "--config", config, "--base-path", "/flag", "--control-database-url", "c", "--lookup-database-url", "l"})
	if err != nil {
		t.Fatal(err)
	}
	s := parsed.Model.Target.Addr().Interface().(*app).Serve
	if s.BasePath != "/flag" || s.LogLevel != "error" || *s.RequestsPerSecond != 7 || strings.Join(s.Policy, " ") != "a.yaml b.yaml" || s.PoolWait.String() != "3s" || s.DatabaseURL != "postgres://secret" {
		t.Errorf("%+v", s)
	}
	file, err := s.Config.read()
	if err != nil || file.EndUsers.Table != "people" {
		t.Errorf("%+v %v", file, err)
	}
}

// TestConfigZero has zeros in the file: they are values like others, as in flags.
func TestConfigZero(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("poolMin: 0\nrequestsPerSecond: 0\npreparedOff: false\nsearchPath: \"\"\nlogLevel:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command(t, "dev", "--config", config); code != 2 || !strings.Contains(errs, "preparedOff") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.WriteFile(config, []byte("poolMin: 0\nrequestsPerSecond: 0\nnoPreparedStatements: false\nlogLevel:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(console{&bytes.Buffer{}, &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parse(parser, []string{"dev", "--config", config})
	if err != nil {
		t.Fatal(err)
	}
	d := parsed.Model.Target.Addr().Interface().(*app).Dev
	if d.PoolMin != 0 || d.RequestsPerSecond == nil || *d.RequestsPerSecond != 0 || d.PreparedOff || d.LogLevel != "info" || d.PoolMax != 20 || d.MaxConcurrent != nil {
		t.Errorf("%+v", d.settings)
	}
	if err := os.WriteFile(config, []byte("poolWait: 0s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command(t, "dev", "--config", config); code != 2 || !strings.Contains(errs, "--pool-wait must be more than 0s") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// What Postgres clients send is judged as they send it, and by the policy that they get.
func TestCheckPostgres(t *testing.T) {
	path := filepath.Join(t.TempDir(), "statements.sql")
	script := "BEGIN;\nSELECT version();\nSELECT id FROM messages WHERE id = $1 AND content ? 'a';\n" +
		"COPY files (name) TO STDOUT;\nUNLISTEN *;\n-- nothing\n;EXPLAIN SELECT 1;\nCOMMIT"
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := command(t, "check", "--dialect", "postgres", path)
	for _, want := range []string{":1: allow command\n  BEGIN\n", ":2: allow answered\n", ":4: allow command\n  COPY (", ":5: allow command\n",
		":7:2: deny statement_not_allowed: EXPLAIN is not allowed\n  have it run", ":8: allow command\n  COMMIT\n", "7 statements, "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in exit %d: %s%s", want, code, out, errs)
		}
	}
	if code, out, _ := command(t, "check", path); code != 1 || !strings.Contains(out, "deny statement_not_allowed: BEGIN is not allowed\n  it is for Postgres clients only") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "statements.sql")
	script := "SELECT ';' AS a; -- one;\nSELECT id FROM messages;\n\nSELECT id FROM messages\nWHERE server_id = ?;\n"
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := command(t, "check", "--json", path)
	if code != 1 || errs != "" {
		t.Errorf("exit %d: %s", code, errs)
	}
	var got []checked
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var c checked
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, c)
	}
	if len(got) != 3 || got[0].Verdict != "allow" || got[1].Code != "missing_server_scope" || got[1].Position == 0 || got[2].Verdict != "allow" || got[2].Line != 4 || !strings.Contains(got[2].Rewritten, "JOIN (SELECT)") {
		t.Errorf("%+v", got)
	}
	if code, out, _ := command(t, "check", "--policy", "inject", path); code != 0 || !strings.Contains(out, "3 statements, 0 refused") {
		t.Errorf("exit %d: %s", code, out)
	}
	// The variable of the other commands, and the flag before it. Of a list the first decides.
	t.Setenv("TENANTGATE_POLICY", "inject,readonly")
	if code, out, errs := command(t, "check", path); code != 0 || !strings.Contains(out, "3 statements, 0 refused") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, out, errs := command(t, "check", "--policy", "default", path); code != 1 || !strings.Contains(out, "3 statements, 1 refused") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	t.Setenv("TENANTGATE_POLICY", "")
	if code, out, errs := command(t, "check", path); code != 1 || !strings.Contains(out, "3 statements, 1 refused") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
