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
	at := 2
	for range count {
		if len(data) < at+4 {
			return 0, nil
		}
		length := int(int32(binary.BigEndian.Uint32(data[at:]))) //nolint:gosec // -1 is NULL
		at += 4
		switch {
		case length < -1:
			return 0, badCopy("invalid field size")
		case length > len(data)-at:
			return 0, nil
		case length >= 0:
			r.memory = append(r.memory, data[at:at+length]...)
			at += length
		}
		r.shut(length < 0)
	}
	return at, nil
}
