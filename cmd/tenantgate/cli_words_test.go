package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestConfigKeepsSecrets has mistakes in the file, one of them a secret where none may be:
// the file's contents are not quoted, and what is wrong is said.
func TestConfigKeepsSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	for text, says := range map[string]string{
		"databaseUrl: postgres://a:SECRET@h/d":                    ":1:1: databaseUrl is a secret, and secrets are not read from this file: give --database-url, TENANTGATE_DATABASE_URL or TENANTGATE_DATABASE_URL_FILE",
		"poolMax: 5\ncontrolDatabaseUrl: postgres://a:SECRET@h/d": ":2:1: controlDatabaseUrl is a secret",
		"lookupDatabaseUrl: postgres://a:SECRET@h/d":              "--lookup-database-url",
		"poolWait: SECRET":               "invalid duration …",
		"httpAddr: *SECRET":              ":1:12: could not find alias …",
		"tlsCert: >SECRET":               "invalid header option: …",
		"poolMax: SECRET":                ":1:10: this must be a whole number",
		"noPreparedStatements: SECRET":   "this must be true or false",
		"poolWait: {a: SECRET}":          "this must be a duration such as 500ms",
		"tlsCert: {a: SECRET}":           "this must be text",
		"\"postgres://a:SECRET@h/d\": x": "there is no such setting",
		"httpAddr: SECRET: x":            "mapping value is not allowed",
		"endUsers: {password: SECRET}":   "there is no setting password here: beside the sections endUsers and jwt the file holds the flags of serve in camel case, such as httpAddr",
		"endUser: {table: SECRET}":       "there is no setting endUser here: beside the sections endUsers and jwt",
		"poolMax: 99999999999 # SECRET":  "this number is out of range",
		"httpAddr: \"SECRET":             "could not find end character",
	} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := command(t, "serve", "--config", path)
		if code != 2 || !strings.Contains(errs, says) || strings.Contains(errs, "SECRET") {
			t.Errorf("%s: exit %d: %s\nwant %q", text, code, errs, says)
		}
	}
}

