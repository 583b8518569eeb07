package upstream

import (
	"bytes"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

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
	frame.Description
	tables []policy.TableName // that the text names; nil: any
}

func (d *described) readParams(body []byte) error {
	var m pgproto3.ParameterDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the types of parameters: %w", frame.ErrMalformed)
	}
	d.Params = m.ParameterOIDs
	return nil
}

func (d *described) readColumns(body []byte) error {
	var m pgproto3.RowDescription
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("reading the names of columns: %w", frame.ErrMalformed)
	}
	d.Row = bytes.Clone(body)
	d.Columns = make([]frame.Column, 0, len(m.Fields))
	for _, f := range m.Fields {
		d.Columns = append(d.Columns, frame.Column{Name: string(f.Name), OID: f.DataTypeOID})
	}
	return nil
}
