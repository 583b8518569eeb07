package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// refusalLines is how many lines on refusals are written for a project in a second.
const refusalLines = 20

// RefusalsLog bounds the lines on requests that were refused before they cost their sender anything:
// he has authenticated, but may send as many as he likes. Each project has a few in each second, and
// then one that tells how many of its lines were left out, so that none hides another's.
type RefusalsLog struct {
	log   *slog.Logger
	what  string
	after func(d time.Duration, do func()) // once d is over
	mu    sync.Mutex
	lines map[string]int // by project, that were asked for in this second; nil: none
}

// NewRefusalsLog bounds lines of a log; what names them.
func NewRefusalsLog(log *slog.Logger, what string) *RefusalsLog {
	return &RefusalsLog{log: log, what: what, after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
}

// May tells whether a line on a project's refusal may be written. One that may not is counted.
func (r *RefusalsLog) May(project string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines == nil {
		r.lines = map[string]int{}
		r.after(time.Second, r.endSecond)
	}
	r.lines[project]++
	return r.lines[project] <= refusalLines
}

// endSecond tells how many lines of a second were left out, and begins another with the next line.
func (r *RefusalsLog) endSecond() {
	r.mu.Lock()
	lines := r.lines
	r.lines = nil
	r.mu.Unlock()
	for project, n := range lines {
		if n > refusalLines {
			r.log.LogAttrs(context.Background(), slog.LevelInfo, "lines on refused requests were left out",
				slog.String("lines", r.what), slog.String("project", project), slog.Int("left_out", n-refusalLines))
		}
	}
}
