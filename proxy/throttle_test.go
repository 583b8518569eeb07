package proxy

import (
	"testing"
	"time"
)

// Ensure a server, a project and all together take no more than their part, in equal parts, and who took little does not
// pause.
func TestThrottle(t *testing.T) {
	for _, c := range []struct {
		what     string
		accounts []string
		each     time.Duration // that one of them takes in a second
	}{
		{"a server", []string{"p/a"}, 282 * time.Millisecond},
		{"servers of a project", []string{"p/a", "p/b"}, 188 * time.Millisecond},
		{"projects", []string{"a", "b", "c", "d"}, 125 * time.Millisecond},
	} {
		now := time.Now()
		throttle := NewThrottle(2, 75)
		throttle.now = func() time.Time { return now }
		took, until := map[string]time.Duration{}, map[string]time.Time{}
		for end := now.Add(10 * time.Second); now.Before(end); now = now.Add(100 * time.Microsecond) {
			for _, a := range c.accounts {
				if !now.Before(until[a]) {
					until[a] = now.Add(throttle.Spend(accountOf(a), 50*time.Microsecond))
					took[a] += 50 * time.Microsecond
				}
			}
		}
		for _, a := range c.accounts {
			if of := took[a] / 10; of < c.each*95/100 || of > c.each*105/100 {
				t.Errorf("%s: %s took %v of a second, want %v", c.what, a, of, c.each)
			}
		}
	}
}

// Ensure nobody pauses for long: neither for one message nor for many, nor for those of others; and nothing is kept
// of who is gone.
func TestThrottleForgives(t *testing.T) {
	now := time.Now()
	throttle := NewThrottle(1, 75)
	throttle.now = func() time.Time { return now }
	other := accountOf("q")
	if pause := throttle.Spend(other, 200*time.Microsecond); pause != 0 {
		t.Errorf("who took little pauses for %v", pause)
	}
	a := accountOf("p/a")
	if pause := throttle.Spend(a, time.Hour); pause < 100*time.Millisecond || pause > time.Second {
		t.Errorf("a message that waited for an hour has its client pause for %v", pause)
	}
	for range 1000 {
		throttle.Spend(a, time.Hour)
	}
	if pause := throttle.Spend(a, time.Hour); pause != maxPause {
		t.Errorf("a pause of %v", pause)
	}
	if pause := throttle.Spend(other, 100*time.Microsecond); pause != 0 {
		t.Errorf("it has another pause for %v", pause)
	}
	now = now.Add(maxPause + time.Second)
	throttle.Spend(other, time.Microsecond)
	if len(throttle.active) != 1 {
		t.Errorf("kept: %v", throttle.active)
	}
}
