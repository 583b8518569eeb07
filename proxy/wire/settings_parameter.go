package wire

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// parameter is a run-time parameter of Postgres' that a client can change.
type parameter struct {
	name     string // as Postgres spells it
	preset   string // the connection's own value
	reported bool   // by ParameterStatus
	// check gives a value in Postgres' spelling, or refuses it. before is the value so far.
	check func(value, before string) (string, *proxy.Error)
}

// The places of the parameters that are asked for by name.
const (
	dateStyle        = 2
	timeZone         = 3
	statementTimeout = 7
	idleTimeout      = 8

	lockTimeout = 13

	numSettable = 14
)

var settable = [numSettable]parameter{
	{name: "application_name", reported: true, check: applicationName},
	{name: "client_encoding", preset: "UTF8", reported: true, check: clientEncoding},
	{name: "DateStyle", preset: "ISO, YMD", reported: true, check: checkDateStyle},
	{name: "TimeZone", preset: "UTC", reported: true, check: checkTimeZone},
	{name: "IntervalStyle", preset: "postgres", reported: true,
		check: oneOf("IntervalStyle", "postgres", "postgres_verbose", "sql_standard", "iso_8601")},
	{name: "extra_float_digits", preset: "1", check: extraFloatDigits},
	{name: "bytea_output", preset: "hex", check: only("bytea_output", "hex")},
	{name: "statement_timeout", preset: "0", check: checkSpan("statement_timeout")},
	{name: "idle_in_transaction_session_timeout", preset: "0", check: checkSpan("idle_in_transaction_session_timeout")},
	{name: "search_path", preset: `"$user", public`, check: searchPath},
	{name: "standard_conforming_strings", preset: "on", reported: true, check: onlyOn("standard_conforming_strings")},
	{name: "client_min_messages", preset: "notice", check: oneOf("client_min_messages",
		"debug5", "debug4", "debug3", "debug2", "debug1", "log", "info", "notice", "warning", "error")},
	{name: "row_security", preset: "on", check: onlyOn("row_security")},
	{name: "lock_timeout", preset: "0", check: checkSpan("lock_timeout")},
}

// invalidValue is Postgres' refusal of a value.
func invalidValue(name, value string) *proxy.Error {
	return &proxy.Error{Code: policy.InvalidArgument, SQLState: "22023", Message: "invalid value for parameter \"" + name + "\": \"" + printable(value) + "\""}
}

// unsupportedValue refuses a value that Postgres would take.
func unsupportedValue(name, value, takes string) *proxy.Error {
	return unsupported("setting "+name+" to "+printable(value)+" is not supported", "It can be "+takes+".")
}

// setMode sets a mode of transactions to come; known tells whether the name is one's.
func (v *values) setMode(name, value string) (known bool, refusal *proxy.Error) {
	set := func(mode **bool) *proxy.Error {
		on, valid := parseBool(value)
		if !valid {
			return invalidValue(name, value)
		}
		*mode = &on
		return nil
	}
	switch name {
	case "default_transaction_read_only":
		return true, set(&v.modes.ReadOnly)
	case "default_transaction_deferrable":
		return true, set(&v.modes.Deferrable)
	case "default_transaction_isolation":
		level := strings.ToLower(value)
		if !slices.Contains([]string{"serializable", "repeatable read", "read committed", "read uncommitted"}, level) {
			return true, invalidValue(name, value)
		}
		v.modes.Isolation = level
		return true, nil
	}
	return false, nil
}

func onOff(b *bool) string {
	if b != nil && *b {
		return "on"
	}
	return "off"
}
