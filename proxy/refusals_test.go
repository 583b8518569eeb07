package proxy

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Ensure each project has so many lines on refusals in a second and one that tells of the others,
// whatever another has, and the next second as many.
func TestRefusalsLog(t *testing.T) {
	var text bytes.Buffer
	r := NewRefusalsLog(slog.New(slog.NewTextHandler(&text, nil)), "requests")
	var over []func() // what is to be done once a second is over
	r.after = func(d time.Duration, do func()) {
		if d != time.Second {
			t.Errorf("after %s", d)
		}
		over = append(over, do)
	}
	for range 2 {
		may := map[string]int{}
		for _, project := range strings.Fields(strings.Repeat("loud ", 1000) + strings.Repeat("quiet ", 20) + "loud") {
			if r.May(project) {
				may[project]++
			}
		}
		if may["loud"] != 20 || may["quiet"] != 20 || len(over) != 1 {
			t.Fatalf("%v may, %d seconds", may, len(over))
		}
		text.Reset()
		over[0]()
		over = nil
		if line := text.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, "lines=requests project=loud left_out=981\n") {
			t.Errorf("%q", line)
		}
	}
}
