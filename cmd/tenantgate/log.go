package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// newLog makes the log of a command that runs on. finish must be called at its end: until
// then lines may be held.
func newLog(w io.Writer, level, format string) (log *slog.Logger, finish func()) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	held, options := holdLines(w), &slog.HandlerOptions{Level: least}
	if format == "text" {
		return slog.New(prompt{slog.NewTextHandler(&held.lines, options), held}), held.finish
	}
	return slog.New(prompt{slog.NewJSONHandler(&held.lines, options), held}), held.finish
}

// prompt has warnings and errors written at once, and with them what came before. Its
// handler writes into the lines of what is held.
type prompt struct {
	slog.Handler
	held *heldLines
}

// Handle implements slog.Handler, as the other two.
func (p prompt) Handle(_ context.Context, record slog.Record) error {
	line := heldLine{p.Handler, record}
	if record.Level < slog.LevelWarn && keeps(record) && p.held.hold(line) {
		return nil
	}
	return p.held.now(line)
}

func (p prompt) WithAttrs(attrs []slog.Attr) slog.Handler {
	return prompt{p.Handler.WithAttrs(attrs), p.held}
}

func (p prompt) WithGroup(name string) slog.Handler {
	return prompt{p.Handler.WithGroup(name), p.held}
}

// Bounds of what is held.
const (
	heldMost   = 128     // lines
	heldLength = 1 << 10 // of one line's texts, in bytes
	heldFor    = 100 * time.Millisecond
)

// keeps tells whether a record says the same later on, and is short.
func keeps(record slog.Record) bool {
	length := len(record.Message)
	plain := true
	record.Attrs(func(a slog.Attr) bool {
		switch a.Value.Kind() {
		case slog.KindAny, slog.KindLogValuer, slog.KindGroup:
			plain = false
		case slog.KindString:
			length += len(a.Value.String())
		}
		return plain
	})
	return plain && length <= heldLength
}

// heldLine is a line that is to be made of a record.
type heldLine struct {
	handler slog.Handler
	record  slog.Record
}

// heldLines holds lines for a moment, so that not each request waits until its own is made
// and the system has taken it: many are made one after the other, and written in one go,
// whole, and each writer's in order. When there is no room the writer of the next line waits as if nothing
// were held: none is dropped for want of room.
type heldLines struct {
	mu   sync.Mutex
	held []heldLine
	over bool // nothing is held any more

	writing sync.Mutex // taken before mu
	out     io.Writer
	lines   bytes.Buffer // what is being written
	spare   []heldLine   // empty; takes turns with held

	first, half   chan struct{} // hold one token while something, or much, may be held
	stop, stopped chan struct{}
}

func holdLines(out io.Writer) *heldLines {
	l := &heldLines{
		out: out, held: make([]heldLine, 0, heldMost), spare: make([]heldLine, 0, heldMost),
		first: make(chan struct{}, 1), half: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go l.run()
	return l
}

// run writes what is held for long enough, or is much, until finish.
func (l *heldLines) run() {
	defer close(l.stopped)
	for {
		select {
		case <-l.stop:
			return
		case <-l.first:
		}
		select {
		case <-l.stop:
			return
		case <-l.half:
		case <-time.After(heldFor):
		}
		_ = l.flush() // there is nobody to tell
	}
}

// hold takes a line, if there is room.
func (l *heldLines) hold(line heldLine) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.held) == heldMost {
		return false
	}
	l.held = append(l.held, line)
	switch len(l.held) {
	case 1:
		mark(l.first)
	case heldMost / 2:
		mark(l.half)
	}
	return true
}

func mark(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// now writes what is held, and then a line.
func (l *heldLines) now(line heldLine) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.writeOut(append(l.take(), line)...)
}

// flush writes what is held.
func (l *heldLines) flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.writeOut(l.take()...)
}

// take gives what is held. Whoever asks is writing.
func (l *heldLines) take() []heldLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.held
	l.held, l.spare = l.spare, taken[:0]
	return taken
}

// writeOut makes lines and writes them, or none; of several errors it gives the last. Whoever
// asks is writing.
func (l *heldLines) writeOut(lines ...heldLine) error {
	var failed error
	for i, line := range lines {
		if err := line.handler.Handle(context.Background(), line.record); err != nil {
			failed = err
		}
		lines[i] = heldLine{}
	}
	if l.lines.Len() > 0 {
		if _, err := l.out.Write(l.lines.Bytes()); err != nil {
			failed = err
		}
	}
	if l.lines.Reset(); l.lines.Cap() > heldMost*heldLength {
		l.lines = bytes.Buffer{}
	}
	return failed
}

// finish writes what is held, and ends the goroutine. Lines that come later are written
// at once.
func (l *heldLines) finish() {
	close(l.stop)
	<-l.stopped
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	_ = l.flush()
}
