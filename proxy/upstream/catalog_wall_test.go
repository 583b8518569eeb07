package upstream

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// walled is a bench on the bundled tables behind the wall, with rows of the servers a and b.
// Its pool's role runs statements; its admin is the superuser.
type walled struct {
	*bench
	role string
	key  atomic.Pointer[wall.Key] // what the pool signs with; nil: nothing
	dark int                      // tables that lacks found dark
}

var bundled = []policy.TableName{{Schema: "public", Name: "conversations"}, {Schema: "public", Name: "end_users"}, {Schema: "public", Name: "files"}, {Schema: "public", Name: "messages"}}

// walledBench opens the pool through what through makes of the role's URL.
func walledBench(t *testing.T, cfg Config, through func(url string) string) *walled {
	t.Helper()
	w := &walled{role: pgtest.Name("statement")}
	lookup, cluster := pgtest.Name("lookup"), pgtest.Cluster(t).AdminURL("postgres")
	execAt(t, cluster, "CREATE ROLE "+w.role+" LOGIN PASSWORD 'secret'; CREATE ROLE "+lookup)
	t.Cleanup(func() { execAt(t, cluster, "DROP ROLE "+w.role+", "+lookup) })
	url := pgtest.Database(t)
	if err := control.MigrateControl(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := control.MigrateBundled(t.Context(), url, control.Roles{Statement: w.role, Lookup: lookup}); err != nil {
		t.Fatal(err)
	}
	if err := (control.WallKeys{ControlURL: url, OwnerURL: url}).Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	execAt(t, url, "INSERT INTO end_users (server_id, id) VALUES ('a', '1'), ('b', '1'), ('b', '2')")
	cfg.URL = through(pgtest.As(t, url, w.role, "secret"))
	cfg.Wall = Wall{Scopes: map[policy.TableName]string{}, Key: func() (wall.Key, bool) {
		if key := w.key.Load(); key != nil {
			return *key, true
		}
		return wall.Key{}, false
	}}
	for _, name := range bundled {
		cfg.Wall.Scopes[name] = "server_id"
	}
	w.bench = setup(t, cfg, "")
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	w.url, w.admin = url, admin
	w.key.Store(w.secret())
	return w
}

func direct(url string) string { return url }

// secret reads the key that signs.
func (w *walled) secret() *wall.Key {
	w.t.Helper()
	var key wall.Key
	if err := w.admin.QueryRow(w.t.Context(), "SELECT id, secret FROM tenantgate.wall_keys ORDER BY id DESC LIMIT 1").Scan(&key.ID, &key.Secret); err != nil {
		w.t.Fatal(err)
	}
	return &key
}

func execAt(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// as makes a statement one server's.
func as(server string, st *statement) *statement {
	st.server = server
	return st
}

const countUsers = "SELECT count(*) FROM public.end_users"

func (w *walled) sees(server string, n int) {
	w.t.Helper()
	if got := w.must(as(server, sel(countUsers))); got != `"columns":["count"],"rows":[[`+strconv.Itoa(n)+`]]` {
		w.t.Errorf("server %q sees %s, want %d", server, got, n)
	}
}

// Ensure the wall alone, with nothing in a statement's text that restricts it, keeps every
// server to its own rows, in both modes and behind a pooler.
func TestTheWallAlone(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *walled{
		"named":   func(t *testing.T) *walled { return walledBench(t, Config{MaxConns: 1}, direct) },
		"unnamed": func(t *testing.T) *walled { return walledBench(t, Config{MaxConns: 1, NoPrepared: true}, direct) },
		"pooler": func(t *testing.T) *walled {
			return walledBench(t, Config{MaxConns: 4, NoPrepared: true}, func(url string) string { return pooler(t, url) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			if lacks := w.lacks(); len(lacks) > 0 {
				t.Errorf("lacks %v", lacks)
			}
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					for range 10 {
						w.sees("a", 1)
						w.sees("b", 2)
						w.sees("c", 0)
					}
				})
			}
			group.Wait()
			w.must(as("a", write(policy.Insert, false, "INSERT INTO public.end_users (server_id, id) VALUES ('a', 'new')")))
			e := w.fail(as("a", write(policy.Insert, true, "INSERT INTO public.end_users (server_id, id) VALUES ('b', 'new') RETURNING id")), policy.QueryFailed)
			if strings.Contains(e.Error(), "server_id") {
				t.Errorf("%v", e)
			}
			w.must(as("a", write(policy.Delete, false, "DELETE FROM public.end_users")))
			w.sees("a", 0)
			w.sees("b", 2)
			// The setting ends with the transaction.
			w.sees("", 0)
			if got := w.must(as("", sel("SELECT concat(current_setting('tenantgate.server', true), current_setting('tenantgate.signature', true)) = ''"))); !strings.HasSuffix(got, "[[true]]") {
				t.Errorf("the setting stayed: %s", got)
			}
		})
	}
}

