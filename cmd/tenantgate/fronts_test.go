package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The front ends share one gate, one pool and one database; so the same statement of the
// same server must come to the same through each. The bypass corpus and the golden decisions
// of package policy are sent through REST, through the listener in the extended protocol,
// and in the simple one where they take no arguments; verdict, code, SQLSTATE and rows are
// compared. What differs by design is named in bydesign_test.go.

var everyFront = flag.Bool("every-front", false, "have TestFrontsBypass send every case under both policies through all front ends, as `make bypass` does; else under one policy, by REST and one message of the protocol, in turn")

// front is one way to send a statement.
type front string

const (
	viaREST     front = "REST"
	viaExtended front = "extended"
	viaSimple   front = "simple"
)

// fronts are a server's ways in, with what was found.
type fronts struct {
	*attacker
	wire *wireClient // nil: to be opened

	compared map[front]int
	designed map[string]int // by the reason
}

// sent is one statement of a case.
type sent struct {
	sql    string
	args   []any
	types  []uint32 // that a client of the listener gives its parameters
	native bool     // it is written as Postgres has it
	beside bool     // while a victim's transaction holds locks
}

// send sends a statement one way, and looks at every byte that comes.
func (f *fronts) send(t *testing.T, way front, s sent, admitted bool) (fronted, []string) {
	if s.beside {
		defer f.occupy(t)()
	}
	if way == viaREST {
		return f.rest(t, s)
	}
	if f.wire == nil {
		f.wire = f.pgClient(t)
	}
	text, args := s.sql, wireArgs(s.args)
	if !s.native {
		text, args = forWire(s.sql, f.id, args, admitted)
	}
	f.wire.seen.Reset()
	answer, err := f.answerOf(way, text, args, s.types)
	problems := f.judge(s.sql+fmt.Sprint(s.args), f.wire.seen.Bytes())
	if err == nil {
		err = f.wire.settle(answer.status)
	}
	if err != nil {
		_ = f.wire.conn.Close()
		f.wire = nil
		problems = append(problems, fmt.Sprintf("the listener's %s protocol: %v", way, err))
	}
	return answer, problems
}

func (f *fronts) answerOf(way front, text string, args []wireArg, types []uint32) (fronted, error) {
	if way == viaSimple {
		return f.wire.simple(text)
	}
	return f.wire.extended(text, args, types)
}

// rest sends a statement as a request.
func (f *fronts) rest(t *testing.T, s sent) (fronted, []string) {
	body := f.body(s.sql, s.args)
	r, raw, err := f.post(t, f.id, f.AccessToken, body)
	if err != nil {
		return fronted{}, []string{err.Error()}
	}
	problems := f.judge(body, raw, r.status)
	answer, err := restAnswer(r.status, r.body)
	if err != nil {
		problems = append(problems, err.Error())
	}
	return answer, problems
}

func wireArgs(args []any) (all []wireArg) {
	for _, a := range args {
		all = append(all, wireArg{string(a.(json.RawMessage))})
	}
	return all
}

// ways are those that a statement can be sent through beside REST.
func (s sent) ways() []front {
	if strings.Contains(s.sql, "\x00") || strings.Contains(fmt.Sprintf("%s", s.args), `\u0000`) || len(s.args) > 65535 {
		return nil // no message can hold it
	}
	if len(s.args)+len(s.types) == 0 && !takesArguments(s) {
		return []front{viaExtended, viaSimple}
	}
	return []front{viaExtended}
}

func takesArguments(s sent) bool {
	text, args := s.sql, []wireArg(nil)
	if !s.native {
		text, args = forWire(s.sql, "x", nil, false)
	}
	return len(args) > 0 || strings.Contains(text, "$1")
}

// compare holds what the listener answered against REST's answer.
func (f *fronts) compare(way front, s sent, rest, wire fronted) (problem string) {
	f.compared[way]++
	if rest.same(wire, s.sql) {
		return ""
	}
	if reason := byDesign(differing{*f, way, s, rest, wire}); reason != "" {
		f.designed[reason]++
		return ""
	}
	text, args := forWire(s.sql, f.id, wireArgs(s.args), rest.code == "")
	return fmt.Sprintf("DIFFERS under %s, %s\n  REST: %s\n  wire: %s\n  sent: %.200s %v", f.policy, way, rest, wire, text, args)
}

// TestFrontsBypass sends the bypass corpus through all front ends: each case from the same
// rows, with what follows it. Requests as such (body, raw, leave) are REST's own.
func TestFrontsBypass(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/bypass/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	w := bypassStart(t, bypassSetups(t)[1])
	all := map[string]*fronts{}
	counts, designed := map[front]int{}, map[string]int{}
	for name, a := range w.attackers {
		all[name] = &fronts{attacker: a, compared: counts, designed: designed}
	}
	cases := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for i, c := range frontCases(t, path) {
				if n := len(c.policies); !*everyFront {
					c.policies, c.fronts = c.policies[i%n:i%n+1], []front{viaREST, c.fronts[1+i/n%2]}
				}
				for _, name := range c.policies {
					cases++
					all[name].group(t, c)
				}
			}
			for _, p := range w.bystanders(t) {
				t.Error(p)
			}
		})
	}
	w.ended(t)
	t.Logf("%d cases; compared to REST: %v; by design: %v; %d leaks, %d hangs", cases, counts, designed, w.leaks, w.hangs)
	if cases < leastCases || counts[viaSimple] < leastCases/6 {
		t.Errorf("only %d cases, %v", cases, counts)
	}
}

// frontCase is a directive with those that follow it.
type frontCase struct {
	at         string
	policies   []string
	fronts     []front // REST first
	directives []*datadriven.TestData
	times      int
}

// frontCases reads the statements of a file.
func frontCases(t *testing.T, path string) (all []*frontCase) {
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		c := &frontCase{at: d.Pos, policies: []string{"default", "inject"}, fronts: []front{viaREST, viaExtended, viaSimple}, times: 1}
		if d.HasArg("as") {
			c.policies = make([]string, 1)
			d.ScanArgs(t, "as", &c.policies[0])
		}
		d.MaybeScanArgs(t, "times", &c.times)
		kept := *d
		c.directives = append(c.directives, &kept)
		switch {
		case d.Cmd == "query":
			all = append(all, c)
		case d.Cmd == "then" && len(all) > 0:
			all[len(all)-1].directives = append(all[len(all)-1].directives, &kept)
		}
		return d.Expected
	})
	return all
}

// group runs a case through each front end, from the same rows, and compares.
func (f *fronts) group(t *testing.T, c *frontCase) {
	var rest []fronted
	simple := true
	for _, way := range c.fronts {
		if way == viaSimple && !simple {
			return
		}
		f.reseed(t)
		for i, d := range c.directives {
			sql, args := splitArgs(t, d, f.expand(t, d))
			s := sent{sql: sql, args: args, beside: d.HasArg("beside")}
			ways := s.ways()
			if simple = simple && len(ways) == 2; len(ways) == 0 {
				return
			}
			var answer fronted
			var problems []string
			for range c.times {
				answer, problems = f.send(t, way, s, way == viaREST || rest[i].code == "")
			}
			if way == viaREST {
				rest = append(rest, answer)
			} else if p := f.compare(way, s, rest[i], answer); p != "" {
				problems = append(problems, p)
			}
			for _, p := range append(problems, f.changed(t)...) {
				t.Errorf("%s: %.300s\n%s", d.Pos, s.sql, p)
			}
		}
	}
}
