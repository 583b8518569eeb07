package values

import "github.com/jackc/pgx/v5/pgtype"

// kind is how a value's text becomes JSON, and how an argument becomes a value's text.
// The zero value is a JSON string with Postgres' text in it.
type kind uint8

const (
	textKind        kind = iota
	boolKind             // t, f
	numberKind           // int2, int4, float4, float8: every JSON parser holds them
	exactKind            // int8, numeric: some JSON parsers round them
	jsonKind             // json, jsonb
	byteaKind            // \x… ; base64 in JSON
	timestampKind        // without zone
	timestamptzKind      // in UTC
	arrayKind            // of elem
)

// Type is what encoding and binding need to know of a type.
type Type struct {
	kind  kind
	elem  kind // of an array's elements
	delim byte // between an array's elements
}

func scalar(k kind) Type  { return Type{kind: k} }
func arrayOf(k kind) Type { return Type{kind: arrayKind, elem: k, delim: ','} }

// Wide tells whether a value can be longer on the wire than in JSON, up to twice: two hex
// digits stand for a byte of bytea, and an array quotes an element that it need not.
func (t Type) Wide() bool {
	if t.kind != arrayKind {
		return t.kind == byteaKind
	}
	return t.elem == byteaKind || t.elem == jsonKind || t.elem == timestamptzKind
}

// builtinType knows the common types, so that they need no look-up. What is missing here
// is asked of pg_type once (types_cache.go).
func builtinType(oid uint32) (Type, bool) {
	if k, ok := builtinScalar(oid); ok {
		return scalar(k), true
	}
	if k, ok := builtinElement(oid); ok {
		return arrayOf(k), true
	}
	return Type{}, false
}

func builtinScalar(oid uint32) (kind, bool) {
	switch oid {
	case pgtype.BoolOID:
		return boolKind, true
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Float4OID, pgtype.Float8OID:
		return numberKind, true
	case pgtype.Int8OID, pgtype.NumericOID:
		return exactKind, true
	case pgtype.JSONOID, pgtype.JSONBOID:
		return jsonKind, true
	case pgtype.ByteaOID:
		return byteaKind, true
	case pgtype.TimestampOID:
		return timestampKind, true
	case pgtype.TimestamptzOID:
		return timestamptzKind, true
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID,
		pgtype.UUIDOID, pgtype.DateOID, pgtype.TimeOID, pgtype.TimetzOID, pgtype.IntervalOID,
		pgtype.OIDOID, pgtype.InetOID, pgtype.CIDROID, pgtype.RecordOID, pgtype.QCharOID:
		return textKind, true
	default:
		return textKind, false
	}
}

func builtinElement(oid uint32) (kind, bool) {
	switch oid {
	case pgtype.BoolArrayOID:
		return boolKind, true
	case pgtype.Int2ArrayOID, pgtype.Int4ArrayOID, pgtype.Float4ArrayOID, pgtype.Float8ArrayOID:
		return numberKind, true
	case pgtype.Int8ArrayOID, pgtype.NumericArrayOID:
		return exactKind, true
	case pgtype.JSONArrayOID, pgtype.JSONBArrayOID:
		return jsonKind, true
	case pgtype.ByteaArrayOID:
		return byteaKind, true
	case pgtype.TimestampArrayOID:
		return timestampKind, true
	case pgtype.TimestamptzArrayOID:
		return timestamptzKind, true
	case pgtype.TextArrayOID, pgtype.VarcharArrayOID, pgtype.BPCharArrayOID, pgtype.NameArrayOID,
		pgtype.UUIDArrayOID, pgtype.DateArrayOID, pgtype.TimeArrayOID, pgtype.IntervalArrayOID,
		pgtype.OIDArrayOID:
		return textKind, true
	default:
		return textKind, false
	}
}
