package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

const goldenPath = "../../policy/testdata/"

// goldenCase is a decision that package policy has settled.
type goldenCase struct {
	sent
	at, server string
	code       string // of a refusal; "" for what is admitted
	given      bool   // the case has arguments, so that it was bound too
	open       bool   // it was decided without row-level security, which may refuse more
}

// goldenCases reads all of them, by their policies.
func goldenCases(t *testing.T) map[string][]goldenCase {
	if err := flag.Set("datadriven-quiet", "true"); err != nil {
		t.Fatal(err)
	}
	all := map[string][]goldenCase{}
	datadriven.Walk(t, goldenPath+"decide", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.HasArg("lacks") {
				return d.Expected // in this database the role has the privilege; TestUngrantedColumn has its own
			}
			name, c := goldenOf(t, d)
			all[name] = append(all[name], c)
			return d.Expected
		})
	})
	return all
}

func goldenOf(t *testing.T, d *datadriven.TestData) (name string, c goldenCase) {
	name, dialect, args, wall := "default", "", "", ""
	c = goldenCase{at: filepath.Base(d.Pos), server: "srv-a", given: d.HasArg("args")}
	for key, into := range map[string]*string{"policy": &name, "server": &c.server, "dialect": &dialect, "args": &args, "wall": &wall} {
		d.MaybeScanArgs(t, key, into)
	}
	c.sql, c.native, c.open = d.Input, dialect == "postgres", wall == "off"
	if refused, is := strings.CutPrefix(d.Expected, "deny "); is {
		c.code = strings.FieldsFunc(refused, func(r rune) bool { return r == ' ' || r == ':' })[0]
	}
	if c.given {
		var raw []json.RawMessage
		if err := json.Unmarshal([]byte(args), &raw); err != nil {
			d.Fatalf(t, "args: %v", err)
		}
		for _, r := range raw {
			c.args = append(c.args, r)
		}
	}
	for _, a := range d.CmdArgs {
		for _, v := range a.Vals {
			for word := range strings.SplitSeq(v, ",") {
				if oid, err := strconv.ParseUint(word, 10, 32); err == nil && a.Key == "types" {
					c.types = append(c.types, uint32(oid))
				}
			}
		}
	}
	return name, c
}

// TestFrontsGolden sends the golden decisions of package policy through all front ends: what
// they refuse is refused everywhere with the same code, and what they admit comes to the same.
func TestFrontsGolden(t *testing.T) {
	t.Parallel()
	cases := goldenCases(t)
	w := goldenStart(t, cases)
	counts, designed, tried := map[front]int{}, map[string]int{}, 0
	for name, of := range cases {
		servers := map[string]*fronts{}
		for _, c := range of {
			if servers[c.server] == nil && w.keys[c.server] != "" {
				w.cli(t, "server", "set-policy", c.server, name)
				seed := strings.ReplaceAll(bypassSeed(t), "{{id}}", c.server)
				servers[c.server] = &fronts{attacker: &attacker{bypassWorld: w.bypassWorld, id: c.server, policy: name, key: w.keys[c.server], seed: seed}, compared: counts, designed: designed}
			}
		}
		time.Sleep(1200 * time.Millisecond) // until the assignment is seen
		t.Run(name, func(t *testing.T) {
			for _, f := range servers {
				f.exec(t, f.seed)
			}
			for _, c := range of {
				if f := servers[c.server]; f != nil {
					tried++
					f.golden(t, c)
				}
			}
		})
	}
	t.Logf("%d decisions; compared: %v; by design: %v; %d leaks", tried, counts, designed, w.leaks)
	if tried < leastDecisions {
		t.Errorf("only %d decisions", tried)
	}
}

// leastDecisions is what the golden cases must not fall below.
const leastDecisions = 700

// goldenWorld is a program with the tables and the policies of the golden decisions.
type goldenWorld struct {
	*bypassWorld
	keys map[string]string // of the servers that there can be
}

