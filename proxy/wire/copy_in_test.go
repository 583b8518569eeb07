package wire

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
)

// copied sends data of a COPY in pieces, and gives the answers.
func (w *sitting) copied(text string, pieces ...string) string {
	w.t.Helper()
	messages := []pgproto3.FrontendMessage{&pgproto3.Query{String: text}}
	for _, p := range pieces {
		messages = append(messages, &pgproto3.CopyData{Data: []byte(p)})
	}
	w.send(append(messages, &pgproto3.CopyDone{})...)
	return w.answers()
}

const copyFiles = "COPY messages (id, conversation_id, content) FROM STDIN"

func TestCopy(t *testing.T) {
	w := greeted(t)
	w.is(w.copied(copyFiles, "a\tb\tc\n"), "copyin0 [0 0 0] <COPY 1> I")
	w.is(w.link.did(), `quiet ["a" "b" "c"] copied sync`)
	w.is(w.copied(copyFiles, "a\tb\t\\N\nd\te\t", "f\\tg\\x41\\\\\\101\n\\.\nrest"), "copyin0 [0 0 0] <COPY 2> I")
	w.is(w.link.did(), `quiet ["a" "b" null] quiet ["d" "e" "f\tgA\\A"] copied sync`)
	w.is(w.copied(copyFiles+" (FORMAT csv, HEADER)", "x,y,z\r\na,\"b\r\n\"\"q\"\"\",\r\n\"\",c,d\r\n"), "copyin0 [0 0 0] <COPY 2> I")
	w.is(w.link.did(), `quiet ["a" "b\r\n\"q\"" null] quiet ["" "c" "d"] copied sync`)
	w.is(w.copied(copyFiles), "copyin0 [0 0 0] <COPY 0> I")
	w.is(w.copied(copyFiles, "a\tb\n"), "copyin0 [0 0 0] ERROR 22P04 COPY messages, line 1 I")
	w.is(w.copied(copyFiles, "a\tb\tc\td\n"), "copyin0 [0 0 0] ERROR 22P04 COPY messages, line 1 I")
	w.link.did()
	w.is(w.copied(copyFiles, "a\tb\tc\n", "a\tb\tc\td\n"), "copyin0 [0 0 0] ERROR 22P04 COPY messages, line 2 I")
	w.is(w.link.did(), `quiet ["a" "b" "c"]; rolled back`)
	w.is(w.copied(copyFiles+"; "+all, "a\tb\tc\n"), "copyin0 [0 0 0] <COPY 1> columns() row() <SELECT 1> I")
	if n := w.tally.of("statement insert ok"); n == 0 {
		t.Error("not counted")
	}
}

// Nothing is not NULL, even where it is the first that is kept of what a client sends, or
// the first after memory was given back.
func TestCopyNothing(t *testing.T) {
	for options, c := range map[string]struct{ data, want string }{
		"":                 {"\t\\N\t\n", `quiet ["" null ""] copied sync`},
		" (FORMAT csv)":    {"\"\",,\"\"\n", `quiet ["" null ""] copied sync`},
		" (NULL 'none')":   {"\tnone\t\n", `quiet ["" null ""] copied sync`},
		" (FORMAT binary)": {binaryCopy([]string{"", "null", ""}), `quiet ["" null ""] copied sync`},
	} {
		w := greeted(t)
		for range 2 {
			w.is(strings.ReplaceAll(w.copied(copyFiles+options, c.data), "1 [1 1 1]", "0 [0 0 0]"), "copyin0 [0 0 0] <COPY 1> I")
			w.is(w.link.did(), c.want)
			w.copied(copyFiles, strings.Repeat("a\tb\t"+strings.Repeat("c", 1000)+"\n", 90))
			w.link.did()
		}
	}
}

