package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// five gives a step's bound statement with 5 as its first value, in the binary form of int4.
func five(t *testing.T, s proxy.Step) policy.Bound {
	t.Helper()
	args := []policy.Arg{{Kind: policy.Binary, Text: "\x00\x00\x00\x05"}}
	for i := 1; i < s.Bound.NumParams(); i++ {
		if p := s.Bound.Param(i); p.Index == len(args) {
			args = append(args, p.Value)
		}
	}
	b, reason := s.Prepared.Approved.Bind("mine", args)
	if reason != nil {
		t.Fatal(reason)
	}
	return b
}

// Ensure a client that was told of a statement by what its connection has prepared of it is refused, on another connection
// too, where the statement is not described so any more: its values, and its rows, would be read as of other types.
func TestToldByThePlan(t *testing.T) {
	for name, text := range map[string]string{
		"a value": "UPDATE notes SET id = $1 WHERE body = 'b'", "a result": "UPDATE notes SET id = $1 WHERE body = 'b' RETURNING id",
	} {
		t.Run(name, func(t *testing.T) {
			l := link(t, Config{MaxConns: 2})
			steps := l.extended(text, "5")
			steps[2].Bound = five(t, steps[2])
			for range 3 { // the connection keeps what is asked for again
				for _, part := range [][]proxy.Step{steps[:2], steps[2:]} {
					if got, _, err := l.run(proxy.Exchange{Steps: part, Commit: true}); err != nil {
						t.Fatal(got, err)
					}
				}
			}
			// As when another connection finds the table altered, or too many descriptions are remembered.
			l.pool.descriptions.drop((&wanted{approved: steps[0].Prepared.Approved}).key())
			l.describe(steps)
			l.exec("ALTER TABLE notes ALTER id TYPE real")
			l.takeOne() // which the client had
			if got, _, err := l.run(proxy.Exchange{Steps: steps[2:], Commit: true}); sqlStateOf(err) != "0A000" {
				t.Errorf("%s %v", got, err)
			}
			var id string
			if err := l.admin.QueryRow(t.Context(), "SELECT id::text FROM notes WHERE body = 'b'").Scan(&id); err != nil || id != "5" {
				t.Errorf("the row has the id %s %v", id, err)
			}
		})
	}
}

