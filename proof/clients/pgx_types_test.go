package clients_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// sent are parameters of each common type: a column of table samples, its type, a value, and
// the text that Postgres has for it.
var sent = []struct {
	column, typ string
	value       any
	text        string
}{
	{"i2", "int2", int16(math.MinInt16), "-32768"},
	{"i4", "int4", int32(math.MaxInt32), "2147483647"},
	{"i8", "int8", int64(math.MinInt64), "-9223372036854775808"},
	{"num", "numeric", number("-12345678901234567890.1234567890"), "-12345678901234567890.1234567890"},
	{"f4", "float4", float32(1.5), "1.5"},
	{"f8", "float8", math.Inf(-1), "-Infinity"},
	{"b", "bool", true, "true"},
	{"t", "text", "ü ∑ 🐘 'quoted' \\ \"\n\t", "ü ∑ 🐘 'quoted' \\ \"\n\t"},
	{"vc", "varchar", "", ""},
	{"raw", "bytea", []byte{0, 0xff, '\\', '\''}, `\x00ff5c27`},
	{"d", "date", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "2024-02-29"},
	{"tm", "time", pgtype.Time{Microseconds: 86399999999, Valid: true}, "23:59:59.999999"},
	{"ts", "timestamp", pgtype.Timestamp{Time: time.Date(1969, 12, 31, 23, 59, 59, 123456000, time.UTC), Valid: true}, "1969-12-31 23:59:59.123456"},
	{"tz", "timestamptz", pgtype.Timestamptz{Time: time.Date(2024, 2, 29, 12, 34, 56, 0, time.FixedZone("", 5*3600+1800)), Valid: true}, "2024-02-29 07:04:56+00"},
	{"iv", "interval", pgtype.Interval{Months: 14, Days: -3, Microseconds: 4500000, Valid: true}, "1 year 2 mons -3 days +00:00:04.5"},
	{"u", "uuid", pgtype.UUID{Bytes: [16]byte{0x6f, 15: 0xff}, Valid: true}, "6f000000-0000-0000-0000-0000000000ff"},
	{"j", "json", `{"a":  1}`, `{"a":  1}`},
	{"jb", "jsonb", `{"b":[true,null,"ü"]}`, `{"b": [true, null, "ü"]}`},
	{"ints", "int4[]", []int32{1, -2, 3}, "{1,-2,3}"},
	{"texts", "text[]", []string{"a", "", "b c", `q"\`, "NULL"}, `{a,"","b c","q\"\\","NULL"}`},
}

func number(text string) (n pgtype.Numeric) {
	if err := n.Scan(text); err != nil {
		panic(err)
	}
	return n
}

// pgxTypes has each value sent back, alone, as NULL, and all in one statement.
func pgxTypes(t *testing.T, conn *pgx.Conn) {
	var list []string
	var args []any
	for n, s := range sent {
		back, text := reflect.New(reflect.TypeOf(s.value)), ""
		query := fmt.Sprintf("SELECT $1::%s, $1::%s::text", s.typ, s.typ)
		if err := conn.QueryRow(t.Context(), query, s.value).Scan(back.Interface(), &text); err != nil {
			t.Errorf("%s: %v", s.typ, err)
			continue
		}
		equal(t, s.typ, text, s.text)
		if want := fmt.Sprint(s.value); s.typ != "json" && s.typ != "jsonb" && s.typ != "timestamptz" && fmt.Sprint(back.Elem().Interface()) != want {
			t.Errorf("%s: %v came back as %v", s.typ, want, back.Elem().Interface())
		}
		var none *string
		if err := conn.QueryRow(t.Context(), query, nil).Scan(nil, &none); err != nil || none != nil {
			t.Errorf("%s: NULL: %v %v", s.typ, none, err)
		}
		list, args = append(list, fmt.Sprintf("$%d::%s::text", n+1, s.typ)), append(args, s.value)
	}
	texts := make([]string, len(list))
	into := make([]any, len(list))
	for n := range texts {
		into[n] = &texts[n]
	}
	if err := conn.QueryRow(t.Context(), "SELECT "+strings.Join(list, ", "), args...).Scan(into...); err != nil {
		t.Fatal(err)
	}
	for n, s := range sent {
		equal(t, "all: "+s.typ, texts[n], s.text)
	}
}

// pgxStored writes each value to its column and finds the row by it.
func pgxStored(t *testing.T, conn *pgx.Conn) {
	columns, places := []string{"id"}, []string{"$1"}
	args := []any{100}
	for n, s := range sent {
		columns, places, args = append(columns, s.column), append(places, fmt.Sprintf("$%d", n+2)), append(args, s.value)
	}
	exec1(t, conn, "INSERT INTO samples ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(places, ", ")+")", args...)
	for _, s := range sent {
		equal(t, s.column, value[string](t, conn, "SELECT "+s.column+"::text FROM samples WHERE id = 100"), s.text)
		back := reflect.New(reflect.TypeOf(s.value))
		if err := conn.QueryRow(t.Context(), "SELECT "+s.column+" FROM samples WHERE id = $1", 100).Scan(back.Interface()); err != nil {
			t.Errorf("%s: %v", s.column, err)
		}
		if s.typ == "json" {
			continue
		}
		found := value[int64](t, conn, "SELECT id FROM samples WHERE "+s.column+" = $1::"+s.typ, s.value)
		equal(t, "found by "+s.column, found, 100)
	}
	exec1(t, conn, "UPDATE samples SET t = $1, ints = $2, jb = $3 WHERE id = 100", nil, nil, nil)
	equal(t, "NULL", value[bool](t, conn, "SELECT t IS NULL AND ints IS NULL AND jb IS NULL FROM samples WHERE id = 100"), true)
}