// Many rows go in several exchanges, and are one transaction all the same.
func TestCopyMany(t *testing.T) {
	w := greeted(t)
	w.is(w.copied(copyFiles, strings.Repeat("a\tb\tc\n", 150)), "copyin0 [0 0 0] <COPY 150> I")
	ran := strings.Split(w.link.did(), "; ")
	if len(ran) != 3 || strings.Count(ran[0], "quiet") != 64 || strings.Count(ran[2], "quiet") != 22 || !strings.HasSuffix(ran[2], "copied sync") {
		t.Errorf("%q", ran)
	}
	w.is(w.copied(copyFiles, strings.Repeat("a\tb\t"+strings.Repeat("c", 20_000)+"\n", 3)), "copyin0 [0 0 0] <COPY 3> I")
	if ran := strings.Split(w.link.did(), "; "); len(ran) != 4 {
		t.Errorf("%d exchanges", len(ran))
	}
	w.link.fails["INSERT"] = pgError("23505", "there already")
	w.is(w.copied(copyFiles, strings.Repeat("a\tb\tc\n", 70)), "copyin0 [0 0 0] ERROR 23505 COPY messages, line 1 I")
	delete(w.link.fails, "INSERT")
	w.query("BEGIN")
	w.is(w.copied(copyFiles, "a\tb\tc\n"), "copyin0 [0 0 0] <COPY 1> T")
	w.is(w.copied(copyFiles, "a\n"), "copyin0 [0 0 0] ERROR 22P04 COPY messages, line 1 E")
	w.is(w.query("COMMIT"), "<ROLLBACK> I")
}

func TestCopyFails(t *testing.T) {
	w := greeted(t)
	w.send(&pgproto3.Query{String: copyFiles}, &pgproto3.CopyData{Data: []byte("a\tb\tc\n")}, &pgproto3.CopyFail{Message: "stop"})
	w.is(w.answers(), "copyin0 [0 0 0] ERROR 57014 COPY messages, line 1 I")
	w.is(w.link.did(), `quiet ["a" "b" "c"]; rolled back`)
	w.send(&pgproto3.Query{String: copyFiles}, &pgproto3.Query{String: all})
	w.is(w.answers(), "copyin0 [0 0 0] FATAL 08P01 end")
}

