package rest_test

import (
	"strings"
	"testing"
)

// Ensure a head of more than 100 lines, or of as many names in Trailer as go in, is refused wherever it comes.
func TestManyHeaderLines(t *testing.T) {
	w := newWorld(t, nil)
	const get = "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized // two lines
	most, many := strings.Repeat("a:\r\n", 98), strings.Repeat("a:\r\n", 3900)
	names := func(n int) string { return "Trailer: " + strings.Repeat("b,", n) + "b\r\n" }
	indented := "{" + strings.Repeat("\n", 2000) + `"query":"SELECT 1"}`
	for name, test := range map[string]struct {
		before, after string
		answers       int // 200, before one that is 400 if there is something after
	}{
		"as many as may be":    {get + most + "\r\n", "", 1},
		"one more":             {"", get + most + "a:\r\n\r\n", 0},
		"all that go in":       {"", get + many + "\r\n", 0},
		"a body to come":       {"", post(many+"Content-Length: 9000\r\n", ""), 0},
		"expecting":            {"", post(many+"Content-Length: 9\r\nExpect: 100-continue\r\n", ""), 0},
		"HTTP/1.0":             {"", "GET /nothing HTTP/1.0\r\n" + many + "\r\n", 0},
		"a faulty one":         {"", get + many + ": x\r\n\r\n", 0},
		"some names":           {get + names(200) + "\r\n", "", 1},
		"many names":           {"", get + names(7000) + "\r\n", 0},
		"behind others":        {strings.Repeat(get+"\r\n", 20), get + many + "\r\n", 20},
		"behind a body":        {post("Content-Length: 20\r\n", smallBody), get + many + "\r\n", 1},
		"behind chunks":        {post("Transfer-Encoding: chunked\r\n", chunked(smallBody, 7, "")), get + many + "\r\n", 1},
		"a body of many lines": {strings.Repeat(post("Content-Length: "+itoa(len(indented))+"\r\n", indented), 3), "", 3},
	} {
		for _, together := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				c := w.dial()
				c.w = &world{t: t, contract: w.contract}
				if together {
					c.send(test.before + test.after)
				} else {
					c.send(test.before)
				}
				for range test.answers {
					if response, answer := c.answer("POST", queryPath); response.StatusCode != 200 {
						t.Fatalf("%d %s", response.StatusCode, answer)
					}
				}
				if test.after == "" {
					return
				}
				if !together {
					c.send(test.after)
				}
				if response, answer := c.answer("POST", queryPath); response.StatusCode != 400 || !strings.Contains(answer, "100 header lines") {
					t.Errorf("%d %s", response.StatusCode, answer)
				}
				if !c.closed() {
					t.Error("the connection goes on")
				}
			})
		}
	}
}
