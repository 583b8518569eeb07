package proxy

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// TestNewcomerStays has somebody from elsewhere keep its place while others take all the rest again
// and again, from more addresses than fill it. The largest network of the largest site goes first.
func TestNewcomerStays(t *testing.T) {
	for name, test := range map[string]struct {
		from  func(i int) string
		stays []string // other than the newcomer
	}{
		"IPv4":                        {func(i int) string { return fmt.Sprintf("192.0.2.%d/32", i%5) }, nil},
		"all of an IPv6 site":         {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::/64", i) }, nil},
		"one network of an IPv6 site": {func(int) string { return "2001:db8:2:1::/64" }, []string{"2001:db8:2:2::/64"}},
		"no address":                  {func(int) string { return "" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var ended []string
			o := NewConnections[*peer](ConnectionLimits{Total: 16}, nil)
			add := func(name, from string) {
				var network netip.Prefix
				if from != "" {
					network = netip.MustParsePrefix(from)
				}
				if o.Add(&peer{name: name, spare: true, ended: &ended}, network) != Admitted {
					t.Fatalf("%s has no place", name)
				}
			}
			add("newcomer", "198.51.100.1/32")
			for _, from := range test.stays {
				add(from, from)
			}
			for i := range 100 {
				add("attacker", test.from(i))
			}
			if len(ended) != 85+len(test.stays) || slices.ContainsFunc(ended, func(name string) bool { return name != "attacker" }) {
				t.Errorf("ended %d: %v", len(ended), ended)
			}
		})
	}
}

// full is connections of which one network has all that it may, beside n of others.
func full(tb testing.TB, n int) (add func()) {
	tb.Helper()
	var ended []string
	o := NewConnections[*peer](ConnectionLimits{Total: 10_000, UnauthenticatedPerNetwork: 4}, nil)
	for i := range n {
		o.Add(&peer{spare: true, ended: &ended}, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32))
	}
	here := netip.MustParsePrefix("192.0.2.1/32")
	add = func() {
		ended = ended[:0]
		if o.Add(&peer{spare: true, ended: &ended}, here) != Admitted {
			tb.Error("no place")
		}
	}
	for range 4 {
		add()
	}
	return add
}

// TestRoomInNetworkIsCheap has a network make room within it for about the same however many connections others have.
func TestRoomInNetworkIsCheap(t *testing.T) {
	best := func(others int) time.Duration {
		add, best := full(t, others), time.Hour
		for range 50 {
			begun := time.Now()
			for range 20 {
				add()
			}
			best = min(best, time.Since(begun))
		}
		return best
	}
	if alone, beside := best(0), best(9500); beside > 30*alone {
		t.Errorf("20 newcomers take %v, beside 9,500 connections of others %v", alone, beside)
	}
}

func BenchmarkRoomInNetwork(b *testing.B) {
	for _, others := range []int{0, 9500} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			add := full(b, others)
			for b.Loop() {
				add()
			}
		})
	}
}

// BenchmarkRoomForAll is with all places taken by newcomers of as many networks.
func BenchmarkRoomForAll(b *testing.B) {
	var ended []string
	o := NewConnections[*peer](ConnectionLimits{Total: 4096}, nil)
	for i := 0; b.Loop(); i++ {
		ended = ended[:0]
		o.Add(&peer{spare: true, ended: &ended}, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32))
	}
}