// Ensure keys can come, be replaced, go and be false while connections stay open.
func TestKeysWhileConnected(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			w := walledBench(t, cfg, direct)
			first := w.key.Swap(nil)
			w.sees("b", 0) // the connection is made without a key
			w.key.Store(first)
			w.sees("b", 2)
			w.pool.replace()
			w.sees("b", 2) // one that is made with a key
			w.key.Store(nil)
			w.sees("b", 0)
			keys := control.WallKeys{ControlURL: w.url, OwnerURL: w.url}
			if _, err := keys.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.key.Store(first)
			w.sees("b", 2)
			w.key.Store(w.secret())
			if w.key.Load().ID != first.ID+1 {
				t.Errorf("key %d", w.key.Load().ID)
			}
			w.sees("b", 2)
			if _, err := keys.Retire(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.sees("b", 2)
			w.key.Store(first)
			w.sees("b", 0)
			w.key.Store(&wall.Key{ID: first.ID + 1, Secret: first.Secret})
			w.sees("b", 0)
		})
	}
}

// Ensure a server that was left on a connection is nobody's where nothing can be signed.
func TestServerIsNotLeftBehind(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			w := walledBench(t, cfg, direct)
			key := w.key.Load()
			w.must(as("b", sel("SELECT pg_catalog.set_config('tenantgate.server', 'b', false), pg_catalog.set_config('tenantgate.signature', '"+key.Sign("b")+"', false)")))
			w.sees("b", 2)
			w.sees("", 0)
			w.key.Store(nil)
			w.sees("b", 0)
		})
	}
}

// Ensure a key counts in the table of keys alone: what inherits from it has rights of its own.
func TestKeysOfAnHeirSignNothing(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 1}, direct)
	forged := wall.Key{ID: 7, Secret: make([]byte, wall.Size)}
	in, out := forged.Pads()
	w.exec("CREATE TABLE public.heir () INHERITS (tenantgate_wall.keys)")
	if _, err := w.admin.Exec(t.Context(), `INSERT INTO public.heir (id, "inner", "outer") VALUES (7, $1, $2)`, in, out); err != nil {
		t.Fatal(err)
	}
	w.sees("b", 2)
	w.key.Store(&forged)
	w.sees("b", 0)
}

// shows gives the number of end users that a server sees; none where that is an error.
func (w *walled) shows(server string) (n int) {
	body, err := w.query(as(server, sel(countUsers)))
	if err != nil {
		return 0
	}
	n, _ = strconv.Atoi(strings.Trim(strings.TrimPrefix(body, `"columns":["count"],"rows":`), "[]"))
	return n
}

// Ensure nothing is tried, claimed or sent where row-level security is off.
func TestTheWallIsOff(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 1}, direct)
	w.pool.cfg.Wall = Wall{}
	s, err := w.pool.Schema(t.Context(), bundled)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range s.Tables {
		if table.Walled || !table.Dark || !strings.Contains(table.Lacks, "--rls") {
			t.Errorf("%+v", table)
		}
	}
	w.exec("ALTER TABLE public.files DISABLE ROW LEVEL SECURITY")
	if s, err = w.pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "files"}}); err != nil || s.Tables[0].Walled || s.Tables[0].Dark || s.Tables[0].Lacks != "" {
		t.Errorf("%+v, %v", s, err)
	}
	off := setup(t, Config{MaxConns: 1}, "")
	if got := off.must(as("a", sel("SELECT current_setting('tenantgate.server', true) IS NULL, count(*) FROM pg_prepared_statements WHERE statement LIKE '%tenantgate.server%' OR statement LIKE '%tenantgate.signature%'"))); !strings.HasSuffix(got, "[[true,0]]") {
		t.Errorf("%s", got)
	}
}

// Ensure a bound statement carries its server, and no other's rows come though both are
// asked for over one connection.
func TestBoundStatementsAreSigned(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 1}, direct)
	w.exec("CREATE TABLE public.notes (server_id text, id int, secret text); ALTER TABLE public.notes ENABLE ROW LEVEL SECURITY; GRANT SELECT, INSERT, UPDATE, DELETE ON public.notes TO " + w.role +
		"; INSERT INTO public.notes VALUES ('a', 1, 'x'), ('b', 2, 'y')")
	expression := wall.Expression("server_id", "pg_catalog", "text")
	w.exec("CREATE POLICY tenantgate_server ON public.notes USING (" + expression + ") WITH CHECK (" + expression + ")")
	w.pool.cfg.Wall.Scopes[policy.TableName{Schema: "public", Name: "notes"}] = "server_id"
	for server, want := range map[string]string{"a": "[[1]]", "b": "[[2]]", "c": "[]"} {
		bound := boundTo(t, w.bench, server, "SELECT id FROM notes WHERE server_id = ?")
		if bound.Server() != server {
			t.Errorf("bound for %q, want %q", bound.Server(), server)
		}
		res, err := w.pool.Query(t.Context(), "", bound, Encoding{}, nil)
		if err != nil || !strings.HasSuffix(string(res.Body), `"rows":`+want) {
			t.Errorf("%s: %s, %v", server, res.Body, err)
		}
	}
}
