package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestScript names the server for every front but tenantgate, and puts the settings of row-level
// security into the statement's own transaction.
func TestScript(t *testing.T) {
	for _, c := range []struct {
		front           wireFront
		statement, mode string
		want            string
	}{
		{wireFront{}, "point", "simple", "\\set n random(1, 1000)\nSELECT id, role, content, created_at FROM messages WHERE server_id = 's1' AND id = 'm' || :n;"},
		{wireFront{injects: true}, "point", "prepared", "\\set n random(1, 1000)\nSELECT id, role, content, created_at FROM messages WHERE id = 'm' || :n;"},
		{wireFront{}, "thousand", "extended", "\\set n random(1000, 1000000)\nSELECT id, role, content, created_at FROM messages WHERE server_id = 's1' LIMIT :n;"},
		{wireFront{injects: true, prelude: "SET"}, "thousand", "simple", "\\set n random(1000, 1000000)\nSET \\; SELECT id, role, content, created_at FROM messages LIMIT :n;"},
		{wireFront{injects: true, prelude: "SET"}, "thousand", "extended",
			"\\set n random(1000, 1000000)\n\\startpipeline\nSET;\nSELECT id, role, content, created_at FROM messages LIMIT :n;\n\\endpipeline"},
	} {
		if got := c.front.script(c.statement, c.mode); got != c.want {
			t.Errorf("%s, %s: got %s", c.statement, c.mode, got)
		}
	}
}

// TestWireTable has the ratios to the newest PgBouncer that can.
func TestWireTable(t *testing.T) {
	fronts := []*wireFront{{name: "direct"}, {name: "PgBouncer 1", pid: 1, pooler: "a", forgets: true}, {name: "PgBouncer 2", pid: 2, pooler: "b"}, {name: "tenantgate", pid: 3}}
	all := wireResults{}
	for i, f := range fronts {
		if f.can("prepared") {
			all[wireCell{"point", "prepared", f.name}] = []wired{{turn: turn{requests: 1000 * (i + 1), elapsed: time.Second}, front: time.Duration(i) * 10 * time.Microsecond}}
		}
	}
	text := (&wireCommand{}).table(all, fronts, "point", "prepared")
	checkColumns(t, text)
	for _, want := range []string{"rate / PgBouncer 2", "| PgBouncer 1 | not in transaction mode |", "| tenantgate | 4000 | 0 | 0 | 30.0 | 0.0 | 4.00 | 1.33 | 1.50 |", "| direct | 1000 | 0 | 0 |  | 0.0 | 1.00 | 0.33 |  |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestCPUOfFamily counts a child while it runs and when it has ended.
func TestCPUOfFamily(t *testing.T) {
	before, err := cpuOfFamily(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	grew := func(least time.Duration) bool {
		for range 500 {
			if now, err := cpuOfFamily(os.Getpid()); err == nil && now-before >= least {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	}
	running := grew(200 * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if ended := grew(200 * time.Millisecond); !running || !ended {
		t.Errorf("counted while it runs: %v; afterwards: %v", running, ended)
	}
}
