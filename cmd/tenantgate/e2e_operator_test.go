package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// TestRoleWarnings has roles behind --database-url that can do too much, or too little.
func TestRoleWarnings(t *testing.T) {
	in := sharedInstance(t)
	in.admin(t, "DROP SCHEMA IF EXISTS warned CASCADE", "DROP ROLE IF EXISTS warned_owner, warned_bypass, warned_member",
		"CREATE ROLE warned_owner LOGIN PASSWORD 'hidden'", "CREATE ROLE warned_bypass LOGIN BYPASSRLS PASSWORD 'hidden'",
		"CREATE ROLE warned_member LOGIN NOINHERIT PASSWORD 'hidden' IN ROLE warned_owner",
		"CREATE SCHEMA warned", "CREATE TABLE warned.orders (id text, server_id text)", "ALTER TABLE warned.orders OWNER TO warned_owner",
		"GRANT USAGE ON SCHEMA warned TO warned_owner, warned_member", "GRANT SELECT (id), INSERT ON warned.orders TO warned_member")
	defer in.admin(t, "DROP SCHEMA warned CASCADE", "DROP ROLE warned_owner, warned_bypass, warned_member")
	f, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: own}\nstatement: {kinds: [select, insert, update]}\ntables:\n  warned.orders: {scoped: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string][]string{
		in.AdminDatabaseURL: {"role postgres of --database-url is a superuser"},
		as(t, in.AdminDatabaseURL, "warned_owner", "hidden"):  {`role warned_owner of --database-url owns "warned"."orders"`},
		as(t, in.AdminDatabaseURL, "warned_bypass", "hidden"): {"role warned_bypass of --database-url has BYPASSRLS", `GRANT USAGE ON SCHEMA "warned" TO "warned_bypass"`},
		as(t, in.AdminDatabaseURL, "warned_member", "hidden"): {`role warned_member of --database-url owns "warned"."orders"`, `warned_member of --database-url may not UPDATE "warned"."orders"`},
	} {
		got, err := judgeRole(t.Context(), url, []*policy.File{f})
		if err != nil || len(got) != len(want) {
			t.Errorf("%v %q, want %q", err, got, want)
			continue
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) || strings.Contains(got[i], "hidden") {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
	}
}

// TestServeWarns starts the service as a superuser, with a shipped policy by its name: it
// warns once, and the development service, whose roles are right, does not.
func TestServeWarns(t *testing.T) {
	in := sharedInstance(t)
	path := filepath.Join(t.TempDir(), "stderr.log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	said := func() string {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	exited := make(chan int, 1)
	go func() {
		exited <- run(ctx, []string{"serve", "--database-url", in.AdminDatabaseURL, "--control-database-url", in.AdminDatabaseURL, "--policy", "readonly", "--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}, console{log, log})
	}()
	waitFor(t, func() bool { return strings.Contains(said(), `"msg":"serving"`) })
	cancel()
	if code := <-exited; code != 0 || strings.Count(said(), "is a superuser") != 1 {
		t.Errorf("exit %d: %s", code, said())
	}
	dev, err := os.ReadFile(filepath.Join(in.dir, "stderr.log"))
	if err != nil || strings.Contains(string(dev), "of --database-url") {
		t.Errorf("%v %s", err, dev)
	}
}

// TestStoppedWhileStarting ends a start at once: it is no failure, and nobody sees its innards.
func TestStoppedWhileStarting(t *testing.T) {
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	log, err := os.Create(filepath.Join(dir, "stderr.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	code := run(ctx, []string{"dev", "--data-dir", filepath.Join(dir, "data"), "--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}, console{log, log})
	said, err := os.ReadFile(log.Name())
	if err != nil || code != 0 || strings.Contains(string(said), "initdb") || !strings.Contains(string(said), "stopped before the service was ready") {
		t.Errorf("exit %d: %v %s", code, err, said)
	}
}

// TestOperatorsWords holds what the commands on the control store say.
func TestOperatorsWords(t *testing.T) {
	in := sharedInstance(t)
	data := filepath.Join(in.dir, "data")
	if out := in.cli(t, "token", "create", "--project", in.ProjectID, "--scope", "read", "--expires", "90d"); !strings.Contains(out, "read ") || !strings.Contains(out, time.Now().UTC().Add(90*24*time.Hour).Format("2006-01-02T")) {
		t.Errorf("%s", out)
	}
	if out := in.cli(t, "token", "create", "--project", in.ProjectID); !strings.Contains(out, "manage,read,write") || !strings.Contains(out, "never") {
		t.Errorf("%s", out)
	}
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(in.cli(t, "server", "create", "words", "--project", in.ProjectID, "--json")), &made); err != nil {
		t.Fatal(err)
	}
	if out := in.cli(t, "server", "rotate-key", made.ID, "--overlap", "24h"); !strings.Contains(out, "The former one works until ") {
		t.Errorf("%s", out)
	}
	if out := in.cli(t, "server", "rotate-key", made.ID); !strings.Contains(out, "refused from now on") {
		t.Errorf("%s", out)
	}
	for want, args := range map[string][]string{
		"there is no server none1":             {"server", "rotate-key", "none1"},
		"there is no server none2":             {"server", "deactivate", "none2"},
		"there is no server none3":             {"server", "set-policy", "none3", "default"},
		"there is no project none4":            {"project", "set-policy", "none4", "default"},
		"there is no project none5":            {"server", "create", "x", "--project", "none5"},
		"there is no project none6":            {"token", "create", "--project", "none6"},
		"there is no project ''\n":             {"server", "create", "x", "--project", ""},
		"there is no project 'a b'":            {"token", "create", "--project", "a b"},
		"there is no project none7":            {"server", "list", "--project", "none7"},
		"there is no token with the id none8":  {"token", "revoke", "none8"},
		"an id has 1 to 128":                   {"server", "create", "x", "--project", in.ProjectID, "--id", ""},
		"a server with this id exists already": {"server", "create", "x", "--project", in.ProjectID, "--id", in.ServerID},
	} {
		code, out, errs := command(t, append(args, "--data-dir", data)...)
		if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "not_found") {
			t.Errorf("%v: exit %d: %s%s\nwant %q", args, code, out, errs, want)
		}
	}
	banner := in.banner(t)
	for _, want := range []string{"embedded Postgres in " + data + "\n", "project list --data-dir " + data, "To start afresh, remove " + data} {
		if !strings.Contains(banner, want) {
			t.Errorf("no %q in %s", want, banner)
		}
	}
	kept, err := os.ReadFile(filepath.Join(data, "demo.json"))
	if err != nil || strings.Contains(string(kept), "baseUrl") || strings.Contains(string(kept), "postgres://") {
		t.Errorf("%v %s", err, kept)
	}
}
