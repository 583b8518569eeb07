package wire

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

const realPolicy = `
apiVersion: tenantgate/v1
kind: Policy
metadata: {name: test}
statement: {kinds: [select, insert, update, delete]}
scope: {column: server_id, mode: inject}
tables:
  notes: {scoped: true}
  feelings: {scoped: true}
  spans: {scoped: true}
functions: {allow: ["@builtin-safe"]}
limits: {statementTimeout: 5s, maxRows: none, maxResultBytes: none}
`

const realSchema = `
CREATE TYPE mood AS ENUM ('glad', 'sad'); CREATE TYPE pair AS (a int, b int); CREATE DOMAIN title AS text CHECK (VALUE <> '');
CREATE DOMAIN relation AS regclass;
CREATE TABLE feelings (server_id text, id int8 GENERATED ALWAYS AS IDENTITY, mo mood, mos mood[], title title, titles title[], pair pair, relation relation);
CREATE DOMAIN days AS interval day; CREATE DOMAIN code AS varchar(3);
CREATE TABLE spans (server_id text, id int, loose interval(2), one interval day, many interval hour to minute[], own days, code code);
CREATE TABLE notes (server_id text, id int, body text, at timestamptz, UNIQUE (server_id, id));
INSERT INTO notes VALUES ('` + ownID + `', 1, 'a', '2024-07-01 12:00Z'), ('other', 1, 'canary', now())`

// onPostgres has a session serve a client of a real database.
func onPostgres(t *testing.T, settings ...asked) (*sitting, *pgx.Conn) {
	t.Helper()
	w, _, admin := twoOnPostgres(t, 0, settings...)
	return w, admin
}

// twoOnPostgres has two clients share a pool of so many connections; 0: as many as it likes.
// The settings are those of the first one's start.
func twoOnPostgres(t *testing.T, conns int, settings ...asked) (first, second *sitting, admin *pgx.Conn) {
	t.Helper()
	url := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	if _, err := admin.Exec(t.Context(), realSchema); err != nil {
		t.Fatal(err)
	}
	pool, err := upstream.Open(t.Context(), upstream.Config{URL: url, SearchPath: "pg_catalog, public", AcquireTimeout: 10 * time.Second, MaxConns: int32(conns)}) //nolint:gosec // a few
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	gate := realGate(t, pool)
	first, second = sitOn(t, gate, pool.Link(proxy.Account{Server: ownID}), settings), sitOn(t, gate, pool.Link(proxy.Account{Server: ownID}), nil)
	first.answers()
	second.answers()
	return first, second, admin
}

// realGate decides on what the pool's database holds.
func realGate(t *testing.T, pool *upstream.Pool) *deciding {
	t.Helper()
	file, err := policy.Parse([]byte(realPolicy))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := pool.Schema(t.Context(), file.TableNames())
	if err != nil {
		t.Fatal(err)
	}
	gate := &deciding{kept: map[string]*policy.Approved{}, budget: 1 << 30}
	gate.policy, err = policy.Compile(file, schema, policy.Sets{
		Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func TestRealStatements(t *testing.T) {
	w, _ := onPostgres(t)
	w.is(w.query("SELECT id, body FROM notes"), "columns(id:23,body:25) row(1,a) <SELECT 1> I")
	w.is(w.query("INSERT INTO notes (id, body) VALUES (2, 'b')"), "<INSERT 0 1> I")
	w.is(w.query("INSERT INTO notes (id, body) VALUES (3, 'c'); INSERT INTO notes (id, body) VALUES (2, 'b'); SELECT 1"), "<INSERT 0 1> ERROR 23505 I")
	w.is(w.query("SELECT count(*) FROM notes"), "columns(count:20) row(2) <SELECT 1> I")
	w.is(w.query("SELECT 1/0"), "ERROR 22012 I")
	w.is(w.query("SELECT id FROM notes; SELECT nothing FROM notes"), "columns(id:23) row(1) row(2) <SELECT 2> ERROR 42703@30 I")
	w.is(w.pipe(step("SELECT body FROM notes WHERE id = $1", "2")...), "parsed bound row(b) <SELECT 1> I")
	w.is(w.pipe(slices.Concat(step("INSERT INTO notes (id) VALUES (4)"), step("INSERT INTO notes (id) VALUES (4)"), step("SELECT 1"))...), "parsed bound <INSERT 0 1> parsed bound ERROR 23505 I")
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: "SELECT body FROM notes WHERE id = $1", ParameterOIDs: []uint32{20}}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}), "parsed params[20] columns(body:25) I")
	eight := binary.BigEndian.AppendUint64(nil, 2)
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "s", ParameterFormatCodes: []int16{1}, Parameters: [][]byte{eight}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}), "bound columns(body:25) row(b) <SELECT 1> I")
	w.is(w.query(""), "empty I")
}