// TestWhichStore has the control store named in several ways: a flag goes before the other's
// variable, and nothing is guessed.
func TestWhichStore(t *testing.T) {
	const url, dir = "postgres://127.0.0.1:1/wanted?connect_timeout=1", "/none/wanted"
	const contradict, goneURL, goneDir = "name two control stores", "database=wanted", "data directory /none/wanted: there is no postgres cluster in it"
	for _, c := range []struct {
		envURL, envFile, envDir string
		flags                   []string
		code                    int
		says                    string
	}{
		{"", "", "", []string{"--control-database-url", url, "--data-dir", dir}, 2, contradict},
		{"", "", dir, []string{"--control-database-url", url}, 1, goneURL},
		{url, "", "", []string{"--data-dir", dir}, 1, goneDir},
		{"", "x", "", []string{"--data-dir", dir}, 1, goneDir},
		{url, "", dir, nil, 2, contradict}, {"", "x", dir, nil, 2, contradict},
		{url, "", dir, []string{"--data-dir", dir}, 1, goneDir}, {url, "", "/other", []string{"--data-dir", dir}, 1, goneDir},
		{url, "", "", nil, 1, goneURL}, {"", "", dir, nil, 1, goneDir},
	} {
		for name, value := range map[string]string{"CONTROL_DATABASE_URL": c.envURL, "CONTROL_DATABASE_URL_FILE": c.envFile, "DATA_DIR": c.envDir} {
			t.Setenv("TENANTGATE_"+name, "") // puts it back at the end of the test
			_ = os.Unsetenv("TENANTGATE_" + name)
			if value == "x" {
				value = filepath.Join(t.TempDir(), "url")
				if err := os.WriteFile(value, []byte(url), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if value != "" {
				t.Setenv("TENANTGATE_"+name, value)
			}
		}
		if code, _, errs := command(t, append([]string{"project", "list"}, c.flags...)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%+v: exit %d: %s", c, code, errs)
		}
	}
}

// TestTakenPort must be told before a cluster is made.
func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	dir := filepath.Join(t.TempDir(), "data")
	for _, flags := range [][]string{
		{"--http-addr", taken.Addr().String(), "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}, {"--ops-addr", taken.Addr().String(), "--http-addr=127.0.0.1:0"},
	} {
		code, _, errs := command(t, append([]string{"dev", "--data-dir", dir}, flags...)...)
		if code != 1 || !strings.Contains(errs, "opening "+flags[0]) || !strings.Contains(errs, `make run ARGS="--http-addr`) {
			t.Errorf("%v: exit %d: %s", flags, code, errs)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the data directory was made")
	}
}

// TestListenIPv4 listens where the address says: 0.0.0.0 is every address of IPv4, and none of IPv6.
func TestListenIPv4(t *testing.T) {
	for addr, v4 := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": true, "[::]:0": false, ":0": false, "localhost:0": false} {
		if got := network(addr); (got == "tcp4") != v4 {
			t.Errorf("%s: %s", addr, got)
		}
	}
	sv := &service{settings: &settings{HTTPAddr: "0.0.0.0:0", OpsAddr: "127.0.0.1:0", PGAddr: "off"}}
	if err := sv.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = sv.httpListener.Close(), sv.opsListener.Close() }()
	_, port, _ := net.SplitHostPort(sv.httpListener.Addr().String())
	if conn, err := net.Dial("tcp6", net.JoinHostPort("::1", port)); err == nil {
		_ = conn.Close()
		t.Error("0.0.0.0 is listened to on IPv6 too")
	}
}

// TestKeyHelp speaks of no flag that the command lacks.
func TestKeyHelp(t *testing.T) {
	for _, verb := range []string{"list", "rotate", "retire"} {
		if code, out, _ := command(t, "key", verb, "--help"); code != 0 || strings.Contains(out, "no-tables") || !strings.Contains(out, "--owner-database-url") {
			t.Errorf("%s: exit %d: %s", verb, code, out)
		}
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{"[::]:8081": "localhost:8081", "0.0.0.0:80": "localhost:80", "127.0.0.1:8080": "127.0.0.1:8080", "[::1]:80": "[::1]:80"} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(tcp); got != want {
			t.Errorf("%s: %s", addr, got)
		}
	}
}

// TestStackLimit starts the program under a stack on which a statement could end it.
func TestStackLimit(t *testing.T) {
	if stackSuffices(1<<20-1) == nil || stackSuffices(1<<20) != nil || stackSuffices(1<<64-1) != nil {
		t.Error("the limit is not 1 MiB")
	}
	for _, args := range []string{"check /none.sql", "dev --data-dir /none/a", "serve --database-url=postgres://x --control-database-url=postgres://x"} {
		program := exec.Command("bash", "-c", `ulimit -S -s 512 && exec "$0" `+args, os.Args[0])
		program.Env = append(os.Environ(), runAsProgram+"=1")
		said, err := program.CombinedOutput()
		if err == nil || !strings.Contains(string(said), "the stack limit is 512 KiB, and the SQL parser needs 1024 KiB") {
			t.Errorf("%s: %v: %s", args, err, said)
		}
	}
}

// TestWords holds what a newcomer reads.
func TestWords(t *testing.T) {
	built := "tenantgate dev (commit unknown, " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--version"}, 0, built}, {[]string{"version"}, 0, built}, {[]string{"token", "create"}, 2, "\nsee tenantgate token create --help"}, {[]string{"nope"}, 2, "\nsee tenantgate --help"},
		{[]string{"token", "create", "--project", "p", "--expires", "-1h"}, 2, "--expires needs a value; one that begins with a dash is written --expires=-1h"},
		{[]string{"token", "create", "--help"}, 0, "Without it the token has all three"}, {[]string{"token", "create", "--help"}, 0, "Without it the token does not"},
		{[]string{"--help"}, 0, "secrets excepted"}, {[]string{"check", "--help"}, 0, "default, inject or readonly"},
		{[]string{"project", "create", "", "--data-dir", "/none"}, 1, "1 to 100 characters"}, {[]string{"server", "create", " ", "--project", "p", "--data-dir", "/none"}, 1, "1 to 100 characters"},
	} {
		code, out, errs := command(t, c.args...)
		if code != c.code || !strings.Contains(strings.Join(strings.Fields(out+errs), " "), strings.Join(strings.Fields(c.says), " ")) {
			t.Errorf("%v: exit %d\n%s%s\nwant %d and %q", c.args, code, out, errs, c.code, c.says)
		}
	}
}

