package policy

// Setting is a run-time parameter of Postgres as a client has set it, for its own transactions. The zero value is none, and is
// not sent.
type Setting struct{ name, value string }

// NewSetting gives a setting; false where a client may not set that parameter in the database. The list is closed: nothing in
// it bears on whose rows a statement sees, what it may do or how long it may run. The value is Postgres' to judge.
func NewSetting(name, value string) (Setting, bool) {
	switch name {
	case "DateStyle", "TimeZone", "IntervalStyle", "extra_float_digits", "lock_timeout":
		return Setting{name, value}, true
	}
	return Setting{}, false
}

// Name gives the parameter as Postgres spells it.
func (s Setting) Name() string { return s.name }

// Value gives what it is set to.
func (s Setting) Value() string { return s.value }
