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
	boolType = typeOf{16, 1}
	int4Type = typeOf{23, 4}
	oidType  = typeOf{26, 4}
	voidType = typeOf{2278, 4}
)

// functions are the facts by the names of Postgres' functions.
var functions = map[string]struct {
	of   typeOf
	give fact
	bare bool // written without parentheses, or also
	call bool // written with them
}{
	"version":                {textType, func(s *session) (string, bool) { return "PostgreSQL " + s.set.fixed[0] + " (tenantgate)", true }, false, true},
	"current_schema":         {nameType, func(*session) (string, bool) { return "public", true }, true, true},
	"current_database":       {nameType, serverName, false, true},
	"current_catalog":        {nameType, serverName, true, false},
	"current_user":           {nameType, serverName, true, false},
	"current_role":           {nameType, serverName, true, false},
	"session_user":           {nameType, serverName, true, false},
	"user":                   {nameType, serverName, true, false},
	"pg_advisory_unlock_all": {voidType, func(*session) (string, bool) { return "", true }, false, true},  // nobody can have one
	"pg_is_in_recovery":      {boolType, func(*session) (string, bool) { return "f", true }, false, true}, // as in_hot_standby
	"pg_backend_pid":         {int4Type, func(s *session) (string, bool) { return strconv.Itoa(int(s.c.process)), true }, false, true},
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
		w.Complete("SELECT " + strconv.Itoa(len(a.table)))
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
		case a.columns[i].of == boolType && formatOf(formats, i) == 1:
			v := w.OpenValue()
			w.Byte(0) // false: nothing that is answered is true
			w.ShutValue(v)
		default:
			v := w.OpenValue()
			w.Buf = append(w.Buf, value...)
			w.ShutValue(v)
		}
	}
	w.Shut(at)
	w.Complete("SELECT 1")
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
	hint := "Only the parameters that clients commonly ask for are answered."
	if strings.EqualFold(name, "password_encryption") { // by which \password of psql begins
		hint = "The password is the server's API key: an operator replaces it with tenantgate server rotate-key."
	}
	return &proxy.Error{Code: policy.InvalidArgument, SQLState: "42704", Message: fmt.Sprintf("unrecognized configuration parameter %q", printable(name)), Hint: hint}
}
