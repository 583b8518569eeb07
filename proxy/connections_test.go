package proxy

import (
	"net/netip"
	"slices"
	"testing"
)

// peer is a connection that does as it is told.
type peer struct {
	name  string
	spare bool
	since int64
	ended *[]string
}

func (p *peer) Spare() (int64, bool) { return p.since, p.spare }

func (p *peer) Evict() bool {
	*p.ended = append(*p.ended, p.name)
	return true
}

// isThere authenticates a connection as a server of the project, and tells whether it has a place.
func isThere(o *Connections[*peer], p *peer, project string) bool {
	there, _ := o.Authenticated(p, Account{project, "a"})
	return there
}

// TestConnectionsEvict says who goes for the sake of a newcomer.
func TestConnectionsEvict(t *testing.T) {
	here, there := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	type open struct {
		peer          *peer
		from          netip.Prefix
		authenticated bool
	}
	all := ConnectionLimits{Total: 3}
	for name, test := range map[string]struct {
		limits ConnectionLimits
		open   []open
		want   Admission
		ended  []string
	}{
		"nobody where there is room": {ConnectionLimits{Total: 2}, []open{{&peer{name: "a", spare: true}, here, false}}, Admitted, nil},
		"the oldest without credentials": {all, []open{
			{&peer{name: "known", spare: true}, here, true}, {&peer{name: "old", spare: true}, there, false}, {&peer{name: "young", spare: true}, here, false},
		}, Admitted, []string{"old"}},
		"no one who is being served": {all, []open{
			{&peer{name: "old"}, here, false}, {&peer{name: "known", spare: true}, here, true}, {&peer{name: "young", spare: true}, here, false},
		}, Admitted, []string{"young"}},
		"the longest idle where all are known": {all, []open{
			{&peer{name: "a", spare: true, since: 5}, here, true}, {&peer{name: "b", since: 1}, here, true}, {&peer{name: "c", spare: true, since: 4}, here, true},
		}, Admitted, []string{"c"}},
		"nobody known, where they are kept": {ConnectionLimits{Total: 1, KeepAuthenticated: true}, []open{{&peer{name: "a", spare: true}, here, true}}, FullForAll, nil},
		"nobody where all are served": {all, []open{
			{&peer{name: "a"}, here, true}, {&peer{name: "b"}, here, true}, {&peer{name: "c"}, here, false},
		}, FullForAll, nil},
		"of the newcomer's network, where that has its bound": {ConnectionLimits{Total: 9, UnauthenticatedPerNetwork: 1}, []open{
			{&peer{name: "elsewhere", spare: true}, there, false}, {&peer{name: "here", spare: true}, here, false},
		}, Admitted, []string{"here"}},
		"no one known for the bound of the others": {ConnectionLimits{Total: 9, UnauthenticatedPerNetwork: 1}, []open{
			{&peer{name: "known", spare: true}, here, true}, {&peer{name: "served"}, here, false},
		}, FullForNetwork, nil},
		"without credentials, where the network has all it may": {ConnectionLimits{Total: 9, PerNetwork: 2}, []open{
			{&peer{name: "known", spare: true}, here, true}, {&peer{name: "silent", spare: true}, here, false},
		}, Admitted, []string{"silent"}},
		"nobody known for their network's limit": {ConnectionLimits{Total: 9, PerNetwork: 1}, []open{{&peer{name: "known", spare: true}, here, true}}, FullForNetwork, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var ended []string
			told := 0
			o := NewConnections[*peer](test.limits, func(bool) { told++ })
			for _, c := range test.open {
				c.peer.ended = &ended
				if o.Add(c.peer, c.from) != Admitted || c.authenticated && !isThere(o, c.peer, c.peer.name) {
					t.Fatalf("%s has no place", c.peer.name)
				}
			}
			if got := o.Add(&peer{name: "newcomer", ended: &ended}, here); got != test.want {
				t.Errorf("admission %d, want %d", got, test.want)
			}
			if !slices.Equal(ended, test.ended) || told != len(ended) {
				t.Errorf("ended %v, told of %d, want %v", ended, told, test.ended)
			}
		})
	}
}

// TestConnectionsCount counts each place once, whatever became of it.
func TestConnectionsCount(t *testing.T) {
	from := netip.MustParsePrefix("192.0.2.1/32")
	var ended []string
	o := NewConnections[*peer](ConnectionLimits{Total: 2}, nil)
	a, b, c := &peer{name: "a", spare: true, ended: &ended}, &peer{name: "b", ended: &ended}, &peer{name: "c", ended: &ended}
	for _, p := range []*peer{a, b, c} {
		o.Add(p, from)
	}
	if isThere(o, a, "a") {
		t.Error("who was evicted may authenticate")
	}
	for _, p := range []*peer{a, b, b, c} {
		isThere(o, p, p.name)
		o.Remove(p)
		o.Remove(p)
	}
	if n := o.Each(func(*peer) {}); n != 0 || len(o.networks) != 0 || len(o.unknown.networks)+len(o.unknown.sites)+len(o.unknown.ranks) != 0 || o.held.Taken() != 0 {
		t.Errorf("%d open, %d networks, %d waiting", n, len(o.networks), len(o.unknown.networks))
	}
}

// TestConnectionsShares has those go first that are beyond a share, however lately they were asked
// for something, and has one of them come within it once there is room.
func TestConnectionsShares(t *testing.T) {
	from := netip.MustParsePrefix("192.0.2.1/32")
	var ended []string
	o := NewConnections[*peer](ConnectionLimits{Total: 8, ProjectShare: 50}, nil)
	add := func(name, project string, since int64) *peer {
		p := &peer{name: name, spare: true, since: since, ended: &ended}
		if o.Add(p, from) != Admitted || !isThere(o, p, project) {
			t.Fatalf("%s has no place", name)
		}
		return p
	}
	first := add("big 0", "big", 2)
	var last *peer
	for _, name := range []string{"big 1", "big 2", "big 3", "big 4", "big 5"} {
		last = add(name, "big", 10)
	}
	for since, name := range []string{"small 0", "small 1", "small 2"} {
		add(name, "small", int64(since))
	}
	o.Remove(first)
	if there, err := o.Authenticated(last, Account{"big", "a"}); !there || err != nil {
		t.Errorf("there is room within the share: %v, %v", there, err)
	}
	for _, name := range []string{"new 0", "new 1", "new 2"} {
		add(name, name, 20)
	}
	if want := []string{"big 3", "big 4", "small 0"}; !slices.Equal(ended, want) {
		t.Errorf("ended %v, want %v", ended, want)
	}
}
