package proxy

import (
	"math"
	"time"
)

// load is how much is done for somebody.
type load struct {
	running int
	heavy   int     // of running: begun when there had been more than a share
	average float64 // of running, lately
	at      time.Time
}

// pass has the average go on to a time.
func (l *load) pass(now time.Time) {
	if gone := now.Sub(l.at); gone > 0 {
		left := math.Exp(-float64(gone) / float64(lately))
		l.average = l.average*left + float64(l.running)*(1-left)
		l.at = now
	}
}

func (l *load) add(n int, now time.Time) {
	l.pass(now)
	l.running += n
}
