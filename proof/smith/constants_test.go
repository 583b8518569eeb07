package smith_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
)

// TestConstants runs statements as they are and without their constants (policy.Parametrize),
// on the server's own database: both must answer the same, or not at all where the listener
// then runs the text as it is.
func TestConstants(t *testing.T) {
	build(t)
	conn, err := pgconn.Connect(t.Context(), world.own)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	taken, refused := 0, 0
	for _, text := range append(world.statements, everyday...) {
		p, ok := policy.Parametrize(text)
		if !ok || strings.Contains(text, "current_query") || strings.Contains(text, "pg_stat_activity") || strings.Contains(text, "random(") {
			// the first two tell the text itself, the third something else each time
			continue
		}
		taken++
		values := make([][]byte, len(p.Args))
		for i, a := range p.Args {
			values[i] = []byte(a.Text)
		}
		want := outcome(t, conn, func() *pgconn.ResultReader { return conn.ExecParams(t.Context(), text, nil, nil, nil, nil) })
		got := outcome(t, conn, func() *pgconn.ResultReader { return conn.ExecParams(t.Context(), p.Text, values, p.Types, nil, nil) })
		if got != want && (len(got) > 5 && got[:2] == "42" || len(got) == 5 && got[:2] == "22") {
			refused++
			continue
		}
		if again := outcome(t, conn, func() *pgconn.ResultReader { return conn.ExecParams(t.Context(), text, nil, nil, nil, nil) }); got != want && again == want {
			t.Errorf("%s\n as %s\n got %.300s\nwant %.300s", text, p.Text, got, want)
		}
	}
	t.Logf("%d of %d statements had constants to take out; %d of these are run as they are", taken, len(world.statements)+len(everyday), refused)
	if taken < 20 || refused*5 > taken {
		t.Error("too few are served so")
	}
}

// everyday are statements such as applications send.
var everyday = []string{
	"SELECT * FROM notes WHERE id = 3", "SELECT id, 7, 1.5 FROM notes WHERE id IN (1, 2, 3) ORDER BY 1 DESC LIMIT 2 OFFSET 1",
	"SELECT * FROM events WHERE payload->>'kind' = 'a' LIMIT 5", "SELECT * FROM notes WHERE body LIKE 'a%' AND id BETWEEN 1 AND 100 ORDER BY id",
	"UPDATE notes SET body = 'it''s' WHERE id = 2 RETURNING id, body", "DELETE FROM notes WHERE id = -1", "SELECT 1 WHERE '2' = '2' AND 2 > 1",
	"SELECT CASE WHEN id > 2 THEN 1 ELSE 2.5 END FROM notes ORDER BY id", "SELECT round(2.567, 2), -5 ^ 2, 5 % 3, 7 / 2, 1 + 1",
	"SELECT '5' < '10', 5 < 10, id::text = '3' FROM notes ORDER BY id", "SELECT id FROM notes WHERE created_at > '2020-01-01' ORDER BY id LIMIT 3",
	"SELECT substr('abcdef', 2, 3), left('abc', 2)", "SELECT id FROM notes WHERE (id, 1) IN ((1, 1), (2, 1)) ORDER BY id", "SELECT 1 LIMIT 0",
	"SELECT * FROM notes WHERE id = '3'", "SELECT * FROM notes WHERE id = 'x'", "SELECT 1/0", "SELECT 2147483647 + 1", "SELECT numeric '1.10', 1.10, 1.0 * 2",
	"INSERT INTO notes (id) VALUES ('nothing')",
}

// outcome tells what a statement answers, and takes back what it did.
func outcome(t *testing.T, conn *pgconn.PgConn, run func() *pgconn.ResultReader) string {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "BEGIN").ReadAll(); err != nil {
		t.Fatal(err)
	}
	result := run()
	out := ""
	for _, f := range result.FieldDescriptions() {
		out += fmt.Sprintf("%s:%d:%d ", f.Name, f.DataTypeOID, f.TypeModifier)
	}
	read := result.Read()
	for _, row := range read.Rows {
		out += fmt.Sprintf("%q ", row)
	}
	out += read.CommandTag.String()
	var pg *pgconn.PgError
	if errors.As(read.Err, &pg) {
		out = pg.Code
	} else if read.Err != nil {
		t.Fatal(read.Err)
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK").ReadAll(); err != nil {
		t.Fatal(err)
	}
	return out
}
