package upstream

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// allocated tells the bytes that f allocates, whether they are freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Ensure a refused result costs no more memory than a few times the limit, whatever its
// values grow to.
func TestRefusedResultIsNotEncoded(t *testing.T) {
	const limit = 10 << 20
	for what, expr := range map[string]string{
		"beyond the limit": "repeat(chr(1), 21000000)", "within it, and six times as long in JSON": "repeat(chr(1), 10000000)", "a wide row": "repeat(chr(1), 5000000), repeat(chr(2), 5000000)",
		"an array": "ARRAY[repeat(chr(1), 9000000), 'x']", "bytea": "decode(repeat('00', 16000000), 'hex')", "json": "to_json(repeat('x', 20000000))", "int8 elements": "array_fill(1::int8, ARRAY[4000000])",
	} {
		b := setup(t, Config{MaxConns: 1}, "")
		b.must(sel("SELECT 1"))
		st := withLimits(sel("SELECT "+expr), 1000, limit)
		st.limits.StatementTimeout = 20 * time.Second
		n := allocated(func() {
			_, err := b.pool.query(t.Context(), st, Encoding{Int8AsString: true}, nil)
			refusal(t, err, proxy.ResultTooLarge, what)
		})
		t.Logf("%s: %d MB", what, n>>20)
		if n > 6*limit {
			t.Errorf("%s: %d bytes were allocated", what, n)
		}
	}
}

// Ensure the limit is on the whole response: what the front end appends has its place.
func TestLimitCountsTheWholeResponse(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	const tail = `,"rowsAffected":9223372036854775807,"executionTime":9223372036854775807,"success":true}`
	for _, sql := range []string{
		"SELECT repeat('x', 1000) AS a", "SELECT generate_series(1, 100) AS g", "SELECT 1 AS " + strings.Repeat("a", 63) + ", 2 AS " + strings.Repeat("b", 63) + " WHERE false",
	} {
		whole := "{" + b.must(sel(sql)) + tail
		if !json.Valid([]byte(whole)) {
			t.Errorf("not JSON: %s", whole)
		}
		b.fail(withLimits(sel(sql), 1000, len(whole)-1), proxy.ResultTooLarge)
		b.must(withLimits(sel(sql), 1000, len(whole)+10))
	}
}

// Ensure what is longer on the wire than in JSON passes up to the limit.
func TestLongOnTheWire(t *testing.T) {
	b := setup(t, Config{}, "")
	for _, expr := range []string{
		"decode(repeat('00', 5000000), 'hex')", "ARRAY[decode(repeat('00', 5000000), 'hex')]", `ARRAY[('["' || repeat('","', 2200000) || '"]')::jsonb]`, "array_fill('2026-01-31 09:15:00Z'::timestamptz, ARRAY[300000])",
	} {
		st := withLimits(sel("SELECT "+expr), 1, 9<<20)
		st.limits.StatementTimeout = 20 * time.Second
		b.must(st)
	}
}