func goldenStart(t *testing.T, cases map[string][]goldenCase) *goldenWorld {
	dir, first := firstStart(t)
	src, err := os.ReadFile("testdata/fronts-world/golden.sql")
	if err != nil {
		t.Fatal(err)
	}
	first.admin(t, string(src))
	if code := first.stop(); code != 0 {
		t.Fatalf("the first start ended with %d", code)
	}
	flags := []string{"--requests-per-second=0", "--max-concurrent=0", "--pool-max=3", "--policy=default"}
	for name := range cases {
		if file := goldenPath + "policies/" + name + ".yaml"; exists(file) {
			name = file
		}
		if name != "default" {
			flags = append(flags, "--policy="+name)
		}
	}
	in, err := launchIn(dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	w := &goldenWorld{&bypassWorld{instance: in, conn: in.connect(t)}, map[string]string{}}
	t.Cleanup(func() {
		if code := in.stop(); code != 0 {
			t.Errorf("the service exited with %d", code)
		}
	})
	for _, id := range []string{"srv-a", "01a1fd8d-0b00-7048-b8e5-47b190298c79"} {
		var made struct{ APIKey string }
		if err := json.Unmarshal([]byte(w.cli(t, "server", "create", id, "--id", id, "--project", w.ProjectID, "--json")), &made); err != nil {
			t.Fatal(err)
		}
		w.keys[id] = made.APIKey
	}
	return w
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func bypassSeed(t *testing.T) string {
	src, err := os.ReadFile("testdata/fronts-world/own.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

var setting = regexp.MustCompile(`(?i)^\s*(set|reset|show)\b`)

// fromClient is a COPY whose rows come after it; in the golden cases they are arguments.
var fromClient = regexp.MustCompile(`(?is)^\s*copy\b.*\bfrom\s+stdin\b`)

// firstOwn is the first OID that Postgres gives to what users make (FirstNormalObjectId).
const firstOwn = 16384

var writing = regexp.MustCompile(`(?i)\b(insert|update|delete|copy)\b`)

// golden runs one decision through each front end. What is in Postgres' own dialect is the
// listener's alone, and held against what was decided.
func (f *fronts) golden(t *testing.T, c goldenCase) {
	var rest fronted
	complain := func(problems []string) {
		for _, p := range problems {
			t.Errorf("%s: %.300s\n%s", c.at, c.sql, p)
		}
	}
	if !c.native && len(c.types) > 0 {
		return // REST has no way to give any
	}
	if slices.ContainsFunc(c.types, func(oid uint32) bool { return oid >= firstOwn }) {
		return // in this database it is another type's, or none's; TestRealTypesOfColumns of package wire gives its own
	}
	before := f.others(t)
	for _, way := range append([]front{viaREST}, c.ways()...) {
		if way == viaREST && c.native {
			rest = fronted{code: c.code}
			continue
		}
		if writing.MatchString(c.sql) {
			f.exec(t, f.seed)
		}
		s := c.sent
		if c.native && fromClient.MatchString(c.sql) {
			s.args = nil
		}
		if !c.given {
			s.args = f.invented(s)
		}
		answer, problems := f.send(t, way, s, way == viaREST || rest.code == "")
		complain(problems)
		switch {
		case way == viaREST:
			if rest = answer; !decided(c.code, answer.code, c.given) && !c.open {
				complain([]string{fmt.Sprintf("decided %q, REST says %s", c.code, answer)})
			}
		case c.native && decided(c.code, answer.code, c.given):
			f.compared[way]++
		case c.native && c.code == "" && answer.state == "0A000" && setting.MatchString(c.sql):
			f.designed["which settings there are is the front end's to say, not the policy's"]++
		default:
			if p := f.compare(way, s, rest, answer); p != "" {
				complain([]string{p})
			}
		}
	}
	if writing.MatchString(c.sql) && f.others(t) != before {
		complain([]string{"LEAK: rows of another server were changed"})
	}
}

// invented are arguments for a statement that was decided without any.
func (f *fronts) invented(s sent) []any {
	_, all := forWire(s.sql, f.id, nil, false)
	_, most := forWire(s.sql, f.id, nil, true)
	var args []any
	for range len(most) - len(all) {
		args = append(args, json.RawMessage(`"1"`))
	}
	return args
}

// decided tells whether an answer is what was decided: refused with the same code, or not
// refused by the engine. What was not bound may still lack its arguments.
func decided(want, got string, bound bool) bool {
	if want != "" {
		return got == want
	}
	return got == "" || slices.Contains([]string{"query_failed", "constraint_violation", "invalid_argument", "statement_timeout"}, got) ||
		!bound && (got == "argument_count" || got == "foreign_server_id")
}

// others is a digest of what is not this server's.
func (f *fronts) others(t *testing.T) (digest string) {
	const sql = `SELECT md5(string_agg(r, '|' ORDER BY r)) FROM (
		SELECT server_id AS owner, e::text AS r FROM public.end_users e UNION ALL SELECT server_id, c::text FROM public.conversations c
		UNION ALL SELECT server_id, m::text FROM public.messages m UNION ALL SELECT server_id, f::text FROM public.files f
		UNION ALL SELECT tenant::text, o::text FROM shop.orders o UNION ALL SELECT tenant, b::text FROM shop.badges b
		UNION ALL SELECT '', c::text FROM public.countries c) rows WHERE owner <> $1`
	if err := f.conn.QueryRow(t.Context(), sql, f.id).Scan(&digest); err != nil {
		t.Fatal(err)
	}
	return digest
}
