package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// linesMost is how many lines are written in a second, for each project.
const linesMost = 20

// LinesLog bounds lines of a log that cost who causes them nothing: a few in each second, and then one that
// tells how many were left out. Each project has its own, so that none hides another's.
type LinesLog struct {
	log     *slog.Logger
	leftOut string // the message that tells of lines left out
	what    string
	after   func(d time.Duration, do func()) // once d is over
	mu      sync.Mutex
	lines   map[string]int // by project, that were asked for in this second; nil: none
}

// NewStrangersLog bounds the lines of clients that have not authenticated, who have no project: all are
// bounded together. what names the lines.
func NewStrangersLog(log *slog.Logger, what string) *LinesLog {
	return newLinesLog(log, "lines about clients that had not authenticated were left out", what)
}

// NewRefusalsLog bounds the lines on requests that were refused before they cost their sender, who has
// authenticated, anything. what names the lines.
func NewRefusalsLog(log *slog.Logger, what string) *LinesLog {
	return newLinesLog(log, "lines on refused requests were left out", what)
}

// NewFailuresLog bounds the lines on what was tried and failed, each time for the same reason. what names the lines.
func NewFailuresLog(log *slog.Logger, what string) *LinesLog {
	return newLinesLog(log, "lines on failures were left out", what)
}

func newLinesLog(log *slog.Logger, leftOut, what string) *LinesLog {
	return &LinesLog{log: log, leftOut: leftOut, what: what, after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
}

// May tells whether a line of a project may be written; "" is for who has none. One that may not is counted.
func (l *LinesLog) May(project string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[string]int{}
		l.after(time.Second, l.endSecond)
	}
	l.lines[project]++
	return l.lines[project] <= linesMost
}

// endSecond tells how many lines of a second were left out, and begins another with the next line.
func (l *LinesLog) endSecond() {
	l.mu.Lock()
	lines := l.lines
	l.lines = nil
	l.mu.Unlock()
	for project, n := range lines {
		if n <= linesMost {
			continue
		}
		attrs := []slog.Attr{slog.String("lines", l.what)}
		if project != "" {
			attrs = append(attrs, slog.String("project", project))
		}
		l.log.LogAttrs(context.Background(), slog.LevelInfo, l.leftOut, append(attrs, slog.Int("left_out", n-linesMost))...)
	}
}
