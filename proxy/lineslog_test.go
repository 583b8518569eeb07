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

// Ensure a second has so many lines of strangers and one that tells of the others, and the next
// second as many.
func TestStrangersLog(t *testing.T) {
	var text bytes.Buffer
	s := NewStrangersLog(slog.New(slog.NewTextHandler(&text, nil)), "requests")
	var over []func() // what is to be done once a second is over
	s.after = func(d time.Duration, do func()) {
		if d != time.Second {
			t.Errorf("after %s", d)
		}
		over = append(over, do)
	}
	for _, second := range []struct{ asked, may, leftOut int }{{1, 1, 0}, {20, 20, 0}, {1021, 20, 1001}, {3, 3, 0}} {
		text.Reset()
		may := 0
		for range second.asked {
			if s.May("") {
				may++
			}
		}
		if may != second.may || len(over) != 1 {
			t.Errorf("%d asked: %d may, %d seconds", second.asked, may, len(over))
		}
		over[0]()
		over = nil
		if line := text.String(); second.leftOut == 0 && line != "" || second.leftOut > 0 && !strings.Contains(line, "lines=requests left_out=1001\n") {
			t.Errorf("%d asked: %q", second.asked, line)
		}
	}
}
