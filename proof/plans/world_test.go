package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// Servers: the first owns half of all rows, ten have a fiftieth each, and what is left belongs to
// small ones of some hundred rows. Three of them are measured.
var measured = []struct{ name, id string }{{"large", "srv-1"}, {"middle", "srv-5"}, {"small", "srv-12"}}

// side is what statements are measured on: a database, the policies for it and its sessions'
// settings.
type side struct {
	url      string
	policies map[string]*policy.Policy // by the name of the built-in one
	settings map[string]string
	limit    time.Duration // of one execution
}

// world is two databases with the same rows. Before, Postgres' planner sees the caller's constants
// and has statistics of all columns; after, it has neither.
type world struct {
	before, after side
	key           wall.Key
	admin         func(database string) (url string)
}

func open(t *testing.T, rows int) *world {
	t.Helper()
	start := time.Now()
	cfg := pgtest.Config(pgtest.DataDir(t))
	cfg.Settings["autovacuum"] = "off" // it would analyse one of the two
	cfg.Settings["shared_buffers"] = "1GB"
	cluster, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	w := &world{key: wall.Key{ID: 1, Secret: make([]byte, wall.Size)}, admin: cluster.AdminURL}
	execute(t, cluster.AdminURL("postgres"), "CREATE ROLE walled LOGIN PASSWORD 'secret'; CREATE ROLE lookup", "CREATE DATABASE after")
	after, before := cluster.AdminURL("after"), cluster.AdminURL("before")
	if _, err := control.MigrateBundled(t.Context(), after, control.Roles{Statement: "walled", Lookup: "lookup"}); err != nil {
		t.Fatal(err)
	}
	in, out := w.key.Pads()
	execute(t, after, fmt.Sprintf(`INSERT INTO %s (id, "inner", "outer") VALUES (1, '\x%x', '\x%x')`, wall.Keys, in, out))
	execute(t, after, append(seeds(t), fill(rows)...)...)
	execute(t, cluster.AdminURL("postgres"), "CREATE DATABASE before TEMPLATE after")
	execute(t, before, undo, "VACUUM (FREEZE, ANALYZE)")
	execute(t, after, "VACUUM (FREEZE, ANALYZE)")
	t.Logf("filled in %s", time.Since(start).Round(time.Second))
	w.before = side{pgtest.As(t, before, "walled", "secret"), compiled(t, "\nplanner: custom\n"), map[string]string{"plan_cache_mode": "auto"}, limitBefore}
	w.after = side{pgtest.As(t, after, "walled", "secret"), compiled(t, ""), map[string]string{"plan_cache_mode": "force_generic_plan"}, limitAfter}
	return w
}

// execute runs texts, each in a transaction of its own, on one connection.
func execute(t *testing.T, url string, texts ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range texts {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatal(sql, err)
		}
	}
}

