package builtin_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
)

var everyCall = flag.Bool("calls", false, "have TestHiddenInCalls try everything of the sets, not only a part")

// hiddenPlaces are statements in which the rewrite hides the constants of a call from the planner. The call
// stands for @.
var hiddenPlaces = []string{
	"WITH w AS (SELECT @ AS x FROM conversations) SELECT x::text FROM w",
	"SELECT x::text FROM conversations, (VALUES (@)) AS v (x)",
	"SELECT id FROM conversations WHERE title = (@)::text",
	"SELECT id FROM conversations WHERE (@)::text IN (title, 'a')",
	"SELECT id FROM conversations WHERE @",
	"SELECT x::text FROM conversations, @ AS v (x)",
	"SELECT id FROM conversations JOIN @ AS v (x) ON NOT v.x",
	"SELECT count(*) FROM conversations GROUP BY title HAVING title IN (SELECT (@)::text)",
	"SELECT x::text FROM (SELECT @ AS x FROM conversations GROUP BY @, title HAVING (@)::text < 'b') AS s",
	"SELECT (@)::text, count(*) FROM conversations GROUP BY 1, title HAVING (@)::text <> 'b'",
	"SELECT @, (SELECT (@)::text FROM end_users LIMIT 1) FROM conversations GROUP BY title, id HAVING title <> (@)::text",
	"SELECT DISTINCT ON (@) (@)::text FROM conversations ORDER BY @, (@)::text",
	"SELECT id FROM conversations WHERE CASE WHEN title > 'a' THEN (@) IS NULL ELSE title = ARRAY[@]::text END",
}

// TestHiddenInCalls calls functions, operators and casts with constants that are hidden from the planner. Postgres
// must answer as it does to the text as it was: where a literal needs no type, a parameter does, and some constants of
// the tree stand nowhere in the text.
func TestHiddenInCalls(t *testing.T) {
	db := hiding(t)
	p := decider(t, func(f *policy.File) { f.Scope.Mode = policy.Inject })
	admitted, compared := 0, 0
	for _, call := range calls(t) {
		for _, place := range hiddenPlaces {
			text := strings.ReplaceAll(place, "@", call)
			d := p.Decide(text, policy.Postgres)
			if d.Verdict != policy.Allow && d.Refusal.Code != policy.Internal {
				continue
			}
			admitted++
			want := answered(t, db.ExecParams(t.Context(), text, nil, nil, nil, nil))
			noCondition := strings.HasSuffix(place, "WHERE @") && !strings.HasPrefix(want, "[")
			if noCondition || !repeats(t, db, text, want, 1) {
				continue
			}
			compared++
			if got, as := rewritten(t, db, d); got != want && !neverGrouped(got, want) && repeats(t, db, text, want, 64) {
				t.Errorf("%s\n as %s\n got %.200s\nwant %.200s", text, as, got, want)
			}
		}
	}
	t.Logf("%d statements admitted, %d compared", admitted, compared)
	if compared < 5_000 || compared*10 < admitted*9 {
		t.Error("too few were compared")
	}
}

// hiding gives a connection to a database with a row of one server, where Postgres plans for any value.
func hiding(t *testing.T) *pgconn.PgConn {
	t.Helper()
	url := pgtest.Database(t)
	if _, err := control.MigrateBundled(t.Context(), url, control.Roles{Statement: "hidden_none", Lookup: "hidden_nobody", Optional: true}); err != nil {
		t.Fatal(err)
	}
	db, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	if _, err := db.Exec(t.Context(), `SET jit = off; SET TimeZone = 'UTC'; SET statement_timeout = '2s'; SET plan_cache_mode = force_generic_plan;
		INSERT INTO end_users (id, server_id, email) VALUES ('u', 's', 'a@one.test');
		INSERT INTO conversations (id, server_id, end_user_id, title) VALUES ('c', 's', 'u', 'a')`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return db
}

// neverGrouped tells whether a statement that has two faults was told the other one: a literal that its type doesn't take, and a
// GROUP BY or DISTINCT of a type that has no equality. Postgres reads a literal first, and a parameter last.
func neverGrouped(got, want string) bool {
	unread := strings.HasPrefix(want, "22P02 ") || strings.HasPrefix(want, "42601 ")
	return unread && strings.HasPrefix(got, "42883 could not identify an equality operator ")
}

// rewritten tells what the rewritten statement answers, and its text.
func rewritten(t *testing.T, db *pgconn.PgConn, d policy.Decision) (answer, text string) {
	t.Helper()
	if d.Verdict != policy.Allow {
		return "refused: " + d.Refusal.Message, ""
	}
	b, reason := d.Approved.Bind("s", nil)
	if reason != nil {
		t.Fatal(reason)
	}
	values := make([][]byte, b.NumParams())
	for i := range values {
		values[i] = []byte(b.Param(i).Value.Text)
	}
	return answered(t, db.ExecParams(t.Context(), b.SQL(), values, d.Approved.Declared(), nil, nil)), b.SQL()
}

// repeats tells whether a statement gives the same answer n times more. One that is random may give it once or twice
// by chance.
func repeats(t *testing.T, db *pgconn.PgConn, text, want string, n int) bool {
	t.Helper()
	for range n {
		if answered(t, db.ExecParams(t.Context(), text, nil, nil, nil, nil)) != want {
			return false
		}
	}
	return true
}

// answered tells what a statement answers.
func answered(t *testing.T, r *pgconn.ResultReader) string {
	t.Helper()
	read := r.Read()
	if failed := (*pgconn.PgError)(nil); errors.As(read.Err, &failed) {
		return failed.Code + " " + failed.Message
	} else if read.Err != nil {
		t.Fatal(read.Err)
	}
	return fmt.Sprintf("%q", read.Rows)
}
