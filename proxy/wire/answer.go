package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// answer is a statement that is answered without the database: a SELECT of facts about the
// session, or a driver's look-up of types.
type answer struct {
	columns []column
	facts   []fact // of the one row there is
	table   [][2]uint32
}

// column is one of a result.
type column struct {
	name string
	of   typeOf
}

// typeOf is a type of Postgres' as a RowDescription tells it.
type typeOf struct {
	oid    uint32
	length int // -1: it has none of its own
}

var (
	textType = typeOf{25, -1}
	nameType = typeOf{19, 64}
	int4Type = typeOf{23, 4}
	oidType  = typeOf{26, 4}
)

// fact is a value of the session's; there is false for NULL.
type fact func(*session) (value string, there bool)

// functions are the facts by the names of Postgres' functions.
var functions = map[string]struct {
	of   typeOf
	give fact
	bare bool // written without parentheses, or also
	call bool // written with them
}{
	"version":          {textType, func(s *session) (string, bool) { return "PostgreSQL " + s.set.fixed[0] + " (tenantgate)", true }, false, true},
	"current_schema":   {nameType, func(*session) (string, bool) { return "public", true }, true, true},
	"current_database": {nameType, serverName, false, true},
	"current_catalog":  {nameType, serverName, true, false},
	"current_user":     {nameType, serverName, true, false},
	"current_role":     {nameType, serverName, true, false},
	"session_user":     {nameType, serverName, true, false},
	"user":             {nameType, serverName, true, false},
	"pg_backend_pid":   {int4Type, func(s *session) (string, bool) { return strconv.Itoa(int(s.c.process)), true }, false, true},
}

func serverName(s *session) (string, bool) { return s.c.serverID, true }

// setting gives the fact that a run-time parameter is.
func setting(name string) fact {
	return func(s *session) (string, bool) {
		spelled := s.set.spelled(name)
		return s.valueOf(spelled), spelled != ""
	}
}

// describe tells the columns.
func (a *answer) describe(w *frame.Writer, formats []int16) { describeColumns(w, a.columns, formats) }

// describeColumns writes a RowDescription.
func describeColumns(w *frame.Writer, columns []column, formats []int16) {
	at := w.Open(frame.RowDescription)
	w.Int16(len(columns))
	for i, c := range columns {
		w.Text(c.name)
		w.Int32(0) // it is no column of a table's
		w.Int16(0)
		w.Int32(int(c.of.oid))
		w.Int16(c.of.length)
		w.Int32(-1)
		w.Int16(formatOf(formats, i))
	}
	w.Shut(at)
}

// formatOf is the format of a column, by the formats of a Bind.
func formatOf(formats []int16, i int) int {
	switch {
	case len(formats) == 1:
		return int(formats[0])
	case i < len(formats):
		return int(formats[i])
	}
	return 0
}

// rows tells the rows, and that there are no more.
func (a *answer) rows(w *frame.Writer, s *session, formats []int16) {
	for _, oids := range a.table {
		at := w.Open(frame.DataRow)
		w.Int16(len(oids))
		for i, oid := range oids {
			number4(w, oid, formatOf(formats, i))
		}
		w.Shut(at)
	}
	if a.table != nil {
		complete(w, "SELECT "+strconv.Itoa(len(a.table)))
		return
	}
	at := w.Open(frame.DataRow)
	w.Int16(len(a.facts))
	for i, give := range a.facts {
		switch value, there := give(s); {
		case !there:
			w.Null()
		case a.columns[i].of == int4Type:
			n, _ := strconv.ParseUint(value, 10, 32)
			number4(w, uint32(n), formatOf(formats, i))
		default:
			v := w.OpenValue()
			w.Buf = append(w.Buf, value...)
			w.ShutValue(v)
		}
	}
	w.Shut(at)
	complete(w, "SELECT 1")
}

// number4 writes a number of four bytes, in either format.
func number4(w *frame.Writer, n uint32, format int) {
	v := w.OpenValue()
	if format == 1 {
		w.Buf = binary.BigEndian.AppendUint32(w.Buf, n)
	} else {
		w.Buf = strconv.AppendUint(w.Buf, uint64(n), 10)
	}
	w.ShutValue(v)
}

