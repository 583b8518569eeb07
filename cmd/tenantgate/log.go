package main

import (
	"context"
	"errors"
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
	lines, options := holdLines(w), &slog.HandlerOptions{Level: least}
	if format == "text" {
		return slog.New(prompt{slog.NewTextHandler(lines, options), lines}), lines.finish
	}
	return slog.New(prompt{slog.NewJSONHandler(lines, options), lines}), lines.finish
}

// prompt has warnings and errors written at once, and with them what came before.
type prompt struct {
	slog.Handler
	lines *heldLines
}

// Handle implements slog.Handler, as the other two.
func (p prompt) Handle(ctx context.Context, record slog.Record) error {
	err := p.Handler.Handle(ctx, record)
	if record.Level >= slog.LevelWarn {
		err = errors.Join(err, p.lines.flush())
	}
	return err
}

func (p prompt) WithAttrs(attrs []slog.Attr) slog.Handler {
	return prompt{p.Handler.WithAttrs(attrs), p.lines}
}

func (p prompt) WithGroup(name string) slog.Handler {
	return prompt{p.Handler.WithGroup(name), p.lines}
}

// Bounds of the lines that are held.
const (
	heldBytes = 64 << 10
	heldFor   = 100 * time.Millisecond
)

// heldLines holds lines for a moment, so that not each request waits for the system to take
// its own. They are written whole and in order. When there is no room the writer of the
// next line waits for the system as if nothing were held: none is dropped for want of room.
type heldLines struct {
	out io.Writer

	mu   sync.Mutex
	held []byte
	over bool // nothing is held any more

	first         chan struct{} // holds one token while something may be held
	stop, stopped chan struct{}
}

func holdLines(out io.Writer) *heldLines {
	l := &heldLines{out: out, first: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.run()
	return l
}

// run writes what is held for long enough, until finish.
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
		case <-time.After(heldFor):
			_ = l.flush() // there is nobody to tell
		}
	}
}

// Write takes one line, or several whole ones.
func (l *heldLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.over || len(l.held)+len(line) > heldBytes {
		err = l.writeOut()
	}
	if l.over || len(line) > heldBytes {
		n, alone := l.out.Write(line)
		return n, errors.Join(err, alone)
	}
	l.held = append(l.held, line...)
	select {
	case l.first <- struct{}{}:
	default:
	}
	return len(line), err
}

// flush writes what is held.
func (l *heldLines) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeOut()
}

// writeOut is flush for who has the lock.
func (l *heldLines) writeOut() error {
	if len(l.held) == 0 {
		return nil
	}
	_, err := l.out.Write(l.held)
	l.held = l.held[:0]
	return err
}

// finish writes what is held, and ends the goroutine. Lines that come later are written
// at once.
func (l *heldLines) finish() {
	close(l.stop)
	<-l.stopped
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	_ = l.writeOut()
}
