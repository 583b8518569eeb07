package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// settings are a client's run-time parameters, as they are in Postgres: a change lasts when
// its transaction does, and a local one ends with it.
type settings struct {
	now  *values // in force
	kept *values // in force when the transaction is committed
	base *values // as they were when it began
	home *values // those of the session's start, to which RESET goes back

	reported *values       // as the client was told them
	applied  *values       // as the link's transaction has them; nil: not known
	longest  time.Duration // lock_timeout at most
	unproved bool          // home has a value that Postgres itself has to judge, and has not

	listed  *values // whose differing are
	differs []policy.Setting
	fixed   [numFixed]string
}

// values are those of all parameters that a client can change. They are never changed, but
// replaced by others.
type values struct {
	of        [numSettable]string
	statement time.Duration // statement_timeout; 0: the policy's
	idle      time.Duration // idle_in_transaction_session_timeout; 0: the service's
	modes     policy.Modes  // of transactions to come
}

// start makes the settings that a session begins with, out of those that its start-up
// message asks for.
func (s *settings) start(serverID, version string, wanted []asked) error {
	s.fixed = fixedValues(serverID, version)
	v := &values{}
	for i := range settable {
		v.of[i] = settable[i].preset
	}
	s.now, s.kept, s.base, s.home = v, v, v, v
	for _, a := range wanted {
		next, refusal := s.changed(v, strings.ToLower(a.name), a.value)
		if refusal != nil {
			return fatalOf(refusal)
		}
		s.unproved = s.unproved || !provenZone(next.of[timeZone])
		v = next
	}
	s.now, s.kept, s.base, s.home = v, v, v, v
	return nil
}

// changed gives values with one that is other.
func (s *settings) changed(v *values, name, value string) (*values, *proxy.Error) {
	next := *v
	if known, refusal := next.setMode(name, value); known || refusal != nil {
		return &next, refusal
	}
	i := indexOf(name)
	if i < 0 {
		if s.fixedAs(name, value) {
			return v, nil // it changes nothing
		}
		return nil, notSettable(name)
	}
	canonical, refusal := settable[i].check(value, v.of[i])
	if refusal != nil {
		return nil, refusal
	}
	next.of[i] = canonical
	switch i {
	case statementTimeout:
		next.statement, _ = parseSpan(canonical)
	case idleTimeout:
		next.idle, _ = parseSpan(canonical)
	}
	return &next, nil
}

// notSettable refuses a parameter that can't be changed, by a name that is not repeated
// where it is none.
func notSettable(name string) *proxy.Error {
	return unsupported("setting "+printable(name)+" is not supported",
		"A client can set application_name, DateStyle, TimeZone, IntervalStyle, extra_float_digits, statement_timeout, lock_timeout, idle_in_transaction_session_timeout and client_min_messages.")
}

// reset gives values with one as it was at the session's start.
func (s *settings) reset(v *values, name string) (*values, *proxy.Error) {
	next := *v
	switch name {
	case "default_transaction_isolation":
		next.modes.Isolation = s.home.modes.Isolation
	case "default_transaction_read_only":
		next.modes.ReadOnly = s.home.modes.ReadOnly
	case "default_transaction_deferrable":
		next.modes.Deferrable = s.home.modes.Deferrable
	default:
		i := indexOf(name)
		if i < 0 && s.fixedIndex(name) < 0 {
			return nil, notSettable(name)
		}
		if i >= 0 {
			next.of[i] = s.home.of[i]
		}
		if i == statementTimeout {
			next.statement = s.home.statement
		}
		if i == idleTimeout {
			next.idle = s.home.idle
		}
	}
	return &next, nil
}

// resetAll goes back to the session's start.
func (s *settings) resetAll() { s.now, s.kept = s.home, s.home }

// endTransaction keeps the settings of a transaction that was committed, and drops those of any other.
func (s *settings) endTransaction(committed bool) {
	if !committed {
		s.kept = s.base
	}
	s.now, s.base, s.applied = s.kept, s.kept, nil
}

// modes are those that the transaction has which is open, or begins next, where it is given none. As in Postgres it has begun
// with the first message, and what is set later is for those after it.
func (s *settings) modes() policy.Modes { return s.base.modes }

// setModes sets those of transactions to come, where they are given.
func (s *settings) setModes(m policy.Modes) {
	now, kept := *s.now, *s.kept
	now.modes, kept.modes = merged(now.modes, m), merged(kept.modes, m)
	s.now, s.kept = &now, &kept
}

// timeout bounds each statement; 0: the policy alone does.
func (s *settings) timeout() time.Duration { return s.now.statement }

// differing gives the settings that a connection does not have already. The list is made
// once for the same values.
func (s *settings) differing() []policy.Setting {
	if s.listed != s.now {
		s.listed, s.differs = s.now, s.list(true)
	}
	return s.differs
}

// all gives the settings that are made in the database, those that are as a connection has
// them, too.
func (s *settings) all() []policy.Setting { return s.list(false) }

func (s *settings) list(differing bool) []policy.Setting {
	var list []policy.Setting
	for i, p := range settable {
		if differing && s.now.of[i] == p.preset {
			continue
		}
		if setting, made := policy.NewSetting(p.name, s.made(i)); made {
			list = append(list, setting)
		}
	}
	return list
}

// made gives the value of a setting for the database: waits for locks end when they must.
func (s *settings) made(i int) string {
	if i != lockTimeout {
		return s.now.of[i]
	}
	wait, _ := parseSpan(s.now.of[i])
	if wait <= 0 || wait > s.longest {
		wait = s.longest
	}
	return strconv.FormatInt(max(wait.Milliseconds(), 1), 10)
}

// greet tells all settings that Postgres reports.
func (s *settings) greet(w *frame.Writer) {
	for i, p := range fixed {
		if p.reported {
			parameterStatus(w, p.name, s.fixed[i])
		}
	}
	for i, p := range settable {
		if p.reported {
			parameterStatus(w, p.name, s.now.of[i])
		}
	}
	parameterStatus(w, "default_transaction_read_only", s.show("default_transaction_read_only"))
	s.reported = s.now
}

// report sends those that have changed since the client was sent them.
func (s *settings) report(w *frame.Writer) {
	if s.reported == s.now {
		return
	}
	before := s.reported
	s.reported = s.now
	for i, p := range settable {
		if p.reported && before.of[i] != s.now.of[i] {
			parameterStatus(w, p.name, s.now.of[i])
		}
	}
	if onOff(before.modes.ReadOnly) != onOff(s.now.modes.ReadOnly) {
		parameterStatus(w, "default_transaction_read_only", onOff(s.now.modes.ReadOnly))
	}
}

func parameterStatus(w *frame.Writer, name, value string) {
	at := w.Open(frame.ParameterStatus)
	w.Text(name)
	w.Text(value)
	w.Shut(at)
}

// indexOf finds a parameter that can be changed by its name in lower case; -1: there is none.
func indexOf(name string) int {
	return slices.IndexFunc(settable[:], func(p parameter) bool { return strings.EqualFold(p.name, name) })
}
