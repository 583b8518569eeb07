package builtin_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// session is a transaction on the bundled tables with some rows, as one server with the
// policy inject.
type session struct {
	*testing.T
	db     *pgx.Conn
	policy *policy.Policy
}

func newSession(t *testing.T) *session {
	t.Helper()
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{T: t, db: connect(t), policy: p}
	exec(t, s.db, "BEGIN")
	exec(t, s.db, `CREATE TABLE public.files (id text, server_id text, name text, n int GENERATED ALWAYS AS IDENTITY)`)
	exec(t, s.db, `INSERT INTO public.files (id, server_id, name) VALUES ('1', 'a', 'one'), ('2', 'a', 'two'), ('3', 'b', 'not yours')`)
	return s
}

func (s *session) bind(text string, args ...string) policy.Bound {
	s.Helper()
	d := s.policy.Decide(text, policy.Postgres)
	if d.Verdict != policy.Allow {
		s.Fatalf("%s: %+v", text, d.Refusal)
	}
	values := make([]policy.Arg, len(args))
	for i, a := range args {
		values[i] = policy.Arg{Kind: policy.String, Text: a}
	}
	b, reason := d.Approved.Bind("a", values)
	if reason != nil {
		s.Fatalf("%s: %+v", text, reason)
	}
	return b
}

// typed gives a command what it needs to run: where it holds a query, the types that Postgres finds for its parameters.
func (s *session) typed(b policy.Bound) policy.Bound {
	s.Helper()
	if !b.NeedsFill() {
		return b
	}
	query := b.Approved().Query()
	if query == nil {
		filled, reason := b.Fill(nil)
		if reason != nil {
			s.Fatalf("%+v", reason)
		}
		return filled
	}
	said, err := s.db.PgConn().Prepare(s.Context(), "", query.Rewritten(), query.Declared())
	if err != nil {
		s.Fatalf("%s: %v", query.Rewritten(), err)
	}
	typed, reason := b.Fill(said.ParamOIDs)
	if reason != nil {
		s.Fatalf("%+v", reason)
	}
	return typed
}

// run runs a statement as the extended protocol does, and gives its rows, and its tag behind
// them, all between bars.
func (s *session) run(text string, args ...string) string {
	s.Helper()
	b := s.typed(s.bind(text, args...))
	params := make([][]byte, b.NumParams())
	for i, p := range b.Params() {
		params[i] = []byte(p.Value.Text)
	}
	result := s.db.PgConn().ExecParams(s.Context(), b.SQL(), params, nil, nil, nil).Read()
	if result.Err != nil {
		s.Fatalf("%s: %v", b.SQL(), result.Err)
	}
	var out []string
	for _, row := range result.Rows {
		for _, v := range row {
			out = append(out, string(v))
		}
	}
	return strings.Join(append(out, result.CommandTag.String()), "|")
}

func (s *session) want(want, text string, args ...string) {
	s.Helper()
	if got := s.run(text, args...); got != want {
		s.Errorf("%s: %s, want %s", text, got, want)
	}
}

// TestCommandsRun runs what commands become on a real Postgres.
func TestCommandsRun(t *testing.T) {
	s := newSession(t)
	s.want("SAVEPOINT", `SAVEPOINT "a""b"`)
	s.want("DECLARE CURSOR", "DECLARE c SCROLL CURSOR FOR SELECT id FROM files WHERE id > $1 ORDER BY id", "0")
	s.want("1|FETCH 1", "FETCH c")
	s.want("2|FETCH 1", "FETCH ALL c")
	s.want("2|1|FETCH 2", "FETCH BACKWARD ALL c")
	s.want("2|FETCH 1", "FETCH LAST c")
	s.want("2|FETCH 1", "FETCH RELATIVE 0 c")
	s.want("FETCH 0", "FETCH ABSOLUTE 9 c")
	s.want("1|FETCH 1", "FETCH ABSOLUTE -2 c")
	s.want("MOVE 1", "MOVE NEXT IN c")
	s.want("1|FETCH 1", "FETCH -1 c")
	s.want("CLOSE CURSOR", "CLOSE c")
	s.want("CLOSE CURSOR ALL", "CLOSE ALL")
	s.want("ROLLBACK", `ROLLBACK TO "a""b"`)
	s.want("RELEASE", `RELEASE "a""b"`)
	s.want("ROLLBACK", "ROLLBACK")
	s.want("BEGIN", "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE, NOT DEFERRABLE")
	s.want("SET", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE")
	s.want("COMMIT", "END AND CHAIN")
	s.want("ROLLBACK", "ABORT AND CHAIN")
	s.want("COMMIT", "COMMIT")
}

// TestCopyRuns copies out in every style, and reads what another COPY wrote.
func TestCopyRuns(t *testing.T) {
	s := newSession(t)
	for text, want := range map[string]string{
		"COPY files (id, name) TO STDOUT":                                "1\tone\n2\ttwo\n",
		"COPY (SELECT name FROM files ORDER BY id) TO STDOUT CSV HEADER": "name\none\ntwo\n",
		`COPY files (id, name) TO STDOUT (FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '\', FORCE_QUOTE ("name"), HEADER off)`: "1;'one'\n2;'two'\n",
		`COPY files (name) TO STDOUT DELIMITER E'\t' NULL '\N'`:                                                                 "one\ntwo\n",
		"COPY files (name) TO STDOUT (FORMAT text, HEADER true)":                                                                "name\none\ntwo\n",
		"COPY (SELECT id FROM files WHERE server_id = 'b') TO STDOUT (FORMAT csv, FORCE_QUOTE *, NULL 'x', ENCODING 'utf-8')":   "",
		"COPY (SELECT name FROM files UNION ALL SELECT 'x' ORDER BY 1) TO STDOUT (DELIMITER '|', NULL '')":                      "one\ntwo\nx\n",
	} {
		var out bytes.Buffer
		if _, err := s.db.PgConn().CopyTo(t.Context(), &out, s.typed(s.bind(text)).SQL()); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v, want %q", text, out.String(), err, want)
		}
	}
	var out bytes.Buffer
	if _, err := s.db.PgConn().CopyTo(t.Context(), &out, s.typed(s.bind("COPY BINARY files (id) TO STDOUT")).SQL()); err != nil || !bytes.HasPrefix(out.Bytes(), []byte("PGCOPY\n\xff\r\n")) {
		t.Errorf("%q, %v", out.Bytes(), err)
	}
	s.want("INSERT 0 1", "COPY files (name, id) FROM STDIN", "three", "4")
	s.want("INSERT 0 1", "COPY files (server_id, id) FROM STDIN", "b", "5")
	s.want("4|a|5|a|SELECT 2", "SELECT id, server_id FROM files WHERE id > '3' ORDER BY id")
}
