package cost

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	"github.com/tenantgate/tenantgate/wall"
)

// bench is the bundled tables with their wall, and two roles on them.
type bench struct {
	url          string
	admin        *pgx.Conn
	key          wall.Key
	free, walled side // a role that row-level security does not bind, and the statement role
}

// side is a role, the service's pool for it, and what the policy makes of the queries there.
type side struct {
	role, url string
	pool      *upstream.Pool
	approved  map[string]*policy.Approved
}

func open(t *testing.T) *bench {
	t.Helper()
	url := pgtest.Database(t)
	free, walled, lookup := pgtest.Name("free"), pgtest.Name("statement"), pgtest.Name("lookup")
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(t.Context()) })
	b := &bench{admin: admin, key: wall.Key{ID: 1, Secret: make([]byte, wall.Size)}}
	b.exec(t, "CREATE ROLE "+walled+" LOGIN PASSWORD 'secret'; CREATE ROLE "+lookup+"; CREATE ROLE "+free+" LOGIN PASSWORD 'secret' BYPASSRLS; GRANT pg_read_all_data TO "+free)
	if _, err := control.MigrateBundled(t.Context(), url, control.Roles{Statement: walled, Lookup: lookup}); err != nil {
		t.Fatal(err)
	}
	in, out := b.key.Pads()
	if _, err := admin.Exec(t.Context(), `INSERT INTO `+wall.Keys+` (id, "inner", "outer") VALUES (1, $1, $2)`, in, out); err != nil {
		t.Fatal(err)
	}
	for _, sql := range rowsSQL {
		b.exec(t, sql)
	}
	b.url, b.free.role, b.walled.role = url, free, walled
	return b
}

func (b *bench) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := b.admin.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(sql, err)
	}
}

// side opens a pool and has the policy decide with what the pool reads of the tables. With
// a key every table must be one that row-level security protects, without one none.
func (b *bench) side(t *testing.T, role string, key func() (wall.Key, bool)) side {
	t.Helper()
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[policy.TableName]string{}
	for _, name := range file.TableNames() {
		scopes[name] = "server_id"
	}
	s := side{role: role, url: pgtest.As(t, b.url, role, "secret"), approved: map[string]*policy.Approved{}}
	cfg := upstream.Config{URL: s.url, MaxConns: 1, MaxConnLifetime: 24 * time.Hour, Wall: upstream.Wall{Key: key, Scopes: scopes}}
	if s.pool, err = upstream.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	schema, err := s.pool.Schema(t.Context(), file.TableNames())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range schema.Tables {
		if table.Walled != (key != nil) {
			t.Fatalf("%v is walled: %t", table.Name, table.Walled)
		}
	}
	p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		d := p.Decide(q.text, policy.REST)
		if d.Verdict != policy.Allow {
			t.Fatalf("%s: %+v", q.text, d.Refusal)
		}
		s.approved[q.text] = d.Approved
	}
	return s
}