func TestRealTransactions(t *testing.T) {
	w, admin := onPostgres(t)
	w.is(w.query("BEGIN ISOLATION LEVEL REPEATABLE READ"), "<BEGIN> T")
	w.is(w.query("INSERT INTO notes (id) VALUES (2)"), "<INSERT 0 1> T")
	w.is(w.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), "ERROR 25001 E")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.query("BEGIN")
	w.is(w.query("INSERT INTO notes (id) VALUES (2)"), "<INSERT 0 1> T")
	w.is(w.query("SAVEPOINT a"), "<SAVEPOINT> T")
	w.is(w.query("INSERT INTO notes (id) VALUES (2)"), "ERROR 23505 E")
	w.is(w.query("SELECT 1"), "ERROR 25P02 E")
	w.is(w.query("ROLLBACK TO a"), "<ROLLBACK> T")
	w.is(w.query("INSERT INTO notes (id) VALUES (3)"), "<INSERT 0 1> T")
	w.is(w.query("SELECT 1 FROM secrets"), "ERROR 42501@15 E")
	w.is(w.query("ROLLBACK TO a"), "<ROLLBACK> T")
	w.is(w.query("RELEASE a"), "<RELEASE> T")
	w.is(w.query("RELEASE a"), "ERROR 3B001 E")
	w.is(w.query("COMMIT"), "<ROLLBACK> I")
	w.is(w.query("SELECT count(*) FROM notes"), "columns(count:20) row(1) <SELECT 1> I")
	w.is(w.query("BEGIN; INSERT INTO notes (id) VALUES (2); COMMIT; INSERT INTO notes (id) VALUES (3)"), "<BEGIN> <INSERT 0 1> <COMMIT> <INSERT 0 1> I")
	w.is(w.query("INSERT INTO notes (id) VALUES (4); BEGIN; INSERT INTO notes (id) VALUES (5)"), "<INSERT 0 1> <BEGIN> <INSERT 0 1> T")
	w.is(w.query("COMMIT; START TRANSACTION"), "<COMMIT> <START TRANSACTION> T")
	w.is(w.query("COMMIT AND CHAIN"), "<COMMIT> T")
	w.is(w.query("DELETE FROM notes"), "<DELETE 5> T")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.pipe(slices.Concat(step("BEGIN"), step("DELETE FROM notes WHERE id = 5"), step("COMMIT"))...), "parsed bound <BEGIN> parsed bound <DELETE 1> parsed bound <COMMIT> I")
	w.is(w.pipe(slices.Concat(step("INSERT INTO notes (id) VALUES (6)"), step("BEGIN"), step("INSERT INTO notes (id) VALUES (7)"))...), "parsed bound <INSERT 0 1> parsed bound <BEGIN> parsed bound <INSERT 0 1> T")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.pipe(slices.Concat(step("INSERT INTO notes (id) VALUES (6)"), step("BEGIN READ ONLY"))...), "parsed bound <INSERT 0 1> parsed bound <BEGIN> T")
	var state string
	if err := admin.QueryRow(t.Context(), "SELECT state FROM pg_catalog.pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()").Scan(&state); err != nil || state != "idle in transaction" {
		t.Errorf("the connection is %s, %v", state, err)
	}
	w.is(w.query("DELETE FROM notes WHERE id = 6"), "ERROR 25006 E")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.query("SELECT count(*) FROM notes"), "columns(count:20) row(4) <SELECT 1> I")
	w.query("BEGIN")
	w.is(w.query("DELETE FROM notes WHERE id = 4"), "<DELETE 1> T")
	w.is(w.query("SET TRANSACTION READ ONLY"), "<SET> T")
	w.is(w.query("SET TRANSACTION READ WRITE"), "ERROR 25001 E")
	w.query("ROLLBACK")
	w.query("SET default_transaction_read_only = on")
	if got := w.query("DELETE FROM notes"); !strings.HasPrefix(got, "ERROR") {
		t.Error(got)
	}
	w.is(w.query("SELECT count(*) FROM notes"), "columns(count:20) row(4) <SELECT 1> I")
}

