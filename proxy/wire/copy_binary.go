package wire

import (
	"encoding/binary"
	"fmt"
)

// binaryRows reads the binary format of COPY (PostgreSQL manual, COPY, "Binary Format").
type binaryRows struct {
	columns int
	begun   bool
	over    bool // the trailer was there

	measured int // bytes of the row up to the end of the last value that is known to be there
	fields   int // how many values that are
}

const copySignature = "PGCOPY\n\xff\r\n\x00"

func (b *binaryRows) row(data []byte, last bool, r *rowValues) (taken int, err error) {
	switch {
	case b.over && len(data) > 0:
		return 0, badCopy("received copy data after EOF marker")
	case b.over:
		return -1, nil
	case !b.begun:
		taken, err = b.header(data)
		r.header = true
	case len(data) == 0 && last:
		return -1, nil
	default:
		taken, err = b.values(data, r)
	}
	if taken == 0 && err == nil && last {
		return 0, badCopy("unexpected EOF in COPY data")
	}
	return taken, err
}

// header checks what comes before the first row.
func (b *binaryRows) header(data []byte) (taken int, err error) {
	const flags, extension, rows = len(copySignature), len(copySignature) + 4, len(copySignature) + 8
	if n := min(len(data), flags); string(data[:n]) != copySignature[:n] {
		return 0, badCopy("COPY file signature not recognized")
	}
	if len(data) < rows {
		return 0, nil
	}
	if binary.BigEndian.Uint32(data[flags:])>>16 != 0 {
		return 0, badCopy("unrecognized critical flags in COPY file header")
	}
	length := int(int32(binary.BigEndian.Uint32(data[extension:]))) //nolint:gosec // it has a sign
	switch {
	case length < 0:
		return 0, badCopy("invalid COPY file header (missing length)")
	case len(data) < rows+length:
		return 0, nil
	}
	b.begun = true
	return rows + length, nil
}

// values reads a row, or the trailer.
func (b *binaryRows) values(data []byte, r *rowValues) (taken int, err error) {
	if len(data) < 2 {
		return 0, nil
	}
	count := int(int16(binary.BigEndian.Uint16(data))) //nolint:gosec // it has a sign
	if count == -1 {
		b.over, r.header = true, true
		return 2, nil
	}
	if count != b.columns {
		return 0, badCopy(fmt.Sprintf("row field count is %d, expected %d", count, b.columns))
	}
	if whole, err := b.whole(data); !whole {
		return 0, err
	}
	at := 2
	for range count {
		length := valueLength(data[at:])
		at += 4
		if length >= 0 {
			r.memory = append(r.memory, data[at:at+length]...)
			at += length
		}
		r.shut(length < 0)
	}
	b.measured, b.fields = 0, 0
	return at, nil
}

// whole tells whether a row is all there. It goes on where it left off, so that a row which comes
// in many pieces is looked at once.
func (b *binaryRows) whole(data []byte) (bool, error) {
	b.measured = max(b.measured, 2)
	for ; b.fields < b.columns; b.fields++ {
		at := b.measured + 4
		if len(data) < at {
			return false, nil
		}
		length := valueLength(data[b.measured:])
		switch {
		case length < -1:
			return false, badCopy("invalid field size")
		case length > len(data)-at:
			return false, nil
		}
		b.measured = at + max(length, 0)
	}
	return true, nil
}

// valueLength reads how long a value is; -1 is NULL.
func valueLength(data []byte) int {
	return int(int32(binary.BigEndian.Uint32(data))) //nolint:gosec // it has a sign
}
