package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"
)

// honestCase is a statement that an ordinary application sends, with what it must
// answer: the result on a database that holds only the caller's rows.
type honestCase struct {
	Name         string  `yaml:"name"`
	SQL          string  `yaml:"sql"`
	Args         []any   `yaml:"args"`
	Columns      []any   `yaml:"columns"`
	Rows         [][]any `yaml:"rows"`
	RowsAffected int     `yaml:"rowsAffected"`
	Unordered    bool    `yaml:"unordered"`
	After        *struct {
		SQL  string  `yaml:"sql"`
		Rows [][]any `yaml:"rows"`
	} `yaml:"after"`
}

// TestHonest runs the corpus of testdata/honest: none may be refused, each must answer
// as written, and none may touch or show another server's rows.
func TestHonest(t *testing.T) {
	in := honestInstance(t)
	paths, err := filepath.Glob("testdata/honest/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range paths {
		inject := filepath.Base(path) == "inject.yaml"
		in.setInject(t, inject)
		for _, c := range readHonest(t, path) {
			total++
			t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml")+"/"+c.Name, func(t *testing.T) { in.honest(t, c) })
		}
	}
	if total < 190 {
		t.Errorf("the corpus has only %d statements", total)
	}
}

func readHonest(t *testing.T, path string) []honestCase {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []honestCase
	if err := yaml.UnmarshalWithOptions(src, &cases, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return cases
}

// honestBench is an instance with the corpus' two servers, and a superuser's connection.
type honestBench struct {
	*instance
	conn  *pgx.Conn
	seed  string
	dirty bool
	other string // a digest of what the other server holds
}

func honestInstance(t *testing.T) *honestBench {
	in := sharedInstance(t)
	for _, id := range []string{"srv-a", "srv-b"} {
		if !strings.Contains(in.cli(t, "server", "list", "--json"), `"`+id+`"`) {
			in.cli(t, "server", "create", id, "--id", id, "--project", in.ProjectID)
		}
	}
	seed, err := os.ReadFile("testdata/honest/seed.sql")
	if err != nil {
		t.Fatal(err)
	}
	b := &honestBench{instance: in, conn: in.connect(t), seed: string(seed), dirty: true}
	b.reseed(t)
	b.other = b.foreign(t)
	return b
}

// setInject assigns the policy for statements without a scope condition, or the default.
func (b *honestBench) setInject(t *testing.T, on bool) {
	name := ""
	if on {
		name = "inject"
	}
	b.cli(t, "server", "set-policy", "srv-a", name)
	waitFor(t, func() bool {
		refused := strings.Contains(b.queryAs(t, "srv-a", "SELECT id FROM files").body, "missing_server_scope")
		return refused != on
	})
}

func (b *honestBench) reseed(t *testing.T) {
	if !b.dirty {
		return
	}
	if _, err := b.conn.Exec(t.Context(), "DELETE FROM public.messages; DELETE FROM public.files; DELETE FROM public.conversations; DELETE FROM public.end_users;"+b.seed); err != nil {
		t.Fatal(err)
	}
	b.dirty = false
}

// foreign gives everything that the other server holds.
func (b *honestBench) foreign(t *testing.T) string {
	var digest string
	err := b.conn.QueryRow(t.Context(), `SELECT md5(string_agg(r, '|' ORDER BY r)) FROM (
		SELECT 'u' || e::text r FROM public.end_users e WHERE server_id <> 'srv-a' UNION ALL SELECT 'c' || c::text FROM public.conversations c WHERE server_id <> 'srv-a'
		UNION ALL SELECT 'm' || m::text FROM public.messages m WHERE server_id <> 'srv-a' UNION ALL SELECT 'f' || f::text FROM public.files f WHERE server_id <> 'srv-a') x`).Scan(&digest)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func (b *honestBench) honest(t *testing.T, c honestCase) {
	b.reseed(t)
	writes := !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(c.SQL)), "SELECT")
	b.dirty = b.dirty || writes
	r := b.queryAs(t, "srv-a", strings.TrimRight(c.SQL, "\n"), c.Args...)
	if strings.Contains(r.body, "CANARY") {
		t.Errorf("LEAK: %s", r.body)
	}
	if r.status != 200 {
		t.Fatalf("%s\nanswered %d %s", c.SQL, r.status, r.body)
	}
	var got struct {
		Columns      []any   `json:"columns"`
		Rows         [][]any `json:"rows"`
		RowsAffected int     `json:"rowsAffected"`
	}
	decodeNumbers(t, r.body, &got)
	compareRows(t, c.Unordered, got.Rows, c.Rows)
	if canonical(t, got.Columns) != canonical(t, c.Columns) || got.RowsAffected != c.RowsAffected {
		t.Errorf("columns %v affected %d, want %v and %d", got.Columns, got.RowsAffected, c.Columns, c.RowsAffected)
	}
	if c.After != nil {
		b.after(t, c)
	}
	if writes && b.foreign(t) != b.other {
		t.Error("LEAK: another server's rows were changed")
	}
}

func (b *honestBench) after(t *testing.T, c honestCase) {
	rows, err := b.conn.Query(t.Context(), c.After.SQL)
	if err != nil {
		t.Fatalf("%s: %v", c.After.SQL, err)
	}
	var got [][]any
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	src, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var plain [][]any
	decodeNumbers(t, string(src), &plain)
	compareRows(t, c.Unordered, plain, c.After.Rows)
}

func decodeNumbers(t *testing.T, body string, into any) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

// compareRows compares rows as sequences, or as multisets. A number is compared by its
// value, since YAML does not keep its digits; those have tests of their own.
func compareRows(t *testing.T, unordered bool, got, want [][]any) {
	t.Helper()
	g, w := lines(t, got), lines(t, want)
	if unordered {
		slices.Sort(g)
		slices.Sort(w)
	}
	if !slices.Equal(g, w) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(g, "\n  "), strings.Join(w, "\n  "))
	}
}

func lines(t *testing.T, rows [][]any) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = canonical(t, row)
	}
	return out
}

// canonical writes a value so that equal ones are equal texts.
func canonical(t *testing.T, value any) string {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return fmt.Sprint(f)
	case int, int64, uint64, float64:
		return canonical(t, json.Number(fmt.Sprint(v)))
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = canonical(t, v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = k + ": " + canonical(t, v[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	src, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// waitFor waits until a change has come through. The schema and the wall are read once a
// second, which a busy machine makes several.
func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for range 200 {
		if done() {
			return
		}
		sleepBriefly()
	}
	t.Fatal("the change did not come through within ten seconds")
}
