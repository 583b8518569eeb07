package wire

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// copying is a COPY FROM STDIN: rows that a client sends are decoded and inserted one by
// one, as the gate approved it.
type copying struct {
	s      *session
	insert *policy.Approved
	text   string // of the COPY
	table  string // for messages
	style  policy.CopyStyle
	rows   rowReader
	count  int64 // of rows that were inserted; a trigger can leave some out
	lines  int   // of the data, the header among them
	over   bool

	data []byte // that has come and was not taken yet
	held int    // bytes of the budget for long messages that it takes

	stopped atomic.Bool             // by a cancel request
	end     context.CancelCauseFunc // which calls this
}

// rowReader cuts rows out of the data as it comes. All that it gives is valid until its next
// call.
type rowReader interface {
	// row reads one row from the front of the data, and tells how many bytes it took: none
	// where it is not all there, -1 where no more rows are to come. With last there comes no
	// more data.
	row(data []byte, last bool, r *rowValues) (taken int, err error)
}

// rowValues are the values of one row.
type rowValues struct {
	memory []byte
	ends   []int  // of each value, in memory
	nulls  []bool // which of them are NULL
	header bool   // it is no row, but to be left out
}

func (r *rowValues) reset() {
	r.memory, r.ends, r.nulls, r.header = within(r.memory, maxMemory), r.ends[:0], r.nulls[:0], false
}

// shut ends a value.
func (r *rowValues) shut(null bool) {
	r.ends, r.nulls = append(r.ends, len(r.memory)), append(r.nulls, null)
}

// copyIn takes in the rows of a COPY FROM STDIN.
func (s *session) copyIn(insert *policy.Approved, text string) error {
	s.about.text = strings.Clone(text) // its message is gone with the next one
	c := copying{s: s, insert: insert, text: s.about.text, table: copiedTable(text), style: insert.Command().Copy}
	if err := s.havePlace(); err != nil {
		return err
	}
	c.rows, c.end = newRowReader(c.style), c.stop
	if err := c.ask(); err != nil {
		return err
	}
	s.copied = &c
	err := c.takeAll()
	switch refusal := refusalIn(err); {
	case err == nil: // the last rows go with what ends the transaction
		s.batch.add(proxy.Step{Verb: proxy.Copied, Before: c.count}, note{kind: insert.Kind(), text: s.about.text})
	case refusal != nil:
		s.recorder().Statement(string(insert.Kind()), string(refusal.Code))
		if s.about.where == "" && c.lines > 0 {
			s.about.where = c.at(c.lines)
		}
	}
	return err
}

// newRowReader gives what reads rows of a style.
func newRowReader(style policy.CopyStyle) rowReader {
	switch style.Format {
	case policy.CopyBinary:
		return &binaryRows{columns: style.Columns}
	case policy.CopyCSV:
		return &lineRows{lines: lines{quote: style.Quote, escape: style.Escape, csv: true}, style: style, value: csvValue}
	}
	return &lineRows{style: style, value: textValue}
}

// copiedTable is the table's name as the text of a COPY has it.
func copiedTable(text string) string {
	t := words{rest: text}
	t.next()
	table := t.next()
	if t.peek() == "." {
		t.next()
		table = t.next()
	}
	return strings.Clone(strings.Trim(table, `"`))
}

// at is the context of an error in a line.
func (c *copying) at(line int) string { return fmt.Sprintf("COPY %s, line %d", c.table, line) }

// ask tells the client to send its rows.
func (c *copying) ask() error {
	w, format := &c.s.c.out, 0
	if c.style.Format == policy.CopyBinary {
		format = 1
	}
	at := w.Open(frame.CopyInResponse)
	w.Byte(byte(format))
	w.Int16(c.style.Columns)
	for range c.style.Columns {
		w.Int16(format)
	}
	w.Shut(at)
	return w.Flush()
}

// insertAll inserts the rows that are there, and gives what is left.
func (c *copying) insertAll(data []byte, last bool) (rest []byte, ended bool, err error) {
	var r rowValues
	at := 0
	for at < len(data) || last {
		if c.stopped.Load() {
			return nil, false, errCopyCancelled()
		}
		r.reset()
		taken, err := c.rows.row(data[at:], last, &r)
		switch {
		case err != nil:
			c.lines++
			return nil, false, err
		case taken < 0:
			return nil, true, nil
		case taken == 0:
			return tail(data, at), false, nil
		}
		at += taken
		if c.lines++; !r.header && len(r.ends) > 0 {
			if err := c.insertRow(&r); err != nil {
				return nil, false, err
			}
		}
	}
	return tail(data, at), false, nil
}

// insertRow collects the INSERT of one row.
func (c *copying) insertRow(r *rowValues) error {
	b := &c.s.batch
	first, start := len(b.args), 0
	for i, end := range r.ends {
		arg := argOf(b.keep(r.memory[start:end:end]), r.nulls[i], c.style.Format == policy.CopyBinary)
		b.args, start = append(b.args, arg), end
	}
	if err := c.s.identify(); err != nil {
		return err
	}
	bound, err := c.s.bound(c.insert, b.args[first:len(b.args):len(b.args)])
	if err != nil {
		return err
	}
	b.add(proxy.Step{Verb: proxy.Quiet, Bound: bound}, note{text: c.text, line: c.lines})
	if b.full() {
		return c.send()
	}
	return nil
}

// badCopy refuses data that is not as it must be.
func badCopy(message string) error { return pgError("22P04", message) }

// checkCount compares the number of values with that of the columns.
func checkCount(got, want int) error {
	switch {
	case got < want:
		return badCopy("missing data for column " + strconv.Itoa(got+1))
	case got > want:
		return badCopy("extra data after last expected column")
	}
	return nil
}
