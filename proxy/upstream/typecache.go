package upstream

import (
	"fmt"
	"strconv"
	"sync"
)

// maxTypes bounds the types that are remembered; beyond it all are forgotten and asked
// again. A type's nature never changes while it exists, and Postgres reuses an OID only
// after four billion others, so nothing here grows old.
const maxTypes = 4096

// typesSQL gives, for the types $1, what a valueType needs, and the same of every type
// that they rest on: a domain on its base, an array on its element. An array is what
// array_out prints: int2vector has elements too, and another text.
const typesSQL = `WITH RECURSIVE need(oid) AS (
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

// types remembers the database's types that builtinType does not know. It is safe for
// concurrent use.
type types struct {
	mu    sync.RWMutex
	known map[uint32]valueType
}

func newTypes() *types { return &types{known: map[uint32]valueType{}} }

func (t *types) get(oid uint32) (valueType, bool) {
	if v, ok := builtinType(oid); ok {
		return v, true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	v, ok := t.known[oid]
	return v, ok
}

// missing lists what a described statement needs and nobody knows yet.
func (t *types) missing(d described) []uint32 {
	var oids []uint32
	for _, oid := range d.Params {
		if _, ok := t.get(oid); !ok {
			oids = append(oids, oid)
		}
	}
	for _, c := range d.Columns {
		if _, ok := t.get(c.OID); !ok {
			oids = append(oids, c.OID)
		}
	}
	return oids
}

// pgType is a row of typesSQL; base and elem are 0 where there is none.
type pgType struct {
	base, elem uint32
	delim      byte
}

// parsePgType reads a row of typesSQL.
func parsePgType(row []byte) (oid uint32, p pgType, err error) {
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

// learn remembers what rows say of the asked types. One that they don't mention (it was
// dropped meanwhile) counts as text.
func (t *types) learn(asked []uint32, rows map[uint32]pgType) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known)+len(asked) > maxTypes {
		clear(t.known)
	}
	for _, oid := range asked {
		t.known[oid] = resolve(oid, rows)
	}
}

func resolve(oid uint32, rows map[uint32]pgType) valueType {
	oid = baseOf(oid, rows)
	if v, ok := builtinType(oid); ok {
		return v
	}
	p, ok := rows[oid]
	if !ok || p.elem == 0 {
		return scalar(textKind)
	}
	elem, _ := builtinScalar(baseOf(p.elem, rows))
	return valueType{kind: arrayKind, elem: elem, delim: rows[p.elem].delim}
}

// baseOf follows domains down to the type they rest on. A domain over an array as an
// element of an array stays text: Postgres prints it as one quoted element.
func baseOf(oid uint32, rows map[uint32]pgType) uint32 {
	for rows[oid].base != 0 {
		oid = rows[oid].base
	}
	return oid
}
