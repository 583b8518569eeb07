package upstream

import (
	"slices"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// A backend keeps every time zone that it was asked for until its end, 24 KB each, and a
// statement may make one of its own for each row: now() AT TIME ZONE ('A' || id). Applications
// that keep their users' zones in a column write the same. So no statement is refused for
// that, but its time counts, since it makes about 30,000 in a second at most (Postgres 15, seen
// 2026-11-22: 750 MB): a connection of which such statements had zonesTime is closed when its
// transaction ends, and behind zonesMost a transaction gets no more of them.
const (
	zonesTime = 100 * time.Millisecond
	zonesMost = 10 * time.Second
)

// countZones notes that the exchange may make time zones.
func (e *exchange) countZones() error {
	e.mayMakeZones = true
	if l := e.link; l.held && l.lease.session.zoned > zonesMost {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "the statements of this transaction that may make up time zones took too long",
			Hint: "Commit, and go on in another transaction; or write offsets such as +02 in place of zones, and a zone as a constant."}
	}
	return nil
}

// spellsZone tells whether a step's values may make time zones.
func (e *exchange) spellsZone(s *proxy.Step) bool {
	for i := range s.Bound.NumParams() {
		if s.Bound.Param(i).Value.SpellsZone() {
			d, _ := e.known(e.wantedFor(s))
			return zoneIn(s.Bound, d)
		}
	}
	return false
}

// zoneIn tells whether values may make time zones, by the types that the statement takes;
// where they are not known, any of them may.
func zoneIn(b policy.Bound, d described) bool {
	for i := range b.NumParams() {
		if (i >= len(d.Params) || !zoneless[d.Params[i]]) && b.Param(i).Value.SpellsZone() {
			return true
		}
	}
	return false
}

// zonedSettings tells whether the time zone among settings may be one that somebody made up:
// it has an offset.
func zonedSettings(settings []policy.Setting) bool {
	return slices.ContainsFunc(settings, func(s policy.Setting) bool {
		return strings.EqualFold(s.Name(), "TimeZone") && strings.ContainsAny(s.Value(), "0123456789")
	})
}

// zoneless are the types of parameters, and their arrays, whose input reads no time zone.
var zoneless = map[uint32]bool{
	16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 23: true, 25: true, 114: true, 700: true, 701: true, 869: true, 650: true,
	1042: true, 1043: true, 1186: true, 1700: true, 2950: true, 3802: true,
	199: true, 1000: true, 1001: true, 1005: true, 1007: true, 1009: true, 1014: true, 1015: true, 1016: true, 1021: true, 1022: true,
	1187: true, 1231: true, 2951: true, 3807: true,
}
