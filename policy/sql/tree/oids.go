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
		if _, err := strconv.ParseInt(strings.ReplaceAll(v.Fval.Fval, "_", ""), 0, 64); err == nil && !strings.HasPrefix(strings.TrimLeft(v.Fval.Fval, "-"), "0") {
			return v.Fval.Fval, int8OID
		}
		return v.Fval.Fval, NumericOID
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
