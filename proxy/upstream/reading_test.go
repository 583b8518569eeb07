package upstream

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/doctor"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// bundledTables is the SQL of the bundled tables.
func bundledTables(t testing.TB) string {
	t.Helper()
	src, err := os.ReadFile("../../control/migrations/bundled/00001_tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, up, _ := strings.Cut(string(src), "+goose Up")
	up, _, _ = strings.Cut(up, "-- +goose Down")
	return up
}

// further gives the SQL of n tables, and what a policy says of them.
func further(n int) (sql, sections string) {
	var tables, lines strings.Builder
	for i := range n {
		fmt.Fprintf(&tables, "CREATE TABLE t%d (server_id text NOT NULL, id bigserial, a text, b int DEFAULT 1, c timestamptz DEFAULT now(), d jsonb, e text CHECK (e <> ''), PRIMARY KEY (server_id, id));\n", i)
		fmt.Fprintf(&lines, "  t%d: {scoped: true}\n", i)
	}
	return tables.String(), lines.String()
}

// onCPU is how long a backend has run, in milliseconds; 0 where Linux does not tell.
func onCPU(pid uint32) float64 {
	var ns float64
	if src, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)); err == nil {
		_, _ = fmt.Sscan(string(src), &ns)
	}
	return ns / 1e6
}

// BenchmarkReading tells what reading the catalog costs the backend, in milliseconds of a processor, part by
// part: of the bundled tables, of these beside 1,000 others, and where a policy names all.
func BenchmarkReading(b *testing.B) {
	text, _ := policies.Named("default")
	tables, sections := further(1000)
	for _, c := range []struct{ name, sql, sections string }{{"bundled", "", ""}, {"beside1000", tables, ""}, {"of1000", tables, sections}} {
		b.Run(c.name, func(b *testing.B) {
			f, err := policy.Parse([]byte(strings.Replace(string(text), "\ntables:\n", "\ntables:\n"+c.sections, 1)))
			if err != nil {
				b.Fatal(err)
			}
			w, err := doctor.NewWatch([]*policy.File{f}, policies.Sets())
			if err != nil {
				b.Fatal(err)
			}
			s := setup(b, Config{Judge: w, MaxConns: 2}, bundledTables(b)+c.sql)
			s.exec("ANALYZE")
			s.phases(b, f.TableNames())
		})
	}
}

func (s *bench) phases(b *testing.B, tables []policy.TableName) {
	l, err := s.pool.acquireOwn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.pool.release(l, ownTurn)
	var read catalogRead
	var owners []owner
	parts := []struct {
		name string
		do   func(context.Context, *pgxpool.Conn) error
		took float64
	}{
		{name: "sign", do: func(ctx context.Context, c *pgxpool.Conn) (err error) { read.sign, err = readSign(ctx, c); return err }},
		{name: "tables", do: func(ctx context.Context, c *pgxpool.Conn) (err error) {
			read.rows, owners, read.role, err = s.pool.readCatalog(ctx, c, tables)
			read.schema = asSchema(read.rows)
			return err
		}},
		{name: "names", do: func(ctx context.Context, c *pgxpool.Conn) (err error) {
			read.path, err = s.pool.readNames(ctx, c, &read.schema, owners, tables)
			return err
		}},
		{name: "findings", do: func(ctx context.Context, c *pgxpool.Conn) (err error) {
			read.findings, err = s.pool.find(ctx, c)
			return err
		}},
	}
	pid, n := l.session.conn.PID(), 0.0
	for b.Loop() {
		n++
		for i := range parts {
			before := onCPU(pid)
			if err := parts[i].do(b.Context(), l.conn); err != nil {
				b.Fatal(err)
			}
			parts[i].took += onCPU(pid) - before
		}
	}
	for _, p := range parts {
		b.ReportMetric(p.took/n, p.name+"-ms")
	}
}
