package values

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// maxTypes bounds the types that are remembered; beyond it all are forgotten and asked
// again. A type's nature never changes while it exists, and Postgres reuses an OID only
// after four billion others, so nothing here grows old.
const maxTypes = 4096

// RowsSQL gives, for the types $1, what a Type needs, and the same of every type
// that they rest on: a domain on its base, an array on its element. An array is what
// array_out prints: int2vector has elements too, and another text.
const RowsSQL = `WITH RECURSIVE need(oid) AS (
  SELECT pg_catalog.unnest($1::oid[])
  UNION
  SELECT CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END
  FROM need JOIN pg_catalog.pg_type AS t USING (oid)
  WHERE t.typtype = 'd' OR t.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc
)
SELECT oid, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE 0 END,
  CASE WHEN t.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc THEN t.typelem ELSE 0 END,
  t.typdelim
FROM need JOIN pg_catalog.pg_type AS t USING (oid)`

// Types remembers the database's types that builtinType does not know. It is safe for
// concurrent use.
type Types struct {
	mu    sync.RWMutex
	known map[uint32]Type
}

// NewTypes knows the built-in types alone.
func NewTypes() *Types { return &Types{known: map[uint32]Type{}} }

// Get gives a type; ok is false where it must be asked for.
func (t *Types) Get(oid uint32) (known Type, ok bool) {
	if v, ok := builtinType(oid); ok {
		return v, true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	v, ok := t.known[oid]
	return v, ok
}

// Missing lists what a described statement needs and nobody knows yet.
func (t *Types) Missing(d *frame.Description) []uint32 {
	var oids []uint32
	for _, oid := range d.Params {
		if _, ok := t.Get(oid); !ok {
			oids = append(oids, oid)
		}
	}
	for _, c := range d.Columns {
		if _, ok := t.Get(c.OID); !ok {
			oids = append(oids, c.OID)
		}
	}
	return oids
}

// Row is a row of RowsSQL; base and elem are 0 where there is none.
type Row struct {
	base, elem uint32
	delim      byte
}

// ParseRow reads a row of RowsSQL.
func ParseRow(row []byte) (oid uint32, p Row, err error) {
	_, row, err = cells(row)
	var text []byte
	for _, into := range []*uint32{&oid, &p.base, &p.elem} {
		if err == nil {
			text, row, err = cell(row)
		}
		n, err := strconv.ParseUint(string(text), 10, 32)
		if err != nil {
			return 0, p, fmt.Errorf("reading a type: %w", err)
		}
		*into = uint32(n)
	}
	if err == nil {
		text, _, err = cell(row)
	}
	if err == nil && len(text) != 1 {
		err = fmt.Errorf("reading a type: a delimiter of %d bytes", len(text))
	}
	if err != nil {
		return 0, p, err
	}
	p.delim = text[0]
	return oid, p, nil
}

// Learn remembers what rows say of the asked types. One that they don't mention (it was
// dropped meanwhile) counts as text.
func (t *Types) Learn(asked []uint32, rows map[uint32]Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known)+len(asked) > maxTypes {
		clear(t.known)
	}
	for _, oid := range asked {
		t.known[oid] = resolve(oid, rows)
	}
}

func resolve(oid uint32, rows map[uint32]Row) Type {
	oid = baseOf(oid, rows)
	if v, ok := builtinType(oid); ok {
		return v
	}
	p, ok := rows[oid]
	if !ok || p.elem == 0 {
		return scalar(textKind)
	}
	elem, _ := builtinScalar(baseOf(p.elem, rows))
	return Type{kind: arrayKind, elem: elem, delim: rows[p.elem].delim}
}

// baseOf follows domains down to the type they rest on. A domain over an array as an
// element of an array stays text: Postgres prints it as one quoted element.
func baseOf(oid uint32, rows map[uint32]Row) uint32 {
	for rows[oid].base != 0 {
		oid = rows[oid].base
	}
	return oid
}

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
