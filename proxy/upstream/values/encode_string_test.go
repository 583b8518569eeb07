package values

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// Ensure every text comes back from a JSON parser as it was, whatever stands where among
// the eight bytes that are looked at together.
func TestStringRoundTrip(t *testing.T) {
	const chars = "ab \"\\\x00\x01\x1f\x7f\n\r\té€𝄞/<>&\u2028"
	runes := []rune(chars)
	for range 20_000 {
		var b strings.Builder
		for range rand.IntN(40) {
			b.WriteRune(runes[rand.IntN(len(runes))])
		}
		checkString(t, b.String())
	}
	for c := range 0x110 {
		checkString(t, "1234567"+string(rune(c))+"12345678")
	}
}

func FuzzString(f *testing.F) {
	f.Add("plain")
	f.Add("a\"b\\c\x00")
	f.Fuzz(func(t *testing.T, s string) { checkString(t, strings.ToValidUTF8(s, "?")) })
}

func checkString(t *testing.T, s string) {
	t.Helper()
	var back string
	if err := json.Unmarshal(appendString(nil, []byte(s)), &back); err != nil || back != s {
		t.Fatalf("%q came back as %q, %v", s, back, err)
	}
	if n := len(appendString(nil, []byte(s))); n != stringLen([]byte(s)) {
		t.Fatalf("%q has %d bytes in JSON, measured %d", s, n, stringLen([]byte(s)))
	}
}

// Ensure a malformed array is an error, whatever it looks like.
func TestMalformedArrays(t *testing.T) {
	for _, text := range []string{``, `1`, `{`, `{1`, `{1}}`, `{"a`, `{"a\`, `{1}x`, `[1:2]`, `}`, `x{1}`} {
		if got, err := (&Encoder{Most: 1 << 20}).array(nil, arrayOf(textKind), []byte(text)); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}

func FuzzArray(f *testing.F) {
	f.Add(`{1,NULL,"a\"b",{2}}`)
	f.Add(`[0:1]={"",x}`)
	f.Fuzz(func(_ *testing.T, s string) {
		_, _ = (&Encoder{Most: 1 << 20}).array(nil, arrayOf(byteaKind), []byte(s))
		_, _ = appendLiteral(nil, s, arrayOf(jsonKind))
		_, _ = appendLiteral(nil, s, arrayOf(byteaKind))
	})
}

// Ensure encoding allocates nothing per cell.
func TestRowsAllocateNothing(t *testing.T) {
	e, columns, row := sampleRow()
	buf := make([]byte, 0, 4096)
	n := testing.AllocsPerRun(100, func() {
		if _, err := e.Row(buf, columns, row); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations per row", n)
	}
}

// sampleRow gives a row as Postgres sends it.
func sampleRow() (*Encoder, []Type, []byte) {
	columns := []Type{
		scalar(exactKind), scalar(textKind), scalar(textKind), scalar(boolKind), scalar(timestamptzKind),
		scalar(jsonKind), scalar(byteaKind), arrayOf(textKind), arrayOf(numberKind), scalar(numberKind),
	}
	row := binary.BigEndian.AppendUint16(nil, uint16(len(columns)))
	for _, v := range []string{
		"123456789", "a text of an ordinary length, as in a message", "one\nwith \"escapes\" in it", "t", "2026-01-31 09:15:00.123456+00",
		`{"a": [1, 2, 3]}`, `\x00112233445566778899aabbccddeeff`, `{a,"b c","d\"e",NULL}`, "{1,2,3}", "0.5",
	} {
		row = append(binary.BigEndian.AppendUint32(row, uint32(len(v))), v...)
	}
	return &Encoder{Most: 1 << 20, scratch: make([]byte, 0, 64)}, columns, row
}

func BenchmarkRow(b *testing.B) {
	e, columns, row := sampleRow()
	var buf []byte
	for b.Loop() {
		buf, _ = e.Row(buf[:0], columns, row)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
}

func BenchmarkString(b *testing.B) {
	for name, s := range map[string]string{
		"short": "pending", "clean": strings.Repeat("a text without escapes ", 40), "escapes": strings.Repeat("line \"one\"\n", 80), "é": strings.Repeat("déjà vu ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			v := []byte(s)
			for b.Loop() {
				buf = appendString(buf[:0], v)
			}
			b.SetBytes(int64(len(v)))
			b.ReportAllocs()
		})
	}
}

func BenchmarkArray(b *testing.B) {
	e, t, v := &Encoder{Most: 1 << 20}, arrayOf(numberKind), []byte("{"+strings.Repeat("123456,", 200)+"7}")
	var buf []byte
	for b.Loop() {
		buf, _ = e.array(buf[:0], t, v)
	}
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
}
