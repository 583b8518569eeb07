package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// written remembers what was written, and in how many pieces.
type written struct {
	mu     sync.Mutex
	pieces []string
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces = append(w.pieces, string(p))
	return len(p), nil
}

func (w *written) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.pieces, "")
}

// An information waits for others for a tenth of a second, a warning for nothing.
func TestLogIsWrittenInTime(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		synctest.Test(t, func(t *testing.T) {
			var out written
			log, finish := newLog(&out, "info", format)
			defer finish()
			log.Debug("dropped")
			for range 10 {
				log.Info("first")
				log.With("a", "b").WithGroup("g").Info("second", "c", "d")
				if synctest.Wait(); out.all() != "" {
					t.Errorf("written at once: %s", out.all())
				}
				time.Sleep(heldFor)
				synctest.Wait()
				if said := out.all(); len(out.pieces) != 1 || !strings.Contains(said, "first") || !strings.HasSuffix(said, "\n") || strings.Contains(said, "dropped") {
					t.Errorf("after %v: %q", heldFor, out.pieces)
				}
				out.pieces = nil
			}
			for _, warn := range []func(string, ...any){log.Warn, log.Error, log.With("a", "b").Warn, log.WithGroup("g").Error} {
				log.Info("before")
				warn("told")
				if said := out.all(); !strings.Contains(said, "before") || strings.Index(said, "told") < strings.Index(said, "before") {
					t.Errorf("a warning waits: %q", said)
				}
				out.pieces = nil
			}
		})
	}
}

// No line is lost or torn, however many there are and however long one is.
func TestLogKeepsLines(t *testing.T) {
	var out written
	log, finish := newLog(&out, "info", "text")
	const writers, each = 8, 2000
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := range each {
				log.Info("m", "line", fmt.Sprintf("%d/%d", writer, i))
			}
		})
	}
	group.Wait()
	log.Info(strings.Repeat("x", 2*heldMost*heldLength), "line", "long")
	log.Info("m", "line", "last")
	finish()
	if !strings.HasSuffix(out.all(), "line=last\n") {
		t.Error("the last line was not written")
	}
	log.Info("m", "line", "late") // of something that outlived the command
	next := map[string]int{}
	for line := range strings.Lines(out.all()) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " line=")
		writer, _, _ := strings.Cut(name, "/")
		if want := fmt.Sprintf("%s/%d", writer, next[writer]); strings.Contains(name, "/") && name != want || !strings.HasPrefix(line, "time=") {
			t.Fatalf("%.200q, want %s", line, want)
		}
		next[writer]++
	}
	if len(next) != writers+3 || next["0"] != each || next["7"] != each || !strings.HasSuffix(out.all(), "line=late\n") {
		t.Errorf("%v", next)
	}
	for _, piece := range out.pieces {
		if !strings.HasSuffix(piece, "\n") || len(piece) > heldMost*heldLength && !strings.Contains(piece, "line=long") {
			t.Errorf("a piece of %d bytes ends with %.20q", len(piece), piece[max(len(piece)-20, 0):])
		}
	}
	if most := writers * each / 20; len(out.pieces) > most {
		t.Errorf("written in %d pieces, want at most %d", len(out.pieces), most)
	}
}

// What can't be written now does not come later, as if nothing were held.
func TestLogForgetsWhatFails(t *testing.T) {
	var out bytes.Buffer
	broken := &failing{}
	log, finish := newLog(broken, "info", "text")
	defer finish()
	log.Warn("lost")
	broken.to = &out
	log.Warn("kept")
	if said := out.String(); strings.Contains(said, "lost") || !strings.Contains(said, "kept") {
		t.Errorf("%q", said)
	}
}

// failing is a writer that fails until there is something to write to.
type failing struct{ to *bytes.Buffer }

func (f *failing) Write(p []byte) (int, error) {
	if f.to == nil {
		return 0, fmt.Errorf("broken")
	}
	return f.to.Write(p)
}

// changing is a value that reads another way each time.
type changing struct{ times int }

func (c *changing) LogValue() slog.Value { c.times++; return slog.IntValue(c.times) }

// A line says what was so when it was told, not when it is written.
func TestLogTellsWhatWasSo(t *testing.T) {
	values, count := []string{""}, &changing{}
	for want, value := range map[string]slog.Attr{
		`"values":["old"]`: slog.Any("values", values), `"count":1`: slog.Any("count", count), `"g":{"values":["old"]}`: slog.Group("g", "values", values),
	} {
		var out written
		log, finish := newLog(&out, "info", "json")
		values[0], count.times = "old", 0
		log.LogAttrs(t.Context(), slog.LevelInfo, "told", slog.Int("n", 1), value)
		values[0], count.times = "new", 7
		finish()
		if said := out.all(); !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
}
