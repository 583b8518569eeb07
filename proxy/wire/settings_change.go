package wire

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// change does SET and RESET.
func (s *session) change(c policy.Command) error {
	next, kept, refusal := s.set.now, s.set.kept, (*proxy.Error)(nil)
	switch {
	case c.Verb == policy.Reset && c.Name == "":
		next, kept = s.set.home, s.set.home
	case c.Verb == policy.Reset || c.Reset:
		next, refusal = s.set.reset(next, c.Name)
		kept, _ = s.set.reset(kept, c.Name)
	default:
		next, refusal = s.set.changed(next, c.Name, c.Value)
		kept, _ = s.set.changed(kept, c.Name, c.Value)
	}
	if refusal != nil {
		return refusal
	}
	tag := "SET"
	if c.Verb == policy.Reset {
		tag = "RESET"
	}
	if c.Local {
		s.wantBlock("SET LOCAL")
	}
	if err := s.try(next); err != nil {
		return err
	}
	s.set.now = next
	if !c.Local {
		s.set.kept = kept
	}
	s.tag(tag)
	return nil
}

// try has Postgres judge a time zone: it alone knows which there are. One that it does not
// know would fail every statement to come.
func (s *session) try(next *values) error {
	zone := next.of[timeZone]
	if provenZone(zone) || zone == s.set.now.of[timeZone] || zone == s.set.home.of[timeZone] && !s.set.unproved {
		return nil
	}
	if err := s.identify(); err != nil {
		return err
	}
	if err := s.havePlace(); err != nil {
		return err
	}
	before := s.set.now
	s.set.now = next
	err := s.settingsAlone(s.set.all())
	s.set.now = before
	s.set.applied = nil
	return zoneRefused(err, zone)
}

// zoneRefused names a time zone that Postgres does not take, as Postgres does. It is the one
// setting that is not judged before.
func zoneRefused(err error, zone string) error {
	if refusal := refusalIn(err); refusal != nil && strings.HasPrefix(refusal.SQLState, "22") {
		return invalidValue(settable[timeZone].name, zone)
	}
	return err
}

// prove has Postgres judge what the start-up message asked for, before the first exchange.
func (s *session) prove() error {
	if !s.set.unproved {
		return nil
	}
	err := zoneRefused(s.settingsAlone(s.set.all()), s.set.now.of[timeZone])
	if refusal := refusalIn(err); refusal != nil && refusal.Code == policy.InvalidArgument {
		return fatalOf(refusal)
	}
	s.set.unproved = err != nil
	return err
}

// settingsAlone has the link make settings, in the transaction that it has or else in one of
// their own.
func (s *session) settingsAlone(list []policy.Setting) error {
	opened := s.tx.linked()
	x := proxy.Exchange{Settings: list, Resettle: true, Commit: !opened}
	_, err := s.runOn(&x)
	s.leave()
	refusal := refusalIn(err)
	if refusal == nil {
		s.tx.unended = s.tx.unended || s.tx.block() && s.tx.linked()
		return err
	}
	if opened && !s.tx.block() {
		s.tx.on(txEnds)
	}
	return refusal
}