// Ensure values that stand for columns by their position never get into others: also in a transaction whose snapshot is older
// than the columns' new order, which Postgres takes all the same.
func TestPositionsInAnOldSnapshot(t *testing.T) {
	for _, isolation := range []string{"READ COMMITTED", "REPEATABLE READ"} {
		t.Run(isolation, func(t *testing.T) {
			l := link(t, Config{MaxConns: 1})
			l.exec("CREATE TABLE pairs (server_id text, a text, b text)")
			l.decidesBy(`{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: test}, statement: {kinds: [select, insert]}, scope: {column: server_id, mode: inject},
tables: {pairs: {scoped: true}, notes: {scoped: true}}, limits: {statementTimeout: 2s, maxRows: none, maxResultBytes: none}}`)
			insert := l.simple("INSERT INTO pairs VALUES ('mine', 'left', 'right')")
			begin := proxy.Exchange{Begin: l.begin("BEGIN ISOLATION LEVEL " + isolation), Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}
			l.want(begin, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
			l.want(proxy.Exchange{Steps: []proxy.Step{insert}, Commit: true}, proxy.Open, "done INSERT 0 1")
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK")}, Commit: true}, proxy.Idle, "done ROLLBACK")
			l.want(begin, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
			l.exec("ALTER TABLE pairs RENAME a TO c; ALTER TABLE pairs RENAME b TO a; ALTER TABLE pairs RENAME c TO b")
			if got, state, err := l.run(proxy.Exchange{Steps: []proxy.Step{insert}, Commit: true}); !errors.Is(err, proxy.ErrSchemaChanged) {
				t.Errorf("%s %c %v", got, state, err)
			}
		})
	}
}

// Ensure a transaction whose snapshot is older than a table, or than its last columns, can write to it by position.
func TestPositionsOfANewTable(t *testing.T) {
	for name, c := range map[string]struct{ altered, insert string }{
		"made":                   {"CREATE TABLE pairs (server_id text, a text, b text)", "INSERT INTO pairs VALUES ('mine', 'left', 'right')"},
		"widened":                {"CREATE TABLE pairs (server_id text); ALTER TABLE notes ADD more text", "INSERT INTO notes VALUES ('mine', 9, 'c', 'more')"},
		"widened, then narrowed": {"CREATE TABLE pairs (server_id text); ALTER TABLE notes ADD less text, ADD more text; ALTER TABLE notes DROP less", "INSERT INTO notes VALUES ('mine', 9, 'c', 'more')"},
	} {
		t.Run(name, func(t *testing.T) {
			l := link(t, Config{MaxConns: 2})
			begin := proxy.Exchange{Begin: l.begin("BEGIN ISOLATION LEVEL REPEATABLE READ"), Steps: []proxy.Step{l.simple("SELECT 1 AS one")}, Commit: true}
			l.want(begin, proxy.Open, "columns one:23:0", "row 1", "done SELECT 1")
			l.exec(c.altered)
			l.decidesBy(`{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: test}, statement: {kinds: [select, insert]}, scope: {column: server_id, mode: inject},
tables: {pairs: {scoped: true}, notes: {scoped: true}}, limits: {statementTimeout: 2s, maxRows: none, maxResultBytes: none}}`)
			l.want(proxy.Exchange{Steps: []proxy.Step{l.simple(c.insert)}, Commit: true}, proxy.Open, "done INSERT 0 1")
		})
	}
}

// Ensure a client that prepares, describes and runs a statement in one go is not refused because of what its connection knows
// of the text from before a table was altered.
func TestPreparedInOneGo(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	const text = "SELECT id FROM notes WHERE id = $1"
	for range 3 { // the connection keeps what is asked for again
		if got, _, err := l.run(proxy.Exchange{Steps: l.extended(text, "1"), Commit: true}); err != nil {
			t.Fatal(got, err)
		}
	}
	steps := l.extended(text, "1")
	key := (&wanted{approved: steps[0].Prepared.Approved}).key()
	known, _ := l.pool.descriptions.get(key)
	l.exec("ALTER TABLE notes ALTER id TYPE bigint")
	known.Params, known.Row = append([]uint32{pgtype.Int8OID}, known.Params[1:]...), bytes.Replace(known.Row, []byte{0, 0, 0, pgtype.Int4OID, 0, 4}, []byte{0, 0, 0, pgtype.Int8OID, 0, 8}, 1)
	l.pool.descriptions.drop(key) // as when another connection was told first
	l.pool.descriptions.put(key, known, l.pool.descriptions.epoch.Load())
	l.want(proxy.Exchange{Steps: steps, Commit: true}, proxy.Idle, "ParseComplete", "params [20]", "columns id:20:0", "BindComplete", "columns id:20:0", "row 1", "done SELECT 1")
}

// Ensure what ran before a statement that does not fit any more is not run once more: a sequence is not rolled back.
func TestEarlierStatementRunsOnce(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.exec(`CREATE SEQUENCE tries; CREATE FUNCTION count_try() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM nextval('public.tries'); RETURN NEW; END $$;
		CREATE TRIGGER count_try BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION count_try()`)
	steps := l.extended("SELECT id FROM notes WHERE id = $1", "1")
	for range 3 { // the connection keeps what is asked for again
		if got, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true}); err != nil {
			t.Fatal(got, err)
		}
	}
	l.exec("ALTER TABLE notes ALTER id TYPE bigint")
	writes := l.extended("UPDATE notes SET body = 'x' WHERE body = 'b'")
	if got, _, err := l.run(proxy.Exchange{Steps: append(writes, steps[2:]...), Commit: true}); sqlStateOf(err) != "0A000" {
		t.Errorf("%s %v", got, err)
	}
	var tries int
	if err := l.admin.QueryRow(t.Context(), "SELECT last_value FROM tries").Scan(&tries); err != nil || tries != 1 {
		t.Errorf("the UPDATE ran %d times, %v", tries, err)
	}
}

// Ensure a statement that another policy decides on otherwise, so that it has other parameters, is not described as before, and
// that a write of the same exchange, before or behind it, is undone.
func TestDescribedAfterAnotherPolicy(t *testing.T) {
	const text, write = "SELECT id FROM notes WHERE id = $1", "UPDATE notes SET body = body || 'x' WHERE id = 1"
	for name, order := range map[string][]int{"alone": {0}, "before a write": {0, 1}, "behind a write": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			l := link(t, Config{MaxConns: 1})
			steps := l.extended(text, "1")
			l.describe(steps)
			all := []proxy.Step{steps[1], l.simple(write)}
			l.decidesBy(`{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: test}, statement: {kinds: [select]}, scope: {column: server_id, mode: inject},
tables: {notes: {scoped: false, access: [select]}}, limits: {statementTimeout: 2s, maxRows: none, maxResultBytes: none}}`)
			steps[1].Prepared.Approved, steps[1].Prepared.Told.Outdated = l.approve(text), true // as the front end does
			var x proxy.Exchange
			for _, i := range order {
				x.Steps = append(x.Steps, all[i])
			}
			x.Commit = true
			if got, _, err := l.run(x); sqlStateOf(err) != "0A000" {
				t.Errorf("%s %v", got, err)
			}
			if n := l.one("SELECT count(*) FROM notes WHERE body LIKE '%x'"); n != "0" {
				t.Errorf("%s rows are changed", n)
			}
			l.describe(steps) // once it is prepared anew
		})
	}
}

