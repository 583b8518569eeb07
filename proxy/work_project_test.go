package proxy

import (
	"math"
	"strconv"
	"testing"
	"time"
)

// Ensure a project with a few busy servers does not escape what holds one back: each has what the others bear,
// beside a quiet server of another project. Beside one of their own nothing counts but the servers.
func TestProjectsAreShared(t *testing.T) {
	for _, c := range []struct {
		quiet       Account
		least, most float64
	}{
		{Account{"q", "quiet"}, 0.3, 1},
		{Account{"p", "quiet"}, 9, 15},
	} {
		w, pass := clocked(20)
		busy := map[Account]*playing{}
		for n := range 3 {
			busy[Account{"p", strconv.Itoa(n)}] = &playing{length: 20 * time.Millisecond, spread: 30 * time.Millisecond}
		}
		for a, mean := range play(w, pass, busy, c.quiet, 60*time.Millisecond) {
			if mean < c.least || mean > c.most {
				t.Errorf("beside %v %v had %.2f at a time", c.quiet, a, mean)
			}
		}
	}
}

// Ensure a server that does most of what its project does is judged by itself, and has what it would have if the small
// one beside it were of a third project.
func TestOneBusyServerOfAProject(t *testing.T) {
	had := map[string]float64{}
	for _, project := range []string{"p", "r"} {
		w, pass := clocked(20)
		one, small := Account{"p", "busy"}, Account{project, "small"}
		busy := map[Account]*playing{one: {length: 20 * time.Millisecond, spread: 30 * time.Millisecond}}
		had[project] = play(w, func(d time.Duration) {
			pass(d)
			w.start(small)
			w.end(small)
		}, busy, Account{"q", "quiet"}, 60*time.Millisecond)[one]
	}
	if had["p"] < 0.95*had["r"] || had["r"] < 1.5 {
		t.Errorf("beside one of its own project it had %.2f at a time, else %.2f", had["p"], had["r"])
	}
}

// Ensure a server that asks for little is not held back for what others of its project have, however many those are.
func TestSmallServersOfALargeProject(t *testing.T) {
	w, pass := clocked(20)
	quiet, project := Account{"q", "quiet"}, make([]Account, 200)
	for n := range project {
		project[n] = Account{"p", strconv.Itoa(n)}
	}
	for n := range 50 * len(project) {
		if n%100 == 0 {
			w.start(quiet)
		}
		if n >= 10 {
			w.end(project[(n-10)%len(project)])
		}
		if a := project[n%len(project)]; !w.enters(a, false) {
			t.Fatal(a, "is held back")
		}
		pass(time.Millisecond)
		if n%100 == 30 {
			w.end(quiet)
		}
	}
	if of := w.projects["p"].average; of < 8 {
		t.Errorf("the project had %.1f at work on average", of)
	}
}

// Ensure a server has no more than its share among the servers of its project, though those of others could bear more.
func TestServersOfALargeProjectShare(t *testing.T) {
	w, pass := clocked(20)
	quiet, greedy := Account{"q", "quiet"}, Account{"p", "0"}
	has := []Account{greedy}
	for n := range 20 {
		has = append(has, Account{"p", strconv.Itoa(n)})
	}
	for _, a := range has {
		w.start(a)
	}
	for range 50 { // each job ends before it counts as one that lasts
		for _, a := range has {
			w.start(a)
			w.end(a)
		}
		w.start(quiet)
		pass(2 * time.Millisecond)
		w.end(quiet)
		pass(98 * time.Millisecond)
	}
	if others := w.of[quiet].average; others > 0.05 {
		t.Fatalf("the others have %.2f at work", others)
	}
	if w.enters(greedy, false) {
		t.Error("a server has two at work, and goes on where the others of its project have one")
	}
	if !w.enters(Account{"p", "1"}, false) {
		t.Error("a server that has one at work is held back")
	}
}

// Ensure what a project has is what its servers have together, and is forgotten with the last of them.
func TestProjectsHaveWhatTheirServersHave(t *testing.T) {
	w, pass := clocked(20)
	one, two, own := Account{"p", "one"}, Account{"p", "two"}, Account{}
	w.start(own)
	for range 9 {
		w.start(one)
		w.start(two)
	}
	w.pause(two, 3)
	pass(time.Second)
	for range 9 { // and some of its average is forgiven
		w.end(one)
	}
	w.pause(two, -2)
	pass(100 * time.Millisecond)
	w.start(one)
	w.pause(two, 0) // so that all go on to now
	var sum load
	for _, a := range []Account{one, two} {
		l := w.of[a]
		sum.running, sum.paused, sum.average, sum.ended = sum.running+l.running, sum.paused+l.paused, sum.average+l.average, sum.ended+l.ended
	}
	p := w.projects["p"]
	if p.running != sum.running || p.paused != sum.paused || math.Abs(p.average-sum.average) > 1e-9 || math.Abs(p.ended-sum.ended) > 1e-9 || len(w.projects) != 1 {
		t.Errorf("%+v, not %+v", *p, sum)
	}
	w.pause(two, -1)
	w.end(one)
	for range 9 {
		w.end(two)
	}
	w.start(Account{"p", "three"})
	for range 3 {
		pass(1100 * time.Millisecond)
		w.start(own)
	}
	if len(w.of) != 2 || w.projects["p"] != p {
		t.Errorf("it is forgotten while one has something at work: %+v", w.of)
	}
	w.end(Account{"p", "three"})
	for range 3 {
		pass(1100 * time.Millisecond)
		w.start(own)
	}
	if len(w.of) != 1 || len(w.projects) != 0 {
		t.Errorf("left: %+v, %+v", w.of, w.projects)
	}
}
