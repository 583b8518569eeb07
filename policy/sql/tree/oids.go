package tree

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// The types of numbers.
const (
	Int4OID    = 23
	NumericOID = 1700
)

// The types of literals, by their OIDs.
const (
	BoolOID = 16
	int8OID = 20
	TextOID = 25
	bitOID  = 1560
)

// LiteralValue gives a literal as the text of a parameter, and the type that Postgres takes it
// for: none for one in quotation marks.
func LiteralValue(c *pg.A_Const) (value string, oid uint32) {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return strconv.Itoa(int(v.Ival.Ival)), Int4OID
	case *pg.A_Const_Fval:
		return v.Fval.Fval, numberOID(v.Fval.Fval)
	case *pg.A_Const_Boolval:
		if v.Boolval.Boolval {
			return "t", BoolOID
		}
		return "f", BoolOID
	case *pg.A_Const_Bsval:
		return v.Bsval.Bsval, bitOID
	}
	return c.GetSval().GetSval(), 0
}

// numberOID is the type of a number that is longer than an int4's digits or has a sign: as in Postgres that of the least size.
func numberOID(text string) uint32 {
	digits, base := strings.ReplaceAll(text, "_", ""), 10
	if len(digits) > 2 && strings.ContainsRune("xXoObB", rune(strings.TrimLeft(digits, "-")[1])) { // from version 16 on
		base = 0
	}
	n, err := strconv.ParseInt(digits, base, 64)
	switch {
	case err != nil:
		return NumericOID
	case n == int64(int32(n)): //nolint:gosec // that is what is asked
		return Int4OID
	}
	return int8OID
}
