package rest

import (
	"bufio"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// Ensure the lines of a head are counted however they come, from the beginning of each head, and those of a body are not.
func TestHeadLines(t *testing.T) {
	const first, most = "POST / HTTP/1.1\r\n", maxHeaderLines
	lines := func(n int) string { return strings.Repeat("a:\r\n", n) }
	short, head := first+lines(most)+"\r\n", first+lines(most+1)
	for name, test := range map[string]struct {
		before, long string // the end of it is one line too much; "": there is none
		after        string
	}{
		"a head":               {"", head, lines(5)},
		"a short one":          {short, "", ""},
		"several":              {short + short + short, head, "x"},
		"an empty line ahead":  {"\r\n\n\r\n", head, ""},
		"bare line feeds":      {"", strings.ReplaceAll(head, "\r", ""), "\n"},
		"HTTP/1.0":             {"", strings.ReplaceAll(head, "1.1", "1.0"), ""},
		"behind a body":        {short + `{"query":"SELECT 1"}`, head, ""},
		"behind chunks":        {short + "1\r\nx\r\n0\r\n\r\n", head, ""},
		"behind a long body":   {short + strings.Repeat("HTTP/ \n\n{\n", 2000), head, ""},
		"a version twice":      {short + "{}", "GET /HTTP/ HTTP/1.1\n" + strings.Repeat("a\n", most+1), ""},
		"half a version":       {short + "{", "HTTP/HTTP/1.1\n" + strings.Repeat("a\n", most+1), ""},
		"a body of versions":   {short + strings.Repeat("HTTP/\nHTTP/1.1 \nHTTP/1.1\r \n", 1000), head, ""},
		"a body of many lines": {short + "{" + strings.Repeat("\n", 3000) + strings.Repeat("\r\n ", 3000) + `"query":"HTTP/1.1",` + strings.Repeat("\n ", 3000), "", ""},
		"names":                {"", first + "Trailer: " + strings.Repeat("b,", maxHeaderCommas) + "b,\r\n", "\r\n"},
		"names of several":     {strings.Repeat(first+"Trailer: "+strings.Repeat("b,", maxHeaderCommas)+"b\r\n\r\n", 3), "", ""},
	} {
		text, want := test.before+test.long+test.after, len(test.before)+len(test.long)
		for _, size := range []int{1, 2, 3, 4, 7, 8, 9, 10, 11, 100, 1 << 20} {
			var h headLines
			read, long := 0, false
			for read < len(text) && !long {
				var n int
				n, long = h.count([]byte(text[read:min(read+size, len(text))]))
				read += n
			}
			if long != (test.long != "") || read != want {
				t.Errorf("%s, %d bytes at once: %v after %d, want it after %d", name, size, long, read, want)
			}
		}
	}
}

// Ensure the room that fasthttp makes for lines behind the chunks of a body is given back when the body was read.
func TestTrailersAreNotKept(t *testing.T) {
	const many = 3000
	text := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + strings.Repeat("b:\r\n", many) + "\r\n"
	var ctx fasthttp.RequestCtx
	for range 2 {
		before := mallocs()
		readWhole(t, &ctx, text)
		if made := mallocs() - before; made < many {
			t.Errorf("%d objects were made: others were kept", made)
		}
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// readWhole reads a request whose body is x.
func readWhole(t *testing.T, ctx *fasthttp.RequestCtx, text string) {
	t.Helper()
	from := bufio.NewReaderSize(strings.NewReader(text), 16<<10)
	err := errors.Join(ctx.Request.Header.Read(from), ctx.Request.ContinueReadBodyStream(from, 1<<20, false))
	if err != nil {
		t.Fatal(err)
	}
	r := owing(t)
	r.http = ctx
	r.conn.phase.Store(uint32(handling))
	if body, err := r.appendBody(nil); err != nil || string(body) != "x" {
		t.Fatalf("%q, %v", body, err)
	}
	ctx.Request.Reset()
}
