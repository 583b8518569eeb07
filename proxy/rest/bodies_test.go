package rest_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// manyTimes answers with the statement's arg, as often as its length says: a letter alone is a
// short answer, sixteen of it make one of a megabyte.
func manyTimes(_ context.Context, _ string, bound policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
	for _, param := range bound.Params() {
		if text := param.Value.Text; param.Index >= 0 {
			dst = append(dst, `"columns":["n"],"rows":[["`...)
			dst = append(dst, bytes.Repeat([]byte(text), 1+len(text)*len(text)<<8)...)
			return append(dst, `"]]`...), 0, nil
		}
	}
	return append(dst, `"columns":[],"rows":[]`...), 0, nil
}

func queryOf(arg string) string {
	body := `{"query":"SELECT id, name FROM files WHERE server_id = ? AND id = ?","args":["` + arg + `"]}`
	return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

// Ensure that no answer is in a buffer that another one is made in, whatever follows on
// what: each holds its own letter alone, as often as it must.
func TestLargeAnswersKeepApart(t *testing.T) {
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.Query = manyTimes
		w.limit(policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 100})
	})
	var all sync.WaitGroup
	for i := range 8 {
		letter := string(rune('a' + i))
		all.Go(func() {
			c := w.dial()
			for n := range 12 {
				lengths := []int{1, 16, 12, 1, 1, 14, 9, 16}[n%5 : n%5+3] // three requests are sent at once
				for _, length := range lengths {
					c.send(queryOf(strings.Repeat(letter, length)))
				}
				for _, length := range lengths {
					response, body := c.answer("POST", queryPath)
					want := `{"columns":["n"],"rows":[["` + strings.Repeat(letter, length*(1+length*length<<8)) + `"]],"rowsAffected":0,`
					if response.StatusCode != http.StatusOK || !strings.HasPrefix(body, want) {
						t.Errorf("%s, %d: status %d and %d bytes, which are not the answer's", letter, length, response.StatusCode, len(body))
					}
				}
			}
		})
	}
	all.Wait()
}

// Ensure that one large answer after the other, on several connections, is made in memory
// that is there already.
func TestLargeAnswersAreMadeInTheSameMemory(t *testing.T) {
	for _, length := range []int{30 << 10, 60 << 10, 70 << 10, 1 << 20} {
		t.Run(itoa(length), func(t *testing.T) { sameMemory(t, length) })
	}
}

func sameMemory(t *testing.T, length int) {
	answer := bytes.Repeat([]byte("x"), length)
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.Query = func(_ context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			return append(append(append(dst, `"columns":["n"],"rows":[["`...), answer...), `"]]`...), 0, nil
		}
		w.limit(policy.Limits{RequestsPerSecond: -1})
	})
	conns := []*rawConn{w.dial(), w.dial()}
	read := make([]byte, 1<<20)
	ask := func() {
		for _, c := range conns {
			c.send(queryOf("a"))
			response, err := http.ReadResponse(c.reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n < int(response.ContentLength); {
				got, err := response.Body.Read(read)
				n += got
				if err != nil && n < int(response.ContentLength) {
					t.Fatal(err)
				}
			}
		}
	}
	ask()
	ask()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 50
	for range times {
		ask()
	}
	runtime.ReadMemStats(&after)
	// The race detector has a sync.Pool lose one in four, and a client allocates something, too.
	if each := int(after.TotalAlloc-before.TotalAlloc) / (times * 2); each > length*5/8+16<<10 {
		t.Errorf("%d bytes are allocated for an answer of %d", each, length)
	}
}
