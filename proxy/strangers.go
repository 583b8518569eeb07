package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// strangersLines is how many lines of strangers are written in a second.
const strangersLines = 20

// StrangersLog bounds the lines that are written of strangers, who have not authenticated and may
// come as often as they like: a few in each second, and then one that tells how many were left out.
type StrangersLog struct {
	log   *slog.Logger
	what  string
	after func(d time.Duration, do func()) // once d is over
	mu    sync.Mutex
	lines int // that were asked for in this second
}

// NewStrangersLog bounds lines of a log; what names them.
func NewStrangersLog(log *slog.Logger, what string) *StrangersLog {
	return &StrangersLog{log: log, what: what, after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
}

// May tells whether a line of a stranger may be written. One that may not is counted.
func (s *StrangersLog) May() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines++; s.lines == 1 {
		s.after(time.Second, s.endSecond)
	}
	return s.lines <= strangersLines
}

// endSecond tells how many lines of a second were left out, and begins another with the next line.
func (s *StrangersLog) endSecond() {
	s.mu.Lock()
	leftOut := s.lines - strangersLines
	s.lines = 0
	s.mu.Unlock()
	if leftOut > 0 {
		s.log.LogAttrs(context.Background(), slog.LevelInfo, "lines about clients that had not authenticated were left out",
			slog.String("lines", s.what), slog.Int("left_out", leftOut))
	}
}
