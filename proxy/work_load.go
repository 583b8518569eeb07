package proxy

import (
	"math"
	"time"
)

// load is how much is done for somebody.
type load struct {
	running int
	paused  int     // of running: they wait for a connection
	average float64 // of those that work, lately
	ended   float64 // a second, lately
	at      time.Time
	began   []time.Time // of a server: when each of what runs began, the oldest first, without what was abandoned
	project *load       // of a server: what those of its project have together, itself included
}

// working is how many take the processors' time.
func (l *load) working() int { return l.running - l.paused }

// pass has the average go on to a time.
func (l *load) pass(now time.Time) {
	if gone := now.Sub(l.at); gone > 0 {
		left := stays(gone)
		l.average = l.average*left + float64(l.working())*(1-left)
		l.ended *= left
		l.at = now
	}
}

// stays is how much of an average is left after a time. Mostly that is under a millisecond: then the first terms of the
// series are as good, and cost a tenth.
func stays(gone time.Duration) float64 {
	x := float64(gone) / float64(lately)
	if x < 1e-3 {
		return 1 - x + x*x/2
	}
	return math.Exp(-x)
}

// idle tells whether nothing is done, nor was lately.
func (l *load) idle(now time.Time) bool { return l.running == 0 && now.Sub(l.at) > lately }

func (l *load) add(n int, now time.Time) {
	l.pass(now)
	if l.running += n; n < 0 {
		l.ended -= float64(n) / lately.Seconds()
	}
}

// lasting is what the oldest of a server's jobs has of the average, if it has run for a second or more; else nothing.
func (l *load) lasting(now time.Time) float64 {
	if len(l.began) == 0 || l.working() == 0 {
		return 0
	}
	age := now.Sub(l.began[0])
	if age < lately {
		return 0
	}
	return 1 - math.Exp(-float64(age)/float64(lately))
}

// takesLong tells whether what was done lately took long, in the mean: that is how many run at a time, on average, by
// how many end in a time (Little's law).
func (l *load) takesLong(average float64) bool { return average > l.ended*long.Seconds() }