// Ensure a block in which a prepared statement does not fit any more keeps its connection and what was done before.
func TestBlockKeepsItsConnection(t *testing.T) {
	for _, text := range []string{"UPDATE notes SET body = 'c' WHERE body = 'b' RETURNING id", "SELECT id FROM notes WHERE body = 'b'"} {
		l := link(t, Config{MaxConns: 2})
		steps := l.extended(text)
		l.describe(steps)
		l.exec("ALTER TABLE notes ALTER id TYPE bigint")
		l.takeOne() // which the client had
		begin := proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("UPDATE notes SET body = 'z' WHERE body = 'a'"), l.simple("SAVEPOINT s")}, Commit: true}
		l.want(begin, proxy.Open, "done UPDATE 1", "done SAVEPOINT")
		was := l.link.lease.session
		if got, state, err := l.run(proxy.Exchange{Steps: steps[2:], Commit: true}); sqlStateOf(err) != "0A000" || state != proxy.Failed || l.link.lease.session != was {
			t.Errorf("%s: %s %c %v, another connection %t", text, got, state, err, l.link.lease.session != was)
		}
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("ROLLBACK TO s")}, Commit: true}, proxy.Open, "done ROLLBACK")
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
		if n := l.one("SELECT count(*) FROM notes WHERE body IN ('b', 'z')"); n != "2" {
			t.Errorf("%s: %s rows", text, n)
		}
	}
}

// Ensure a client that wrote * is told that a table was altered, and not that a column is missing that it never named.
func TestColumnOfAStarIsGone(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.exec("CREATE TABLE stars (server_id text, secret text, guest text)")
	l.decidesBy(`{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: test}, statement: {kinds: [select]}, scope: {column: server_id, mode: inject},
tables: {stars: {scoped: true, columns: {secret: {read: false}}}}, limits: {statementTimeout: 2s, maxRows: none, maxResultBytes: none}}`)
	told := map[string]string{
		"SELECT * FROM stars": "40001", "COPY stars (guest) TO STDOUT": "42703", "SELECT guest FROM stars": "42703",
	}
	steps := map[string]proxy.Step{}
	for text := range told {
		steps[text] = l.simple(text)
	}
	parse := l.extended("SELECT * FROM stars")[:1]
	l.exec("ALTER TABLE stars DROP guest")
	for text, want := range told {
		if got, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{steps[text]}, Commit: true}); sqlStateOf(err) != want {
			t.Errorf("%s: %s %+v, want %s", text, got, err, want)
		}
	}
	if got, _, err := l.run(proxy.Exchange{Steps: parse, Commit: true}); sqlStateOf(err) != "40001" {
		t.Errorf("Parse: %s %+v", got, err)
	}
}

// Ensure binary values that come in one go with a Describe are not read by what it finds: the client has written them by what it
// was told before. Long ones are sent before the Describe is answered.
func TestDescribedAndBoundInOne(t *testing.T) {
	for _, size := range []int{10, 20 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			l := link(t, Config{MaxConns: 1})
			const text = "UPDATE notes SET id = $1, body = $2 WHERE body = 'b'"
			steps, others := l.extended(text, "5", strings.Repeat("x", size)), l.extended(text, "7", "z")
			steps[2].Bound = five(t, steps[2])
			l.describe(steps)
			l.exec("ALTER TABLE notes ALTER id TYPE real")
			if _, err := l.pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "notes"}}); err != nil {
				t.Fatal(err)
			}
			l.pool.descriptions.drop((&wanted{approved: steps[0].Prepared.Approved}).key())
			for range 3 { // the connection keeps what is asked for again
				if got, _, err := l.run(proxy.Exchange{Steps: others}); err != nil {
					t.Fatal(got, err)
				}
				l.link.Rollback()
			}
			if got, _, err := l.run(proxy.Exchange{Steps: steps[1:], Commit: true}); sqlStateOf(err) != "0A000" {
				t.Errorf("%s %v", got, err)
			}
			var ids string
			if err := l.admin.QueryRow(t.Context(), "SELECT string_agg(id::text, ' ' ORDER BY id) FROM notes WHERE server_id = 'mine'").Scan(&ids); err != nil || ids != "1 2" {
				t.Errorf("the rows have the ids %s, %v", ids, err)
			}
		})
	}
}
