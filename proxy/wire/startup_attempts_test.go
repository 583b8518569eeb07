package wire

import (
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func network(t *testing.T, text string) netip.Prefix {
	t.Helper()
	p, err := netip.ParsePrefix(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAttempts(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAttempts(3, time.Second)
	a.now = func() time.Time { return now }
	here, there := network(t, "192.0.2.1/32"), network(t, "2001:db8::/64")
	for i := range 3 {
		if !a.may(here) {
			t.Fatalf("failure %d is not allowed", i)
		}
		a.failed(here)
	}
	if a.may(here) || !a.may(there) {
		t.Error("a fourth is, or somebody else's is not")
	}
	for range 5 { // those that were under way
		a.failed(here)
	}
	now = now.Add(999 * time.Millisecond)
	if a.may(here) {
		t.Error("before the pause is over")
	}
	now = now.Add(time.Millisecond)
	if !a.may(here) {
		t.Error("not after the pause")
	}
	a.failed(here)
	if a.may(here) {
		t.Error("twice after one pause")
	}
	now = now.Add(time.Hour)
	for range 3 {
		a.failed(here)
	}
	if a.may(here) {
		t.Error("more than the burst after a long time")
	}
}

// Many at once are no more than in a row: the next is not begun before the last has failed.
func TestAttemptsAreOneAtATime(t *testing.T) {
	a := newAttempts(3, time.Hour)
	here, tried := network(t, "192.0.2.1/32"), atomic.Int64{}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_ = a.try(here, func() error {
				tried.Add(1)
				time.Sleep(time.Millisecond) // the others come meanwhile
				return errTooMuch
			})
		})
	}
	all.Wait()
	if n := tried.Load(); n != 3 {
		t.Errorf("%d of 50 at once were tried, want 3", n)
	}
}

// The table is bounded, and who fails now is not forgotten for those who did long ago.
func TestAttemptsAreBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAttempts(2, time.Second)
	a.now = func() time.Time { return now }
	here := network(t, "192.0.2.1/32")
	for i := range maxNetworks {
		a.failed(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32))
	}
	now = now.Add(time.Hour)
	a.failed(here)
	a.failed(here)
	for i := range 3 * maxNetworks {
		a.failed(netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}), 32))
	}
	if len(a.since) != maxNetworks {
		t.Errorf("%d networks are known", len(a.since))
	}
	if a.may(here) {
		t.Error("who fails was forgotten for who failed an hour ago")
	}
}

// Beyond the burst, whoever comes from there is refused before anything is looked up, and
// success gives nothing back.
func TestFailuresAreLimited(t *testing.T) {
	d := openDoor(t, nil)
	d.failures.pause = time.Hour
	for i := range 20 {
		if heard := d.dial(t).login(shop, "wrong"); len(heard) != 3 || !strings.HasPrefix(heard[2], "E ") {
			t.Fatalf("failure %d: %v", i, heard)
		}
		if i == 18 {
			if heard := d.dial(t).login(cafe, cafeKey); len(heard) != 3 || !strings.HasPrefix(heard[2], "R 0000000c") {
				t.Fatalf("with one left: %v", heard)
			}
		}
	}
	asked := d.gate.asked.Load()
	for _, user := range []string{shop, cafe, "nobody"} {
		r := d.dial(t)
		r.say(startupOf(version3, "user", user))
		if got := r.told(); got != "FATAL 53400 too many failed attempts from this address" {
			t.Errorf("%s: %s", user, got)
		}
	}
	if d.gate.asked.Load() != asked {
		t.Error("the gate was asked")
	}
	if n := d.counts.of("rate_limited"); n != 3 {
		t.Errorf("%d counted", n)
	}
}

// Many that begin at once get no more tries than one after the other.
func TestFailuresAtOnceAreLimited(t *testing.T) {
	d := openDoor(t, nil)
	d.failures.pause = time.Hour
	results := make(chan string, 60)
	begun := make(chan struct{}, 60)
	goOn := make(chan struct{})
	for range 60 {
		go func() {
			r := d.dial(t)
			r.say(startupOf(version3, "user", shop))
			_, _, _ = r.hear()
			r.say(messageOf('p', scramPlain+"\x00\x00\x00\x00\x0bn,,n=,r=abc"))
			_, body, _ := r.hear()
			begun <- struct{}{}
			<-goOn
			nonce, _, _ := strings.Cut(string(body[6:]), ",")
			r.say(messageOf('p', "c=biws,r="+nonce+",p="+b64(make([]byte, 32))))
			_, body, _ = r.hear()
			results <- errorText(body)
		}()
	}
	for range 60 {
		<-begun
	}
	close(goOn)
	tried := 0
	for range 60 {
		if result := <-results; strings.Contains(result, "28P01") {
			tried++
		} else if !strings.Contains(result, "53400") {
			t.Error(result)
		}
	}
	if tried != 20 {
		t.Errorf("%d passwords were tried", tried)
	}
}
