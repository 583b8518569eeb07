package clients_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestMessages runs the scripts of testdata/messages: what to send, and what is to come
// back, message by message. Both targets must answer the same; the few blocks that are
// marked only=plain or only=tenantgate say why.
//
//	send [conn=b] [only=…]   messages of a client, one per line: type and pgproto3's JSON
//	until [conn=b] [only=…]  types of messages, one per line: reads up to the last of them
//
//	go test ./proof/clients -run Messages -targets plain -rewrite   # writes what plain answers
func TestMessages(t *testing.T) {
	scripts, err := filepath.Glob("testdata/messages/*")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) {
			each(t, func(t *testing.T, url string) { playScript(t, script, url) })
		})
	}
}

func playScript(t *testing.T, script, url string) {
	t.Helper()
	on := target(t)
	conns := map[string]*spoken{}
	datadriven.RunTest(t, script, func(t *testing.T, d *datadriven.TestData) string {
		only, name := "", "a"
		d.MaybeScanArgs(t, "only", &only)
		d.MaybeScanArgs(t, "conn", &name)
		if only != "" && only != on {
			return d.Expected
		}
		if conns[name] == nil {
			conns[name] = speak(t, url)
		}
		switch d.Cmd {
		case "send":
			return conns[name].send(d.Input)
		case "until":
			return conns[name].until(strings.Fields(d.Input))
		}
		d.Fatalf(t, "no such command: %s", d.Cmd)
		return ""
	})
	for name, c := range conns {
		if left := c.end(); left != "" {
			t.Errorf("conn %s was told at the end:\n%s", name, left)
		}
	}
}

// target is the name of the target that a test runs on.
func target(t *testing.T) string {
	t.Helper()
	if slices.Contains(strings.Split(t.Name(), "/"), "tenantgate") {
		return "tenantgate"
	}
	return "plain"
}