// compiled gives the built-in policies that the corpus is written for, with a line added.
func compiled(t *testing.T, line string) map[string]*policy.Policy {
	t.Helper()
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for i := range schema.Tables {
		schema.Tables[i].Walled = true
	}
	all := map[string]*policy.Policy{}
	for _, name := range []string{"default", "inject"} {
		src, _ := policies.Named(name)
		file, err := policy.Parse(append(src, line...))
		if err != nil {
			t.Fatal(err)
		}
		sets := policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()}
		if all[name], err = policy.Compile(file, schema, sets); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// connect opens a session as the service does, signed for a server until its end.
func (w *world) connect(t *testing.T, s side, server string) *pgconn.PgConn {
	t.Helper()
	cfg, err := pgconn.ParseConfig(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range s.settings {
		cfg.RuntimeParams[name] = value
	}
	cfg.RuntimeParams["search_path"], cfg.RuntimeParams["jit"] = "pg_catalog, pg_temp", "off"
	cfg.RuntimeParams["statement_timeout"] = fmt.Sprint(s.limit.Milliseconds())
	conn, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	sign := fmt.Sprintf("SELECT set_config('%s', '%s', false), set_config('%s', '%s', false)", wall.Setting, server, wall.Signature, w.key.Sign(server))
	if _, err := conn.Exec(t.Context(), sign).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return conn
}

// undo gives the tables what migration 00004 took from them.
const undo = `
	DROP INDEX public.end_users_external, public.end_users_username;
	CREATE INDEX end_users_external ON public.end_users (server_id, external_user_id) WHERE external_user_id <> '';
	CREATE INDEX end_users_username ON public.end_users (server_id, username) WHERE username <> '';
	ALTER INDEX public.end_users_email ALTER COLUMN 2 SET STATISTICS -1;
	DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT attrelid::regclass AS t, attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped
			AND attrelid IN ('public.end_users'::regclass, 'public.conversations'::regclass, 'public.messages'::regclass, 'public.files'::regclass) LOOP
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS -1', c.t, c.attname);
		END LOOP; END $$`

// fill gives the SQL that makes about so many rows: of a hundred, ten are end users, fifteen
// conversations, seventy messages and five files. Few conversations have most messages, most rows
// are young, many texts are the same, and many values are missing. The measured servers' most used
// rows are those that the corpus asks for.
func fill(rows int) []string {
	tested := `CASE WHEN s.id IN ('srv-1', 'srv-5', 'srv-12') AND %[2]s < 5 THEN '%[1]s' || %[2]s + 1 ELSE md5(s.id || '%[1]s' || %[2]s)::uuid::text END`
	user, conversation := fmt.Sprintf(tested, "u", "u"), fmt.Sprintf(tested, "c", "c")
	const at = `timestamptz '2026-11-20' - random() * random() * interval '690 days' AS at`
	some := func(part, more string) string {
		return fmt.Sprintf("(SELECT s.id, i, %s, %s FROM servers AS s, generate_series(0, s.n * %s / 100) AS i) AS s", more, at, part)
	}
	return []string{
		"SET session_replication_role = replica", // foreign keys are right as they are made
		"SELECT setseed(0.5)",
		fmt.Sprintf(`CREATE TEMP TABLE servers AS SELECT 'srv-' || i AS id, CASE WHEN i = 1 THEN %[1]d / 2 WHEN i < 12 THEN %[1]d / 50 ELSE 100 END AS n FROM generate_series(1, 11 + %[1]d * 3 / 1000) AS i`, rows),
		`INSERT INTO end_users (server_id, id, external_user_id, username, name, email, phone_number, created_at, updated_at)
			SELECT s.id, ` + user + `, CASE WHEN i % 5 = 0 THEN '' ELSE 'ext-' || i END, 'user' || i, CASE WHEN i % 4 = 0 THEN 'Guest' ELSE 'Name ' || i % 5000 END,
				CASE WHEN i % 10 < 3 THEN '' ELSE 'user' || i || '@' || (ARRAY['example.com', 'example.org', 'mail.test'])[1 + i % 3] END, CASE WHEN i % 5 = 0 THEN '+1 555 ' || i END, at, at + i % 9 * interval '1 day'
			FROM ` + some("10", "i AS u") + ` ORDER BY at ON CONFLICT DO NOTHING`,
		`INSERT INTO conversations (server_id, id, end_user_id, title, created_at, updated_at)
			SELECT s.id, ` + conversation + `, CASE WHEN i % 5 > 0 THEN ` + user + ` END, CASE WHEN i % 10 = 0 THEN '' WHEN i % 10 < 5 THEN 'New conversation' ELSE 'Question about topic ' || i END, at, at + i % 7 * interval '1 hour'
			FROM ` + some("15", "i AS c, (power(random(), 2) * (s.n / 10))::int AS u") + ` ORDER BY at ON CONFLICT DO NOTHING`,
		`INSERT INTO messages (server_id, id, conversation_id, role, content, metadata, created_at)
			SELECT s.id, md5(s.id || 'm' || i)::uuid::text, ` + conversation + `, CASE WHEN i % 50 = 0 THEN 'tool' WHEN i % 99 = 0 THEN 'system' WHEN i % 2 = 0 THEN 'user' ELSE 'assistant' END,
				CASE WHEN i % 20 = 0 THEN '' WHEN i % 20 < 5 THEN 'Thank you!' ELSE 'What is the answer to question number ' || i || ', in so many words as one writes to a machine?' END,
				CASE WHEN i % 10 = 0 THEN '{}' WHEN i % 2 = 0 THEN jsonb_build_object('lang', (ARRAY['en', 'en', 'en', 'sv', 'ja'])[1 + i / 2 % 5], 'tags', to_jsonb(ARRAY['billing', 'math', 'food', 'code']::text[]) - i % 4)
					ELSE jsonb_build_object('model', CASE WHEN i % 9 = 0 THEN 'large' ELSE 'small' END, 'usage', jsonb_build_object('prompt', i % 100, 'completion', i % 70), 'cost', i % 40 / 80.0, 'rating', NULLIF(i % 7, 6)) END, at
			FROM ` + some("70", "(power(random(), 3) * (s.n * 15 / 100))::int AS c") + ` ORDER BY at ON CONFLICT DO NOTHING`,
		`INSERT INTO files (server_id, id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at)
			SELECT s.id, md5(s.id || 'f' || i)::uuid::text, CASE WHEN i % 7 > 0 THEN ` + user + ` END, CASE WHEN i % 3 > 0 THEN ` + conversation + ` END, 'file-' || i % 2000 || (ARRAY['.png', '.txt', '.pdf'])[1 + i % 3],
				(ARRAY['image/png', 'text/plain', 'application/pdf'])[1 + i % 3], power(10, random() * 9)::bigint, CASE WHEN i % 4 > 0 THEN 'k/' || i END, at
			FROM ` + some("5", "(power(random(), 3) * (s.n * 15 / 100))::int AS c, (power(random(), 2) * (s.n / 10))::int AS u") + ` ORDER BY at ON CONFLICT DO NOTHING`,
		"DROP TABLE servers",
	}
}