func unknownParameter(name string) *proxy.Error {
	return &proxy.Error{Code: policy.InvalidArgument, SQLState: "42704",
		Message: fmt.Sprintf("unrecognized configuration parameter %q", printable(name)),
		Hint:    "Only the parameters that clients commonly ask for are answered."}
}

// answered gives the answer to a text that needs no database, nil for any other. Nothing but
// words of a closed list is looked at, and the first other one ends it.
func answered(text string) *answer {
	const longest = 4 << 10 // bytes; nobody asks for that much
	if len(text) > longest {
		return nil
	}
	t := words{rest: text}
	if !strings.EqualFold(t.next(), "select") {
		return nil
	}
	var a answer
	for {
		if !t.fact(&a) {
			return answeredTypes(text)
		}
		switch t.next() {
		case ",":
		case ";":
			if t.next() != "" || t.broken {
				return nil
			}
			known := a
			return &known
		case "":
			if t.broken {
				return nil
			}
			known := a
			return &known
		default:
			return nil
		}
	}
}

// fact reads one item of the list, with its alias.
func (t *words) fact(a *answer) bool {
	name := strings.ToLower(t.next())
	qualified := name == "pg_catalog"
	if qualified {
		if t.next() != "." {
			return false
		}
		name = strings.ToLower(t.next())
	}
	c := column{name: name}
	var give fact
	f, known := functions[name]
	called := t.peek() == "("
	switch {
	case name == "current_setting" && called:
		var ok bool
		if give, ok = t.currentSetting(); !ok {
			return false
		}
		c.of = textType
	case !known || called && !f.call || !called && (qualified || !f.bare):
		return false
	default:
		if called {
			if t.next(); t.next() != ")" {
				return false
			}
		}
		c.of, give = f.of, f.give
	}
	c.name = strings.Clone(name) // it was a view
	if !t.alias(&c) {
		return false
	}
	a.columns, a.facts = append(a.columns, c), append(a.facts, give)
	return len(a.facts) <= 32
}

// currentSetting reads the arguments of current_setting.
func (t *words) currentSetting() (fact, bool) {
	t.next()
	literal := t.next()
	if len(literal) < 2 || literal[0] != '\'' {
		return nil, false
	}
	name := strings.Clone(literal[1 : len(literal)-1])
	var none settings
	known := none.spelled(name) != ""
	switch t.next() {
	case ")":
		return setting(name), known
	case ",":
		missing, valid := parseBool(t.next())
		return setting(name), valid && (known || missing) && t.next() == ")"
	}
	return nil, false
}

// alias reads what a column is called, if that is said.
func (t *words) alias(c *column) bool {
	next := t.peek()
	as := strings.EqualFold(next, "as")
	if as {
		t.next()
		next = t.peek()
	}
	switch {
	case next == "" || next == "," || next == ";":
		return !as
	case next[0] == '"':
		c.name = strings.Clone(next[1 : len(next)-1])
	case isWord(next[0]) && as: // without AS, a keyword could follow
		c.name = strings.Clone(strings.ToLower(next))
	default:
		return false
	}
	t.next()
	return true
}

// words reads a text token by token; what it does not know ends it.
type words struct {
	rest   string
	broken bool
}

func isWord(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (t *words) peek() string {
	ahead := *t
	return ahead.next()
}

// next gives the next token, "" at the end or where there is none that it knows.
func (t *words) next() string {
	t.rest = strings.TrimLeft(t.rest, " \t\r\n\f\v")
	if t.rest == "" {
		return ""
	}
	n := 0
	switch b := t.rest[0]; {
	case isWord(b):
		for n = 1; n < len(t.rest) && (isWord(t.rest[n]) || t.rest[n] >= '0' && t.rest[n] <= '9'); n++ {
		}
		if n < len(t.rest) && (t.rest[n] >= 0x80 || t.rest[n] == '$') {
			n = 0
		}
	case strings.IndexByte(",;().", b) >= 0:
		n = 1
	case b == '"' || b == '\'':
		if end := strings.IndexByte(t.rest[1:], b); end > 0 {
			n = end + 2
			if n < len(t.rest) && t.rest[n] == b || strings.IndexByte(t.rest[:n], '\\') >= 0 {
				n = 0
			}
		}
	}
	if n == 0 {
		t.broken, t.rest = true, ""
		return ""
	}
	token := t.rest[:n]
	t.rest = t.rest[n:]
	return token
}
