package policy

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// isID tells whether an argument is a server's id as a text.
func isID(a Arg, server string) bool {
	return (a.Kind == String || a.Kind == Number) && a.Text == server
}

// isIDOf is isID for a value that is given to a scope column of a type, in whichever of
// Postgres' formats. One of a type that is not known here is not the id.
func isIDOf(a Arg, server string, t tree.TypeName) bool {
	if a.Kind != Binary {
		return isID(a, server)
	}
	id, ok := decoded(a.Text, t)
	return ok && id == server
}

// decoded gives a value of Postgres' binary format as its text. An integer may be of
// another width than the column, since the client may say so.
func decoded(raw string, t tree.TypeName) (string, bool) {
	switch t.Name {
	case "text", "varchar", "bpchar", "citext":
		return raw, true
	case "uuid":
		return uuidText(raw)
	case "int2", "int4", "int8":
		return integerText(raw)
	}
	return "", false
}

func uuidText(raw string) (string, bool) {
	if len(raw) != 16 {
		return "", false
	}
	h := hex.EncodeToString([]byte(raw))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], true
}

func integerText(raw string) (string, bool) {
	var n int64
	switch b := []byte(raw); len(b) {
	case 2:
		n = int64(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // two's complement
	case 4:
		n = int64(int32(binary.BigEndian.Uint32(b))) //nolint:gosec // two's complement
	case 8:
		n = int64(binary.BigEndian.Uint64(b)) //nolint:gosec // two's complement
	default:
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}
