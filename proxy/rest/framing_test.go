package rest_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// chunked gives a body in chunks of so many bytes, each with that extension.
func chunked(body string, size int, extension string) string {
	var text strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		text.WriteString(hex(n) + extension + "\r\n" + body[:n] + "\r\n")
		body = body[n:]
	}
	return text.String() + "0\r\n\r\n"
}

// Ensure a body may come in chunks as clients make them, and not in chunks that cost more than what is in them.
func TestChunks(t *testing.T) {
	w := newWorld(t, nil)
	of := func(size int) string { return smallBody + strings.Repeat(" ", size-len(smallBody)) }
	for name, test := range map[string]struct {
		body string
		says string // "": it is taken
	}{
		"1 KiB":                     {chunked(of(1<<20), 1<<10, ""), ""},
		"1 KiB, with extensions":    {chunked(of(1<<20), 1<<10, ";signature=0123456789abcdef0123456789abcdef"), ""},
		"one":                       {chunked(of(1<<20), 1<<20, ""), ""},
		"32 bytes":                  {chunked(of(1<<20), 32, ""), ""},
		"bytes, of a small body":    {chunked(of(3000), 1, ""), ""},
		"5 bytes, of a larger body": {chunked(of(30_000), 5, ""), ""},
		"bytes":                     {chunked(of(1<<20), 1, ""), "larger chunks"},
		"4 bytes":                   {chunked(of(1<<20), 4, ""), "larger chunks"},
		"a long extension":          {"1;" + strings.Repeat("a", 8<<20), "larger chunks"},
		"many extensions":           {chunked(of(1<<20), 1<<10, ";"+strings.Repeat("a", 1<<10)), "larger chunks"},
		"too large":                 {chunked(of(1<<20+1), 1<<10, ""), "larger than"},
	} {
		for _, together := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := w.dial()
				c.w = &world{t: t, contract: w.contract}
				head := post("Transfer-Encoding: chunked\r\n", "")
				go func() {
					if !together {
						_, _ = io.WriteString(c, head)
						time.Sleep(50 * time.Millisecond)
						head = ""
					}
					_, _ = io.WriteString(c, head+test.body) // a refusal ends it
				}()
				response, answer := c.answer("POST", queryPath)
				if ok := response.StatusCode == 200; ok != (test.says == "") || !strings.Contains(answer, test.says) {
					t.Errorf("%d %s", response.StatusCode, answer)
				}
			})
		}
	}
}

// Ensure a long extension is given up before much of it has come.
func TestExtensionsHaveABound(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	c.send(post("Transfer-Encoding: chunked\r\n", "1;"))
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	for sent := 0; ; sent += 4 << 10 {
		if sent > 256<<10 {
			t.Fatalf("%d bytes of an extension were read", sent)
		}
		if _, err := io.WriteString(c, strings.Repeat("a", 4<<10)); err != nil {
			break
		}
		if c.told() {
			break
		}
	}
}

// told tells whether an answer begins to come within a moment.
func (c *rawConn) told() bool {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	_, err := c.reader.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
