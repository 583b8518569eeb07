package upstream

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// cell takes the next value off a row, nil for NULL.
func cell(row []byte) (value, rest []byte, err error) {
	if len(row) < 4 {
		return nil, nil, frame.ErrMalformed
	}
	n, rest := int32(binary.BigEndian.Uint32(row)), row[4:] //nolint:gosec // -1 is NULL
	switch {
	case n == -1:
		return nil, rest, nil
	case n < 0 || int(n) > len(rest):
		return nil, nil, frame.ErrMalformed
	}
	return rest[:n:n], rest[n:], nil
}

// cells takes the number of values off a row.
func cells(row []byte) (n int, rest []byte, err error) {
	if len(row) < 2 {
		return 0, nil, frame.ErrMalformed
	}
	return int(binary.BigEndian.Uint16(row)), row[2:], nil
}

// serverError is what an ErrorResponse says: a *pgconn.PgError, if it is well formed.
func serverError(body []byte, cut bool) error {
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading an error: %w", frame.ErrMalformed)
	}
	pg := pgconn.ErrorResponseToPgError(&m)
	if cut && pg.Where == "" {
		pg.Where = hidden // who raised it may have been cut off: a function can say anything
	}
	return pg
}

// described is what Postgres says of a prepared statement.
type described struct {
	params  []uint32 // their types' OIDs
	columns []column
	raw     []byte             // the content of its RowDescription, all columns in text format; nil: it answers no rows
	tables  []policy.TableName // that the text names; nil: any
}

type column struct {
	name string
	oid  uint32 // of its type
}

func (d *described) readParams(body []byte) error {
	var m pgproto3.ParameterDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the types of parameters: %w", frame.ErrMalformed)
	}
	d.params = m.ParameterOIDs
	return nil
}

func (d *described) readColumns(body []byte) error {
	var m pgproto3.RowDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the names of columns: %w", frame.ErrMalformed)
	}
	d.raw = bytes.Clone(body)
	d.columns = make([]column, 0, len(m.Fields))
	for _, f := range m.Fields {
		d.columns = append(d.columns, column{string(f.Name), f.DataTypeOID})
	}
	return nil
}
