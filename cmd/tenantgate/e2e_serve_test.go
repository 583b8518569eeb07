package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServe goes the way of production with the flags that scripts rely on: an empty
// database, migrate, project, token and server by the command line, serve, a statement
// and a look-up.
func TestServe(t *testing.T) {
	admin := sharedInstance(t)
	admin.admin(t, "DROP DATABASE IF EXISTS production WITH (FORCE)", "DROP ROLE IF EXISTS production_statement, production_lookup", "CREATE DATABASE production",
		"CREATE ROLE production_statement LOGIN PASSWORD 'hidden1'", "CREATE ROLE production_lookup LOGIN PASSWORD 'hidden2'")
	control, err := inDatabase(admin.AdminDatabaseURL, "production")
	if err != nil {
		t.Fatal(err)
	}
	cli := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := command(t, append(args, "--json", "--control-database-url", control)...)
		var printed map[string]any
		if err := json.Unmarshal([]byte(out), &printed); err != nil || code != 0 {
			t.Fatalf("%v: exit %d: %s%s", args, code, out, errs)
		}
		return printed
	}
	for range 2 {
		if done := cli("migrate", "--statement-role", "production_statement", "--lookup-role", "production_lookup"); done["control"] != true || done["wall"] != true || done["bundled"] != true {
			t.Errorf("%v", done)
		}
	}
	if _, out, _ := command(t, "migrate", "--control-database-url", control, "--statement-role", "production_statement", "--lookup-role", "production_lookup"); strings.Count(out, "in database production on 127.0.0.1:") != 3 || strings.Count(out, ", as role postgres\n") != 3 {
		t.Errorf("migrate says %s", out)
	}
	in := &instance{dir: admin.dir, contract: admin.contract}
	in.ProjectID = cli("project", "create", "Production")["id"].(string)
	in.AccessToken = cli("token", "create", "--project", in.ProjectID, "--scope", "read", "--scope", "write")["token"].(string)
	server := cli("server", "create", "live", "--id", "live", "--project", in.ProjectID)
	in.ServerID, in.APIKey = "live", server["apiKey"].(string)

	for name, flags := range map[string][]string{
		"three roles": {"--lookup-database-url", as(t, control, "production_lookup", "hidden2")},
		"two roles":   {"--http-addr=0.0.0.0:0", "--http-tls=off"}, // the look-up reads as the control store's role
	} {
		t.Run(name, func(t *testing.T) {
			in.BaseURL = serving(t, append(flags, "--control-database-url", control, "--database-url", as(t, control, "production_statement", "hidden1"))...)
			email := "Ada@" + strings.ReplaceAll(name, " ", "") + ".com"
			if r := in.query(t, "INSERT INTO end_users (server_id, email, password_hash) VALUES (?, ?, 'h') RETURNING server_id", "x", email); r.status != 200 || !strings.Contains(r.body, `[["live"]]`) {
				t.Errorf("%+v", r)
			}
			if r := in.lookup(t, strings.ToLower(email), in.application()...); r.status != 200 || !strings.Contains(r.body, `"passwordHash":"h"`) {
				t.Errorf("%+v", r)
			}
		})
	}
	code, _, errs := command(t, "serve", "--control-database-url", control, "--database-url", as(t, control, "production_statement", "wrong"), "--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0")
	if code != 1 || !strings.Contains(errs, "--database-url") || strings.Contains(errs, "wrong") {
		t.Errorf("with a wrong password: exit %d: %s", code, errs)
	}
	errs = startError(t, "serve", "--control-database-url", control, "--database-url", as(t, control, "production_statement", "hidden1"), "--http-addr=0.0.0.0:0", "--ops-addr=127.0.0.1:0")
	if !strings.Contains(errs, "--http-addr 0.0.0.0:0 is reached over the network, so REST clients must use TLS") {
		t.Errorf("in plain HTTP over the network: %s", errs)
	}
}

// as gives a database's URL for another role.
func as(t *testing.T, rawURL, role, password string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// serving runs `tenantgate serve` until the test ends, and gives its base URL when it is ready.
func serving(t *testing.T, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stderr.log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	exited := make(chan int, 1)
	go func() {
		exited <- run(ctx, append([]string{"serve", "--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}, flags...), console{&bytes.Buffer{}, log})
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-exited; code != 0 {
			t.Errorf("serve exited with %d", code)
		}
		_ = log.Close()
	})
	for range 1000 {
		time.Sleep(20 * time.Millisecond)
		said, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(said) {
			var entry struct{ Msg, HTTP, Ops string }
			if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
				ready(t, "http://"+entry.Ops+"/readyz")
				return "http://" + entry.HTTP
			}
		}
	}
	t.Fatal("serve was not ready in time")
	return ""
}

func ready(t *testing.T, url string) {
	t.Helper()
	answer, err := http.Get(url) //nolint:noctx // of the test's own service
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s answers %d", url, answer.StatusCode)
	}
}
