package proxy

import (
	"container/list"
	"net/netip"
	"slices"
)

// crowds are connections in lines by network, the oldest first. A connection comes and goes in constant
// time, and so is the largest network of the largest site found: an attacker makes them come, on the
// goroutine that accepts all. Which of them can be spared is asked one by one: that takes as long as
// there are ones before it that can't.
type crowds struct {
	sites, networks map[netip.Prefix]*crowd
	ranks           ranks // of the sites
}

// crowd is the connections of a site, or of one of its networks.
type crowd struct {
	size     int
	rank     *list.Element // among those of its size; nil: it is empty
	networks ranks         // of a site
	line     list.List     // of a network: its connections, the oldest first
}

func newCrowds() *crowds {
	return &crowds{sites: map[netip.Prefix]*crowd{}, networks: map[netip.Prefix]*crowd{}}
}

// add puts a connection behind those of its network.
func (s *crowds) add(from netip.Prefix, connection any) *list.Element {
	site, network := crowdOf(s.sites, siteOf(from)), crowdOf(s.networks, from)
	s.ranks.resize(site, 1)
	site.networks.resize(network, 1)
	return network.line.PushBack(connection)
}

// crowdOf gives the crowd of a prefix, a new one where there was none.
func crowdOf(known map[netip.Prefix]*crowd, prefix netip.Prefix) *crowd {
	c := known[prefix]
	if c == nil {
		c = &crowd{}
		known[prefix] = c
	}
	return c
}

// remove takes out what add has put in.
func (s *crowds) remove(from netip.Prefix, queued *list.Element) {
	site, network := s.sites[siteOf(from)], s.networks[from]
	network.line.Remove(queued)
	site.networks.resize(network, -1)
	s.ranks.resize(site, -1)
	if network.size == 0 {
		delete(s.networks, from)
	}
	if site.size == 0 {
		delete(s.sites, siteOf(from))
	}
}

// of is how many connections a network has.
func (s *crowds) of(from netip.Prefix) int {
	if network := s.networks[from]; network != nil {
		return network.size
	}
	return 0
}

// first offers the connections of one network until one is taken, and tells whether one was. Whoever
// takes it may remove it, and nothing else.
func (s *crowds) first(from netip.Prefix, take func(connection any) bool) bool {
	network := s.networks[from]
	return network != nil && network.first(take)
}

// first offers a network's connections, the oldest first, or those of a site's networks, the largest first.
func (c *crowd) first(take func(connection any) bool) bool {
	for e := c.line.Front(); e != nil; e = e.Next() {
		if take(e.Value) {
			return true
		}
	}
	return c.networks.first(take)
}

// ranks are crowds by size: those of n connections are in the list n-1. Who has been of that size for
// longest is first there.
type ranks []*list.List

// resize has a crowd be larger by one connection, or smaller.
func (r *ranks) resize(c *crowd, by int) {
	if c.rank != nil {
		(*r)[c.size-1].Remove(c.rank)
		c.rank = nil
	}
	if c.size += by; c.size > len(*r) {
		*r = append(*r, list.New())
	}
	if c.size > 0 {
		c.rank = (*r)[c.size-1].PushBack(c)
	}
	if largest := len(*r) - 1; (*r)[largest].Len() == 0 {
		*r = (*r)[:largest] // the next list has a crowd, or there is none
	}
}

// first offers the connections of the largest crowd, then those of the others.
func (r ranks) first(take func(connection any) bool) bool {
	for _, equal := range slices.Backward(r) {
		for e := equal.Front(); e != nil; e = e.Next() {
			if e.Value.(*crowd).first(take) {
				return true
			}
		}
	}
	return false
}
