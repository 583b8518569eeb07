package main

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestSend counts answers with a length and in chunks, and stops at one that is not 200.
func TestSend(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			for range 100 {
				_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
				w.(http.Flusher).Flush()
			}
		case "/short":
			_, _ = w.Write([]byte("{}"))
		default:
			http.Error(w, "no such thing", http.StatusNotFound)
		}
	}))
	defer srv.Close()
	addr := srv.Listener.Addr().(*net.TCPAddr).String()
	good := [][]byte{request("/short", "t", []byte("{}")), request("/long", "t", []byte("{}"))}
	got, err := load{addr: addr, clients: 3, request: inTurns(good, 3)}.send(t.Context(), 100*time.Millisecond)
	if err != nil || got.requests < 3 || got.p50 <= 0 || got.p99 < got.p50 || got.elapsed < 100*time.Millisecond {
		t.Errorf("%+v %v", got, err)
	}
	none := inTurns([][]byte{request("/none", "t", nil)}, 1)
	if _, err := (load{addr: addr, clients: 1, request: none, refusals: true}).send(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), "404 Not Found: no such thing") {
		t.Error(err)
	}
}

// TestRefusals counts 429 and 503 apart from what was answered, and ends at them where they
// are not expected.
func TestRefusals(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/limited":
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case "/full":
			http.Error(w, "no connection", http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	path := [][]string{{"/good", "/good", "/good"}, {"/good", "/limited", "/full"}} // of each client
	l := load{addr: srv.Listener.Addr().String(), clients: 2, times: 6, refusals: true, request: func(client, n int) []byte {
		return request(path[client][n%3], "t", nil)
	}}
	got, err := l.send(t.Context(), 5*time.Second)
	if err != nil || got.requests != 8 || got.refused != 4 || got.least != 2 {
		t.Errorf("%+v %v", got, err)
	}
	l.refusals = false
	if _, err := l.send(t.Context(), 5*time.Second); err == nil || !strings.Contains(err.Error(), "429 Too Many Requests: slow down") {
		t.Error(err)
	}
}

// TestPause is kept between an answer and the next request, and not counted as its time.
func TestPause(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	l := load{addr: srv.Listener.Addr().String(), clients: 1, times: 3, pause: 200 * time.Millisecond, request: func(int, int) []byte { return request("/", "t", nil) }}
	got, err := l.send(t.Context(), 5*time.Second)
	if err != nil || got.requests != 3 || got.elapsed < 400*time.Millisecond || got.p50 > 150*time.Millisecond {
		t.Errorf("%+v %v", got, err)
	}
}

// TestBareParams takes the args as the body has them, the server's id first.
func TestBareParams(t *testing.T) {
	b := &bare{server: []byte("s1")}
	for _, s := range statements {
		want := []string{}
		if s.name != "insert" {
			want = append(want, "s1")
		}
		for _, arg := range s.args(7) {
			want = append(want, arg.(string))
		}
		var got []string
		for _, p := range b.params(s.name, s.body(7)) {
			got = append(got, string(p))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", s.name, got, want)
		}
	}
}

// TestRatio takes the middle of the rounds' ratios, not the ratio of the middles.
func TestRatio(t *testing.T) {
	of := func(values ...int) (list []sample) {
		for _, v := range values {
			list = append(list, sample{turn: turn{requests: v, elapsed: time.Second}})
		}
		return list
	}
	if got := ratio(of(10, 40, 90), of(10, 20, 10), rate); got != 2 {
		t.Error(got)
	}
	r := results{{"point", 1, "bare"}: of(10), {"point", 1, "idiomatic"}: of(5), {"point", 1, "tenantgate"}: of(8)}
	table := r.table("point", 1)
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if strings.Count(line, "|") != 14 {
			t.Errorf("%d columns: %s", strings.Count(line, "|")-1, line)
		}
	}
	if !strings.Contains(table, "| tenantgate | 8 |") {
		t.Error(table)
	}
}

// TestChunks ends at the last chunk, and not before.
func TestChunks(t *testing.T) {
	r := bufio.NewReader(strings.NewReader("3\r\nabc\r\n0\r\n\r\nrest"))
	if err := chunks(r); err != nil {
		t.Fatal(err)
	}
	if rest, _ := r.ReadString(0); rest != "rest" {
		t.Errorf("%q", rest)
	}
}