// In the extended protocol the Sync commits; what comes behind an error is left out.
func TestCopyExtended(t *testing.T) {
	w := greeted(t)
	w.send(append(step(copyFiles), &pgproto3.CopyData{Data: []byte("a\tb\tc\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})...)
	w.is(w.answers(), "parsed bound copyin0 [0 0 0] <COPY 1> I")
	w.send(append(step(copyFiles), &pgproto3.CopyData{Data: []byte("a\n")}, &pgproto3.CopyData{Data: []byte("a\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})...)
	w.is(w.answers(), "parsed bound copyin0 [0 0 0] ERROR 22P04 COPY messages, line 1 I")
}

// binaryCopy writes rows in the binary format.
func binaryCopy(rows ...[]string) string {
	b := []byte(copySignature + "\x00\x00\x00\x00\x00\x00\x00\x02xx")
	for _, row := range rows {
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
		for _, v := range row {
			if v == "null" {
				b = append(b, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
		}
	}
	return string(b) + "\xff\xff"
}

func TestCopyBinary(t *testing.T) {
	w := greeted(t)
	text := copyFiles + " (FORMAT binary)"
	data := binaryCopy([]string{"a", "b", "c"}, []string{"d", "null", ""})
	w.is(w.copied(text, data), "copyin1 [1 1 1] <COPY 2> I")
	w.is(w.link.did(), `quiet ["a" "b" "c"] quiet ["d" null ""] copied sync`)
	w.is(w.copied(text, strings.Split(data, "")...), "copyin1 [1 1 1] <COPY 2> I")
	w.is(w.copied(text, data[:len(data)-2]), "copyin1 [1 1 1] <COPY 2> I")
	w.is(w.copied(text, data[:len(data)-3]), "copyin1 [1 1 1] ERROR 22P04 COPY messages, line 3 I")
	w.is(w.copied(text, data+"x"), "copyin1 [1 1 1] ERROR 22P04 COPY messages, line 5 I")
	w.is(w.copied(text, "PGCOPX"), "copyin1 [1 1 1] ERROR 22P04 COPY messages, line 1 I")
	w.is(w.copied(text, binaryCopy([]string{"a"})), "copyin1 [1 1 1] ERROR 22P04 COPY messages, line 2 I")
	w.is(w.copied(text, strings.Replace(data, "\x00\x00\x00\x00\x00\x00\x00\x02", "\x00\x01\x00\x00\x00\x00\x00\x02", 1)), "copyin1 [1 1 1] ERROR 22P04 COPY messages, line 1 I")
}

// However data is cut into messages, the same rows come out of it.
func TestCopyCuts(t *testing.T) {
	styles := map[string]policy.CopyStyle{
		"a\tb\\\tc\n\\\\\t\\\nx\n\\N\t\\N\n":                 {Delimiter: '\t', Null: `\N`, Columns: 2},
		"a\tb\r\nc\td\r\n":                                   {Delimiter: '\t', Null: `\N`, Columns: 2},
		"a\tb\rc\td\r":                                       {Delimiter: '\t', Null: `\N`, Columns: 2},
		"\"a\"\"\n,\",b\n\"\",\nx\"y\"z,\"\"\"\"\n":          {Format: policy.CopyCSV, Delimiter: ',', Quote: '"', Escape: '"', Columns: 2},
		"'a\\'\\\\',b\r\n'\r\n',c\r\nlast,one":               {Format: policy.CopyCSV, Delimiter: ',', Quote: '\'', Escape: '\\', Columns: 2},
		"a\tb\nc\td\\.\nx\ty\n":                              {Delimiter: '\t', Null: `\N`, Columns: 2},
		binaryCopy([]string{"a", "b"}, []string{"", "null"}): {Format: policy.CopyBinary, Columns: 2},
	}
	for data, style := range styles {
		whole, err := allRows(style, []string{data})
		if err != nil || strings.Count(whole, "|") < 2 {
			t.Errorf("%q: %q %v", data, whole, err)
		}
		for range 200 {
			var cuts []string
			for rest := data; rest != ""; {
				n := 1 + rand.IntN(min(len(rest), 4))
				cuts, rest = append(cuts, rest[:n]), rest[n:]
			}
			if got, err := allRows(style, cuts); got != whole || err != nil {
				t.Fatalf("%q cut as %q: %q %v, want %q", data, cuts, got, err, whole)
			}
		}
	}
}

// allRows reads rows out of pieces of data.
func allRows(style policy.CopyStyle, pieces []string) (string, error) {
	reader := newRowReader(style)
	var data []byte
	var out strings.Builder
	for i := range len(pieces) + 1 {
		last := i == len(pieces)
		if !last {
			data = append(data, pieces[i]...)
		}
		for len(data) > 0 || last {
			var r rowValues
			taken, err := reader.row(data, last, &r)
			if err != nil {
				return out.String(), err
			}
			if taken < 0 {
				return out.String(), nil
			}
			if taken == 0 {
				break
			}
			start := 0
			for i, end := range r.ends {
				if r.nulls[i] {
					out.WriteString("null,")
				} else {
					fmt.Fprintf(&out, "%q,", r.memory[start:end])
				}
				start = end
			}
			out.WriteString("|")
			data = slices.Clone(data[taken:])
		}
	}
	return out.String(), nil
}

// A long row of binary data that comes in pieces is looked at once: none of it is copied before
// its end is there.
func TestBinaryRowInPieces(t *testing.T) {
	row := append([]byte("\x00\x03\x00\x00\x00\x02ab\xff\xff\xff\xff\x00\x01\x86\xa0"), strings.Repeat("c", 100_000)...)
	b := binaryRows{columns: 3, begun: true}
	for range 2 {
		var r rowValues
		seen := 0
		for end := range row {
			r.reset()
			taken, err := b.row(row[:end], false, &r)
			if taken != 0 || err != nil || len(r.memory) != 0 || b.measured < seen {
				t.Fatalf("%d bytes: %d taken, %d copied, %d measured after %d, %v", end, taken, len(r.memory), b.measured, seen, err)
			}
			seen = b.measured
		}
		if taken, err := b.row(row, false, &r); taken != len(row) || err != nil || len(r.memory) != 100_002 || b.measured != 0 || seen != 12 {
			t.Fatalf("%d taken, %d copied, %d measured before, %v", taken, len(r.memory), seen, err)
		}
		if !slices.Equal(r.ends, []int{2, 2, 100_002}) || !slices.Equal(r.nulls, []bool{false, true, false}) {
			t.Fatalf("%v, %v", r.ends, r.nulls)
		}
	}
}
