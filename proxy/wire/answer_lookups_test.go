package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
)

// TestLookUps asks what the JDBC driver asks, as a client and of the catalog itself.
func TestLookUps(t *testing.T) {
	w, admin := onPostgres(t)
	for _, l := range driverQueries {
		for _, pair := range arrayTypes {
			name := policy.TypeName(pair[0])
			if !slices.Contains([]string{"jsonb", "int4range", "int4multirange", "box", "varchar"}, name) {
				continue
			}
			asks := [][]any{{int64(pair[0])}, {int64(pair[1])}, {int64(1 << 30)}}
			switch {
			case strings.Contains(l.asked, "$3"):
				asks = [][]any{{name, "pg_catalog", false}, {"_" + name, nil, true}, {name, "public", false}}
			case strings.Contains(l.asked, "typname = $1"):
				asks = [][]any{{name}, {"_" + name}, {"nothing"}}
			case strings.Contains(l.asked, "typelem"):
				asks = asks[1:]
			}
			for _, args := range asks {
				if got, want := w.lookUp(l.asked, args), plainRows(t, admin, l.asked, args); got != want {
					t.Errorf("%.60s… %v\ngot  %s\nwant %s", l.asked, args, got, want)
				}
			}
		}
	}
	if got := driverRewrite(driverQueries[0].asked + " "); got == driverQueries[0].asked {
		t.Error("white space makes a difference")
	}
	for _, text := range []string{"SELECT 1", driverQueries[0].asked + " OFFSET 1", strings.Replace(driverQueries[3].asked, "$1", "$1 OR true", 1)} {
		if driverRewrite(text) != text {
			t.Errorf("%s is taken for another", text)
		}
	}
}

// plainRows are a query's rows as texts.
func plainRows(t *testing.T, admin *pgx.Conn, sql string, args []any) string {
	t.Helper()
	rows, err := admin.Query(t.Context(), sql, append([]any{pgx.QueryExecModeExec, pgx.QueryResultFormats{0}}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var values []string
		for _, v := range rows.RawValues() {
			values = append(values, string(v))
		}
		fmt.Fprintf(&all, "row(%s) ", strings.Join(values, ","))
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all.String()
}

// lookUp asks in the extended protocol, as the driver does, and gives the rows.
func (w *sitting) lookUp(sql string, args []any) string {
	w.t.Helper()
	bind := &pgproto3.Bind{}
	var types []uint32
	for _, a := range args {
		switch a := a.(type) {
		case nil:
			bind.Parameters, types = append(bind.Parameters, nil), append(types, 0)
		case int64:
			bind.Parameters, types = append(bind.Parameters, fmt.Append(nil, a)), append(types, 20)
		case string:
			bind.Parameters, types = append(bind.Parameters, []byte(a)), append(types, 1043)
		case bool:
			bind.Parameters, types = append(bind.Parameters, fmt.Append(nil, a)), append(types, 16)
		}
	}
	got := w.pipe(&pgproto3.Parse{Query: sql, ParameterOIDs: types}, bind, &pgproto3.Execute{})
	rows, _, done := strings.Cut(got, "<SELECT")
	if !done {
		return got
	}
	return strings.TrimPrefix(rows, "parsed bound ")
}