func TestRealSettings(t *testing.T) {
	w, _ := onPostgres(t, asked{"TimeZone", "Asia/Tokyo"})
	const at = "SELECT at FROM notes"
	w.is(w.query(at), "columns(at:1184) row(2024-07-01 21:00:00+09) <SELECT 1> I")
	w.is(w.query("SET TimeZone = 'Mars/Olympus'"), "ERROR 22023 I")
	w.is(w.query("SET TimeZone = 'europe/berlin'"), "<SET> TimeZone=europe/berlin I")
	w.is(w.query(at), "columns(at:1184) row(2024-07-01 14:00:00+02) <SELECT 1> I")
	w.query("BEGIN")
	w.query(at)
	w.is(w.query("SET LOCAL DateStyle = 'German'"), "<SET> DateStyle=German, DMY T")
	w.is(w.query(at), "columns(at:1184) row(01.07.2024 14:00:00 CEST) <SELECT 1> T")
	w.is(w.query("COMMIT"), "<COMMIT> DateStyle=ISO, YMD I")
	w.is(w.query(at), "columns(at:1184) row(2024-07-01 14:00:00+02) <SELECT 1> I")
	w.query("SET statement_timeout = '50ms'")
	w.is(w.query("SELECT count(*) FROM generate_series(1, 100000000) AS g(x)"), "columns(count:20) ERROR 57014 I")

	bad, _ := onPostgres(t, asked{"TimeZone", "Mars/Olympus"})
	bad.is(bad.query(at), "FATAL 22023 end")
}

// Portals with row limits, over several exchanges, and cursors.
func TestRealPortals(t *testing.T) {
	w, _ := onPostgres(t)
	w.query("INSERT INTO notes (id) VALUES (2), (3), (4)")
	w.query("BEGIN")
	w.is(w.pipe(&pgproto3.Parse{Query: "SELECT id FROM notes WHERE id > $1 ORDER BY id"}, &pgproto3.Bind{DestinationPortal: "p", Parameters: [][]byte{[]byte("0")}},
		&pgproto3.Execute{Portal: "p", MaxRows: 2}), "parsed bound row(1) row(2) *pgproto3.PortalSuspended T")
	w.is(w.pipe(&pgproto3.Describe{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 1}), "columns(id:23) row(3) *pgproto3.PortalSuspended T")
	w.is(w.pipe(&pgproto3.Execute{Portal: "p"}, &pgproto3.Close{ObjectType: 'P', Name: "p"}), "row(4) <SELECT 1> closed T")
	w.is(w.query("DECLARE c CURSOR FOR SELECT id FROM notes ORDER BY id"), "<DECLARE CURSOR> T")
	w.is(w.query("FETCH 2 FROM c"), "columns(id:23) row(1) row(2) <FETCH 2> T")
	w.is(w.pipe(step("FETCH 1 FROM c")...), "parsed bound row(3) <FETCH 1> T")
	w.is(w.query("CLOSE c"), "<CLOSE CURSOR> T")
	w.is(w.query("COMMIT"), "<COMMIT> I")
	w.is(w.query("DECLARE c CURSOR FOR SELECT 1"), "ERROR 25P01 I")
}

func TestRealCopy(t *testing.T) {
	w, admin := onPostgres(t)
	w.is(w.copied("COPY notes (id, body) FROM STDIN", strings.Repeat("x", 0)+"2\tb\n3\t\\N\n"), "copyin0 [0 0] <COPY 2> I")
	w.is(w.copied("COPY notes (id, body) FROM STDIN", "4\tb\n3\tc\n"), "copyin0 [0 0] ERROR 23505 COPY notes, line 2 I")
	w.is(w.copied("COPY notes (id, body) FROM STDIN (FORMAT csv)", "4,\"b\n\"\nfive,c\n"), "copyin0 [0 0] ERROR 22P02 COPY notes, line 2 I")
	w.is(w.copied("COPY notes (id, body) FROM STDIN (FORMAT binary)", binaryCopy([]string{"\x00\x00\x00\x05", "e"})), "copyin1 [1 1] <COPY 1> I")
	var ids []int
	if err := admin.QueryRow(t.Context(), "SELECT array_agg(id ORDER BY id) FROM notes WHERE server_id = $1", ownID).Scan(&ids); err != nil || !slices.Equal(ids, []int{1, 2, 3, 5}) {
		t.Errorf("%v %v", ids, err)
	}
	w.send(&pgproto3.Query{String: "COPY (SELECT id FROM notes ORDER BY id) TO STDOUT"})
	w.is(w.answers(), "*pgproto3.CopyOutResponse *pgproto3.CopyData *pgproto3.CopyData *pgproto3.CopyData *pgproto3.CopyData *pgproto3.CopyDone <COPY 4> I")
}