// TestUnknownFinding has a policy accept a finding that doctor does not have: nobody works with
// that policy, and all say where the line is.
func TestUnknownFinding(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "own.yaml")
	src := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: own}\nstatement: {kinds: [select]}\ntables:\n" +
		"  messages: {scoped: true, accept: [{finding: hiden-rule, object: soft on public.messages, reason: a test}]}\n"
	if err := os.WriteFile(policy, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	const says = `line 6, column 3: table public.messages accepts the finding "hiden-rule", and there is none of that name; a policy can accept hidden-brin, hidden-cascade, `
	for _, args := range []string{"check /dev/null", "doctor --database-url=postgres://127.0.0.1:1/x", "serve --http-addr=127.0.0.1:0 --ops-addr=127.0.0.1:0 --database-url=postgres://127.0.0.1:1/x --control-database-url=postgres://127.0.0.1:1/x"} {
		if code, _, errs := command(t, append(strings.Fields(args), "--policy="+policy)...); code == 0 || !strings.Contains(errs, says) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// TestCheckPlaces points at the mistake, wherever in the file it is.
func TestCheckPlaces(t *testing.T) {
	dir := t.TempDir()
	path, policy := filepath.Join(dir, "a.sql"), filepath.Join(dir, "own.yaml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "-- é\nSELECT 1; /* ü */ SELECT id FROM messages;\n\n  SELECT é\n  FROM messages WHERE server_id = ?")
	code, out, _ := command(t, "check", path)
	for _, want := range []string{path + ":2:34: deny missing_server_scope: ", path + ":4:10: deny query_failed: ", "3 statements, 2 refused"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit %d: no %q in\n%s", code, want, out)
		}
	}
	write(path, "INSERT INTO files (server_id, name) VALUES ('berlin', ?)")
	if code, out, _ := command(t, "check", path); code != 0 || !strings.Contains(out, "for server berlin only") {
		t.Errorf("exit %d: %s", code, out)
	}
	write(path, "SELECT total FROM orders WHERE server_id = ?")
	write(policy, "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: own}\nstatement: {kinds: [select]}\ntables:\n  orders: {scoped: true}\n")
	if code, _, errs := command(t, "check", "--policy", policy, path); code != 2 || !strings.Contains(errs, "the bundled schema has no table public.orders: give --schema (policies/README.md shows how to make one)") {
		t.Errorf("exit %d: %s", code, errs)
	}
	schema := filepath.Join(dir, "schema.json")
	write(schema, `{"Tables":[{"Schema":"public","Name":"orders","Columns":[{"Name":"server_id","TypeSchema":"pg_catalog","TypeName":"text"},{"Name":"total","TypeSchema":"pg_catalog","TypeName":"int8"}]}]}`)
	if code, out, errs := command(t, "check", "--policy", policy, "--schema", schema, path); code != 0 || !strings.Contains(out, "1 statement, 0 refused") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	write(schema, `{"Tables":[],"Types":[]}`)
	if code, _, errs := command(t, "check", "--policy", policy, "--schema", schema, path); code != 2 || !strings.Contains(errs, "the schema (--schema) has no table public.orders") {
		t.Errorf("exit %d: %s", code, errs)
	}
	write(schema, `{"tables":[],"Tabels":[]}`)
	if code, _, errs := command(t, "check", "--policy", policy, "--schema", schema, path); code != 2 || !strings.Contains(errs, "Tabels") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
