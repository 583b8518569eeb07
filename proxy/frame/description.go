package frame

import (
	"bytes"
	"slices"
)

// Description is what Postgres says of a statement that it has parsed. The zero value is that of one
// without parameters and rows.
type Description struct {
	Params  []uint32 // the types of its parameters, by their OIDs
	Columns []Column
	Row     []byte // the content of its RowDescription, all columns in text format; nil: it answers no rows
}

// Column is one of a result's.
type Column struct {
	Name string
	OID  uint32 // of its type
}

// Equal tells whether two descriptions say the same.
func (d *Description) Equal(other *Description) bool {
	return slices.Equal(d.Params, other.Params) && bytes.Equal(d.Row, other.Row)
}