func TestRealCancel(t *testing.T) {
	w, admin := onPostgres(t)
	w.send(&pgproto3.Query{String: "SELECT count(*) FROM generate_series(1, 100000000) AS g(x)"})
	until(t, func() bool {
		var running bool
		err := admin.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series%' AND pid <> pg_backend_pid())").Scan(&running)
		return running && err == nil
	})
	time.Sleep(300 * time.Millisecond) // from Parse to Execute
	w.client.cancelRunning()
	w.is(w.answers(), "columns(count:20) ERROR 57014 I")
	w.is(w.query("SELECT 1"), "columns(?column?:23) row(1) <SELECT 1> I")
}

// What Postgres makes of a setting, the session does. Postgres shows the value within the statement that sets it: the next
// one could last longer than a statement_timeout of a millisecond.
func TestSettingsAsPostgres(t *testing.T) {
	admin, err := pgx.Connect(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), "SET DateStyle = 'ISO, YMD'"); err != nil {
		t.Fatal(err)
	}
	w := greeted(t)
	for name, values := range map[string][]string{
		"DateStyle":           {"us", "ISO, NONEURO", "postgresql, dmy", "german", "german, mdy", "iso, sql", "ymd, dmy", "SQL", "x", "", "ISO,"},
		"IntervalStyle":       {"POSTGRES", "iso_8601", "sql", "sql_standard"},
		"statement_timeout":   {"0", "1.5s", "90s", "1 min", "0.5", "1.5", "1d", "1MIN", "1 minute", "-1", "2147483647", "2147483648", "25d", "1e3", "us", "1us", "999us"},
		"extra_float_digits":  {"3", "4", "-15", "-16", "x"},
		"client_min_messages": {"debug", "ERROR", "fatal", "notice"},
		"client_encoding":     {"Unicode", "utf-8", "UTF_8"},
	} {
		for _, value := range values {
			var shown string
			refused := admin.QueryRow(t.Context(), "SELECT set_config($1, $2, true)", name, value).Scan(&shown) != nil
			got := w.query("SET " + name + " = '" + value + "'; SHOW " + name)
			if strings.HasPrefix(got, "ERROR") != refused || !refused && !strings.Contains(got, "row("+shown+")") {
				t.Errorf("%s = %q: %s, Postgres has %q, refused %t", name, value, got, shown, refused)
			}
			w.query("RESET ALL")
		}
	}
}

// The table of types is what a real catalog has.
func TestArrayTypes(t *testing.T) {
	admin, err := pgx.Connect(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	rows, err := admin.Query(t.Context(), `SELECT b.oid, b.typarray FROM pg_catalog.pg_type a JOIN pg_catalog.pg_type b ON b.oid = a.typelem
		WHERE a.typcategory = 'A' AND b.oid < 10000 AND b.typarray < 10000 AND b.typrelid = 0 GROUP BY b.oid, b.typarray ORDER BY b.oid`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (pair [2]uint32, err error) {
		return pair, r.Scan(&pair[0], &pair[1])
	})
	if err != nil {
		t.Fatal(err)
	}
	newer := func(pair [2]uint32) bool { return !slices.Contains(got, pair) }
	missing := func(pair [2]uint32) bool { return !slices.Contains(arrayTypes[:], pair) }
	if slices.ContainsFunc(got, missing) || slices.ContainsFunc(arrayTypes[:], newer) {
		t.Errorf("the catalog has %v", got)
	}
	w := greeted(t)
	got2 := w.query("\n  select b.oid, b.typarray\n from pg_catalog.pg_type a\n left join pg_catalog.pg_type b on b.oid = a.typelem\n where a.typcategory = 'A'\n group by b.oid, b.typarray\n order by b.oid\n")
	if !strings.HasPrefix(got2, "columns(oid:26,typarray:26) row(16,1000) row(17,1001)") {
		t.Error(got2)
	}
}
