package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestPgURL reads what it makes as a Postgres client does, for ids of every kind.
func TestPgURL(t *testing.T) {
	printable := ""
	for c := byte('!'); c <= '~'; c++ {
		if c != '/' {
			printable += string(c)
		}
	}
	for _, id := range []string{"acme", printable, "a@b:c?d#e%2f", `\x`, "+", "..."} {
		for _, addr := range []string{"127.0.0.1:6432", "localhost:1", "[::1]:6432"} {
			url := pgURL(addr, id, "tg_srv_p@ss")
			config, err := pgx.ParseConfig(url)
			if err != nil {
				t.Errorf("%s: %v", url, err)
				continue
			}
			if config.User != id || config.Password != "tg_srv_p@ss" || config.Database != id || !strings.HasPrefix(strings.Trim(addr, "["), config.Host) {
				t.Errorf("%s is read as user %s, database %s, host %s", url, config.User, config.Database, config.Host)
			}
			if strings.ContainsAny(url, " $&;'\"\\`!*?#()<>|") {
				t.Errorf("%s is not one word of a shell's", url)
			}
		}
	}
}

// TestDemoOfAnEarlierVersion starts on a data directory whose keys can't log in: that is
// told, the demo gets a key that can, and what uses the former one goes on.
func TestDemoOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	if out := in.cli(t, "server", "list"); !strings.Contains(out, "PG LOGIN") || !strings.Contains(out, "yes") {
		t.Errorf("%s", out)
	}
	id, _ := in.newServer(t, "old too")
	in.admin(t, "UPDATE tenantgate.server_keys SET stored_key = NULL, server_key = NULL")
	logins := func(in *instance) map[string]bool {
		var list []struct {
			ID      string
			PgLogin bool
		}
		if err := json.Unmarshal([]byte(in.cli(t, "server", "list", "--json")), &list); err != nil || len(list) != 2 {
			t.Fatalf("%v %v", list, err)
		}
		return map[string]bool{list[0].ID: list[0].PgLogin, list[1].ID: list[1].PgLogin}
	}
	if can := logins(in); can[in.ServerID] || can[id] || strings.Count(in.cli(t, "server", "list"), "after rotate-key") != 2 {
		t.Errorf("%v", can)
	}
	former := in.credentials
	if code := in.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for range 2 {
		again, err := launchIn(in.dir)
		if err != nil {
			t.Fatal(err)
		}
		if can := logins(again); !can[in.ServerID] || can[id] {
			t.Errorf("%v", can)
		}
		if again.APIKey == former.APIKey || again.ServerID != former.ServerID || in.APIKey != former.APIKey && again.APIKey != in.APIKey {
			t.Error("the demo has not one new key")
		}
		in.credentials = again.credentials
		for _, key := range []string{former.APIKey, again.APIKey} {
			if r := again.lookup(t, "ada@example.com", "X-Server-ID: "+again.ServerID, "X-API-Key: "+key); r.status != 200 {
				t.Errorf("%d %s", r.status, r.body)
			}
		}
		if kept, err := os.ReadFile(filepath.Join(in.dir, "data", "demo.json")); err != nil || strings.Contains(string(kept), "adminDatabaseUrl") {
			t.Errorf("the kept credentials: %v", err)
		}
		again.stop()
	}
}

// TestDemoOfARotatedKey says of a key that was rotated that it is none any more.
func TestDemoOfARotatedKey(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	const note = "no longer valid"
	if said := in.banner(t); strings.Contains(said, note) {
		t.Errorf("%s", said)
	}
	in.cli(t, "server", "rotate-key", in.ServerID)
	if code := in.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	again, err := launchIn(in.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.stop()
	if said := again.banner(t); !strings.Contains(said, again.APIKey+"        (no longer valid: it was rotated; put the new one into the lines below)\n") || strings.Count(said, note) != 1 {
		t.Errorf("%s", said)
	}
}
