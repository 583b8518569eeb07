package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Ensure settings of the whole server are found, by whoever may see them.
func TestServerSettings(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	for _, s := range []struct{ name, value, want string }{
		{"transform_null_equals", "on", "risk server-setting transform_null_equals = on"},
		{"lo_compat_privileges", "on", "breach server-setting lo_compat_privileges = on"},
		{"standard_conforming_strings", "off", "risk server-setting standard_conforming_strings = off"},
		{"session_preload_libraries", "auto_explain", "note server-preload session_preload_libraries = auto_explain"},
	} {
		reset := func() {
			c.exec(t, url, "ALTER SYSTEM RESET "+s.name)
			c.exec(t, url, "SELECT pg_reload_conf()")
		}
		c.exec(t, url, "ALTER SYSTEM SET "+s.name+" = '"+s.value+"'")
		c.exec(t, url, "SELECT pg_reload_conf()")
		got := c.until(t, url, func(found string) bool { return found != "" })
		reset()
		if got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
		if left := c.until(t, url, func(found string) bool { return found == "" }); left != "" {
			t.Errorf("%s: %s is left", s.name, left)
		}
	}
}

// until examines again and again, as the server reads its configuration in its own time.
func (c *clinic) until(t *testing.T, url string, done func(found string) bool) (found string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if found = list(c.examine(t, url).Findings); done(found) {
			break
		}
	}
	return found
}

func TestRelease(t *testing.T) {
	for number, want := range map[int]string{
		140024: "release-old", 190000: "release-new", 150019: "CVE-2026-120141", 150020: "", 160015: "16.16 or a later", 160016: "",
		170011: "17.12 or a later", 170012: "", 180006: "18.7 or a later", 180007: "", 180000: "18.7 or a later",
	} {
		var said string
		for _, f := range release(number) {
			said += f.Check + " " + f.Says + " " + f.Instead
		}
		if (want == "") != (said == "") || !strings.Contains(said, want) {
			t.Errorf("%d: %q, want %q", number, said, want)
		}
	}
	for number, want := range map[int]string{
		150019: "PostgreSQL 15.19 has known holes (as of " + holesAsOf + "): a statement could run code as the database server (CVE-2026-120141)",
		180000: "): a statement could run code as the database server, write beyond a buffer of the database server, see rows that row-level security hides (CVE-2026-120141, CVE-2026-14680, CVE-2026-16239 and 6 more)",
		150000: " and 11 more)", // all
	} {
		if said := release(number)[0].Says; !strings.HasSuffix(said, want) || len(said) > 300 {
			t.Errorf("%d: %s", number, said)
		}
	}
	open, _ := openHoles(18, 0)
	for _, h := range open {
		if slices.Contains([]string{"CVE-2025-8713", "CVE-2024-10976", "CVE-2023-39418"}, h.cve) { // mended before 18
			t.Errorf("18.0: %s", h.cve)
		}
	}
}

func TestWire(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u@127.0.0.1/d?sslmode=disable": "", "postgres://u@localhost/d?sslmode=disable": "", "postgres:///d?host=/tmp&user=u&sslmode=disable": "", "postgres://u@[::1]/d?sslmode=disable": "",
		"postgres://u@db.example.com/d?sslmode=disable": "risk server-tls db.example.com", "postgres://u@db.example.com/d?sslmode=prefer": "risk server-tls db.example.com",
		"postgres://u@127.0.0.1,db.example.com/d?sslmode=disable": "risk server-tls db.example.com", "postgres://u@db.example.com/d?sslmode=allow": "risk server-tls db.example.com",
		"postgres://u@db.example.com/d?sslmode=require": "note server-certificate db.example.com", "postgres://u@db.example.com/d?sslmode=verify-full": "",
	} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := list(wire(config)); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
