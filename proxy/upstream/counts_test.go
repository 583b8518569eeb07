package upstream

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure Postgres plans a statement for the number of rows that it is asked for, that each number
// has a plan of its own, and that nothing else of the answer changes.
func TestCountsArePlanned(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, SearchPath: "pg_catalog, pg_temp"}, `
		CREATE TABLE notes (server_id text, id int, body text, secret text);
		INSERT INTO notes VALUES ('mine', 1, 'a'), ('mine', 2, 'b')`)
	const text = "SELECT body FROM notes WHERE server_id = ? ORDER BY id LIMIT ? OFFSET ?"
	for range 2 {
		for n, want := range map[string]string{"1": `[["b"]]`, "0": `[]`, "99999999999": `[["b"]]`} {
			res, err := b.pool.Query(t.Context(), "", boundTo(t, b, "mine", text, num(n), num("1")), Encoding{}, nil)
			if want = `"columns":["body"],"rows":` + want; err != nil || string(res.Body) != want {
				t.Errorf("LIMIT %s: %s, %v", n, res.Body, err)
			}
		}
	}
	const look = "SELECT string_agg(rtrim(regexp_replace(substring(statement from 'LIMIT.*'), ' +', ' ', 'g')), ' ' ORDER BY statement) FROM pg_prepared_statements WHERE statement LIKE '%LIMIT%' AND statement NOT LIKE '%pg_prepared%'"
	if got := b.must(sel(look)); !strings.HasSuffix(got, `[["LIMIT $1 OFFSET '1' LIMIT '0' OFFSET '1' LIMIT '1' OFFSET '1'"]]`) {
		t.Errorf("prepared %s", got)
	}
}

// Ensure a client of the protocol sees nothing of it: of what type the number is, and where an
// error is.
func TestCountsAreNotTold(t *testing.T) {
	for _, cfg := range []Config{{MaxConns: 1}, {MaxConns: 1, NoPrepared: true}} {
		l := link(t, cfg)
		for range 2 {
			for _, n := range []string{"1", "2"} {
				rows := []string{"row a", "row b", "done SELECT 2"}
				if n == "1" {
					rows = []string{"row a", "done SELECT 1"}
				}
				steps := l.extended("SELECT body FROM notes WHERE id > $2 ORDER BY id LIMIT $1", n, "0")
				l.want(proxy.Exchange{Steps: steps, Commit: true}, proxy.Idle,
					append([]string{"ParseComplete", "params [20 23]", "columns body:25:0", "BindComplete", "columns body:25:0"}, rows...)...)
			}
		}
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes ORDER BY id LIMIT 1")}, Commit: true}, proxy.Idle, "columns id:23:0", "row 1", "done SELECT 1")
	}
}
