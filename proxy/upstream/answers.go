package upstream

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// The types of the messages that come (PostgreSQL manual, "Message Formats").
const (
	bindComplete         = '2'
	commandComplete      = 'C'
	dataRow              = 'D'
	errorResponse        = 'E'
	noData               = 'n'
	noticeResponse       = 'N'
	notificationResponse = 'A'
	parameterDescription = 't'
	parameterStatus      = 'S'
	readyForQuery        = 'Z'
	rowDescription       = 'T'
)

// cell takes the next value off a row, nil for NULL.
func cell(row []byte) (value, rest []byte, err error) {
	if len(row) < 4 {
		return nil, nil, errMalformed
	}
	n, rest := int32(binary.BigEndian.Uint32(row)), row[4:] //nolint:gosec // -1 is NULL
	switch {
	case n == -1:
		return nil, rest, nil
	case n < 0 || int(n) > len(rest):
		return nil, nil, errMalformed
	}
	return rest[:n:n], rest[n:], nil
}

// cells takes the number of values off a row.
func cells(row []byte) (n int, rest []byte, err error) {
	if len(row) < 2 {
		return 0, nil, errMalformed
	}
	return int(binary.BigEndian.Uint16(row)), row[2:], nil
}

// serverError is what an ErrorResponse says: a *pgconn.PgError, if it is well formed.
func serverError(body []byte) error {
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading an error: %w", errMalformed)
	}
	return pgconn.ErrorResponseToPgError(&m)
}

// described is what Postgres says of a prepared statement.
type described struct {
	params  []uint32 // their types' OIDs
	columns []column
}

type column struct {
	name string
	oid  uint32 // of its type
}

func (d *described) readParams(body []byte) error {
	var m pgproto3.ParameterDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the types of parameters: %w", errMalformed)
	}
	d.params = m.ParameterOIDs
	return nil
}

func (d *described) readColumns(body []byte) error {
	var m pgproto3.RowDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the names of columns: %w", errMalformed)
	}
	d.columns = make([]column, 0, len(m.Fields))
	for _, f := range m.Fields {
		d.columns = append(d.columns, column{string(f.Name), f.DataTypeOID})
	}
	return nil
}
