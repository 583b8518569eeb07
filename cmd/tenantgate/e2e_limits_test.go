package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// policyFile writes the default policy with other limits.
func policyFile(t *testing.T, limits string) string {
	src, err := os.ReadFile("../../policies/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(src), "\nlimits:")
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(head+"\nlimits: {"+limits+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// slow is a statement that runs for about n tenths of a second, in memory: what has
// spilled to disk takes a while to be cancelled.
func slow(tenths int) string {
	return fmt.Sprintf("SELECT count(*) FROM generate_series(1, %d) a, generate_series(1, 1000) b", tenths*1000)
}

func TestResultLimits(t *testing.T) {
	in := sharedInstance(t)
	for sql, want := range map[string]int{
		"SELECT n FROM generate_series(1, 10000) n": 200, "SELECT n FROM generate_series(1, 10001) n": 422,
		"SELECT repeat('x', 1048000) FROM generate_series(1, 10)": 200, "SELECT repeat('x', 1048576) FROM generate_series(1, 10)": 422,
		"SELECT repeat('x', 100000000)": 422,
	} {
		r := in.query(t, sql)
		if r.status != want || want == 422 && errorOf(t, r).Code != "result_too_large" {
			t.Errorf("%s: %d %.200s", sql, r.status, r.body)
		}
	}
	in.admin(t, "CREATE TABLE IF NOT EXISTS public.unused (a int)")
	r := in.query(t, "INSERT INTO files (id, server_id, name) SELECT 'big' || n, ?, repeat('x', 5000000) FROM generate_series(1, 3) n RETURNING name", "")
	if r.status != 422 || errorOf(t, r).Code != "result_too_large" {
		t.Errorf("%d %.200s", r.status, r.body)
	}
	if got := in.one(t, in.query(t, "SELECT count(*) FROM files WHERE server_id = ? AND id LIKE 'big%'")); got != "0" {
		t.Errorf("%s rows were written by a statement that was answered with an error", got)
	}
}

func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--policy", policyFile(t, "statementTimeout: 300ms"))
	start := time.Now()
	r := in.query(t, slow(100))
	if r.status != 504 || errorOf(t, r).Code != "statement_timeout" || time.Since(start) > 5*time.Second {
		t.Errorf("%d %s after %s", r.status, r.body, time.Since(start))
	}
	if r := in.query(t, "SELECT 1"); r.status != 200 {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
}

// rateLimit is the RateLimit header that the test's policy makes: what is left of the burst, and
// the seconds until it is whole.
var rateLimit = regexp.MustCompile(`^"server";r=[0-2];t=1$`)

func TestRateLimit(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--policy", policyFile(t, "requestsPerSecond: 5, burst: 3"))
	limited := 0
	for range 8 {
		r := in.query(t, "SELECT 1")
		if r.header.Get("RateLimit-Policy") != `"server";q=5;w=1` || !rateLimit.MatchString(r.header.Get("RateLimit")) {
			t.Errorf("RateLimit headers: %v", r.header)
		}
		if r.status == 429 {
			limited++
			if after, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || after < 1 || errorOf(t, r).Code != "rate_limited" {
				t.Errorf("%v %s", r.header, r.body)
			}
		}
	}
	if limited < 3 {
		t.Errorf("%d of 8 requests were limited", limited)
	}
	time.Sleep(time.Second)
	if r := in.query(t, "SELECT 1"); r.status != 200 {
		t.Errorf("a second later: %d", r.status)
	}
}

// TestPlaces has more statements at once than a server may: the next waits and gets in,
// and who would wait longer than the policy lets it is told so.
func TestPlaces(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--policy", policyFile(t, "maxConcurrent: 1, maxWait: 3s"))
	first := make(chan reply, 1)
	go func() {
		first <- in.query(t, "SELECT 'HOLDS', count(*) FROM generate_series(1, 6000) a, generate_series(1, 1000) b")
	}()
	conn := in.connect(t)
	waitFor(t, func() bool {
		var n int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%HOLDS%' AND pid <> pg_backend_pid()").Scan(&n); err != nil {
			t.Error(err)
			return true
		}
		return n == 1
	})
	start := time.Now()
	next := in.query(t, "SELECT 1")
	waited := time.Since(start)
	select {
	case r := <-first:
		if r.status != 200 || next.status != 200 {
			t.Errorf("the first: %d %s; the next: %d %s", r.status, r.body, next.status, next.body)
		}
	case <-time.After(2 * time.Second): // its answer was written before the next got in
		t.Error("the next did not wait for the first")
	}
	if waited < 100*time.Millisecond {
		t.Errorf("the next waited %v", waited)
	}
	go func() { first <- in.query(t, slow(200)) }()
	sleepBriefly()
	start = time.Now()
	r := in.query(t, "SELECT 1")
	if waited := time.Since(start); r.status != 429 || errorOf(t, r).Code != "rate_limited" || waited < 2500*time.Millisecond {
		t.Errorf("beyond maxWait: %d %s after %v", r.status, r.body, waited)
	}
	<-first
}

// TestClientGone leaves in the middle of a statement: it must be cancelled on the server.
func TestClientGone(t *testing.T) {
	in := sharedInstance(t)
	conn := in.connect(t)
	// Postgres forgets a cancellation that comes between two messages of one statement; the
	// service sends it again when it gives the connection up, two seconds later. So the test
	// waits until the statement is surely being executed.
	running := func() (n int) {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%GONE%' AND pid <> pg_backend_pid() AND clock_timestamp() - query_start > '300ms'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	client, err := net.Dial("tcp", strings.TrimPrefix(in.BaseURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body := `{"query":"` + slow(100) + ` /* GONE */"}`
	fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", in.queryPath(in.ServerID), in.bearer(), len(body), body)
	waitFor(t, func() bool { return running() == 1 })
	_ = client.Close()
	start := time.Now()
	waitFor(t, func() bool { return running() == 0 })
	if since := time.Since(start); since > time.Second {
		t.Errorf("it ran on for %s", since)
	}
}

// TestParallelClients has 200 clients ask at once, each for its own answer.
func TestParallelClients(t *testing.T) {
	in := sharedInstance(t)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: 200, MaxIdleConnsPerHost: 200}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 5 {
				if err := ask(t.Context(), client, in, fmt.Sprintf("client %d request %d", i, k)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
}

// ask has the service repeat a text. A full pool may answer 503: then it asks again.
func ask(ctx context.Context, client *http.Client, in *instance, text string) error {
	for range 50 {
		body := `{"query":"SELECT ?::text, count(*) FROM messages WHERE server_id = ?","args":["` + text + `"]}`
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, in.BaseURL+in.queryPath(in.ServerID), strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+in.AccessToken)
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		var got bytes.Buffer
		_, err = got.ReadFrom(answer.Body)
		_ = answer.Body.Close()
		switch {
		case err != nil:
			return err
		case answer.StatusCode == http.StatusServiceUnavailable:
			time.Sleep(20 * time.Millisecond)
		case !strings.Contains(got.String(), `"rows":[["`+text+`",2]]`):
			return fmt.Errorf("%s was answered %d %s", text, answer.StatusCode, got.String())
		default:
			return nil
		}
	}
	return fmt.Errorf("%s was never answered", text)
}

// Ensure the statements' role has a bound on its temporary files: Postgres' default is none, and a
// cursor that is left open keeps its files.
func TestTemporaryFilesAreBounded(t *testing.T) {
	in := sharedInstance(t)
	var limit string
	const sql = "SELECT option_value FROM pg_db_role_setting, pg_options_to_table(setconfig) WHERE setrole = $1::regrole AND setdatabase = 0 AND option_name = 'temp_file_limit'"
	if err := in.connect(t).QueryRow(t.Context(), sql, statementRole).Scan(&limit); err != nil || limit != "1GB" {
		t.Errorf("temp_file_limit is %q, %v", limit, err)
	}
}
