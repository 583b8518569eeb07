package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// fixedParameter is a parameter that is told, and that no client can change.
type fixedParameter struct {
	name     string
	value    string // "" where it is the session's own: see fixedValues
	reported bool
}

const numFixed = 22

// fixed are the parameters that clients ask for, as Postgres has them if nobody changed them.
var fixed = [numFixed]fixedParameter{
	{"server_version", "", true}, {"server_version_num", "", false}, {"session_authorization", "", true},
	{"server_encoding", "UTF8", true}, {"is_superuser", "off", true}, {"integer_datetimes", "on", true}, {"in_hot_standby", "off", true},
	{"array_nulls", "on", false}, {"backslash_quote", "safe_encoding", false}, {"block_size", "8192", false},
	{"check_function_bodies", "on", false}, {"default_table_access_method", "heap", false}, {"default_tablespace", "", false},
	{"escape_string_warning", "on", false}, {"lc_messages", "C", false},
	{"max_identifier_length", "63", false}, {"max_index_keys", "32", false}, {"quote_all_identifiers", "off", false},
	{"role", "none", false}, {"synchronize_seqscans", "on", false}, {"synchronous_commit", "on", false}, {"xmloption", "content", false},
}

// oldest is the version that clients are told where the database's is not known.
const oldest = "15.0"

func fixedValues(serverID, version string) (values [numFixed]string) {
	if version == "" {
		version = oldest
	}
	for i, p := range fixed {
		values[i] = p.value
	}
	values[0], values[1], values[2] = version, versionNumber(version), serverID
	return values
}

// versionNumber gives server_version_num, as 150004 for "15.4 (Debian …)".
func versionNumber(version string) string {
	number, _, _ := strings.Cut(version, " ")
	major, minor, _ := strings.Cut(number, ".")
	a, errA := strconv.Atoi(strings.TrimRight(major, "abcdefghijklmnopqrstuvwxyz"))
	b, _ := strconv.Atoi(minor)
	if errA != nil || a < 10 || a > 999 || b > 99 || b < 0 {
		return "150000"
	}
	return strconv.Itoa(a*10000 + b)
}

func (s *settings) fixedIndex(name string) int {
	return slices.IndexFunc(fixed[:], func(p fixedParameter) bool { return p.name == name })
}

// fixedAs tells whether a parameter that can't be changed has the value already.
func (s *settings) fixedAs(name, value string) bool {
	i := s.fixedIndex(name)
	return i >= 0 && strings.EqualFold(s.fixed[i], value)
}

// spelled gives a parameter's name as Postgres spells it; "" for one that is not told.
func (s *settings) spelled(name string) string {
	name = strings.ToLower(name)
	if i := indexOf(name); i >= 0 {
		return settable[i].name
	}
	if s.fixedIndex(name) >= 0 || slices.Contains(modeNames, name) {
		return name
	}
	return ""
}

var modeNames = []string{
	"default_transaction_isolation", "default_transaction_read_only", "default_transaction_deferrable",
	"transaction_isolation", "transaction_read_only", "transaction_deferrable",
}

// show gives the value of a parameter that is told, but for those of the open transaction.
func (s *settings) show(name string) string {
	switch name {
	case "default_transaction_isolation":
		return isolation(s.now.modes.Isolation)
	case "default_transaction_read_only":
		return onOff(s.now.modes.ReadOnly)
	case "default_transaction_deferrable":
		return onOff(s.now.modes.Deferrable)
	}
	if i := indexOf(name); i >= 0 {
		return s.now.of[i]
	}
	if i := s.fixedIndex(name); i >= 0 {
		return s.fixed[i]
	}
	return ""
}

func isolation(level string) string {
	if level == "" {
		return "read committed"
	}
	return level
}

// valueOf gives the value of a parameter that is told.
func (s *session) valueOf(name string) string {
	modes := s.modes()
	if s.tx.block() {
		modes = s.tx.modes
	}
	switch name {
	case "transaction_isolation":
		return isolation(modes.Isolation)
	case "transaction_read_only":
		return onOff(modes.ReadOnly)
	case "transaction_deferrable":
		return onOff(modes.Deferrable)
	}
	return s.set.show(name)
}

// describeShow tells the columns of a SHOW.
func (s *session) describeShow(w *frame.Writer, name string, formats []int16) {
	if name == "all" {
		columns := []column{{"name", textType}, {"setting", textType}, {"description", textType}}
		describeColumns(w, columns, formats)
		return
	}
	describeColumns(w, []column{{s.set.spelled(name), textType}}, formats)
}

// knownSetting refuses a parameter that is not told.
func (s *session) knownSetting(name string) error {
	if name == "all" || s.set.spelled(name) != "" {
		return nil
	}
	return unknownParameter(name)
}

// show does SHOW. Its text is the same in both formats.
func (s *session) show(name string) error {
	if name == "all" {
		s.say(s.showAll)
		return nil
	}
	spelled := s.set.spelled(name)
	s.say(func(w *frame.Writer) {
		row(w, s.valueOf(spelled))
		w.Complete("SHOW")
	})
	return nil
}

// showAll tells every parameter, in the order of their names.
func (s *session) showAll(w *frame.Writer) {
	names := slices.Clone(modeNames)
	for _, p := range settable {
		names = append(names, p.name)
	}
	for _, p := range fixed {
		names = append(names, p.name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range names {
		row(w, name, s.valueOf(name), "")
	}
	w.Complete("SHOW")
}

// row writes a DataRow of texts.
func row(w *frame.Writer, texts ...string) {
	at := w.Open(frame.DataRow)
	w.Int16(len(texts))
	for _, text := range texts {
		value := w.OpenValue()
		w.Buf = append(w.Buf, text...)
		w.ShutValue(value)
	}
	w.Shut(at)
}
