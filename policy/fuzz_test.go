package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	pg "github.com/pganalyze/pg_query_go/v6" //nolint:depguard // an approved text is looked at without policy/sql
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy"
)

// honest gives the statements of the corpus of ordinary applications.
func honest(t testing.TB) []string {
	paths, err := filepath.Glob("../cmd/tenantgate/testdata/honest/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no honest corpus", err)
	}
	var out []string
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct{ SQL string }
		if err := yaml.Unmarshal(src, &cases); err != nil {
			t.Fatal(path, err)
		}
		for _, c := range cases {
			out = append(out, strings.TrimSpace(c.SQL))
		}
	}
	return out
}

// seeds are the texts to start from. Under the race detector, which makes each decision
// ten times as long, a tenth of them will do.
func seeds(t testing.TB) []string {
	all := append(texts(t), honest(t)...)
	if !raceEnabled {
		return all
	}
	var some []string
	for i := 0; i < len(all); i += 10 {
		some = append(some, all[i])
	}
	return some
}

// FuzzDecide holds what must be true of every text: no panic, a bounded cost, a denial
// with a code, no defect, a position inside the text and no hint on a hidden column; and that an approved text
// parses, binds, restricts each reference to a scoped table, names no table that the
// caller did not, and is admitted again.
func FuzzDecide(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Add("SELECT m.id FROM messages m JOIN (SELECT 0 id) s USING (id)")
	schema := readSchema(f)
	names := []string{"default", "inject", "shop"}
	policies := make([]*policy.Policy, len(names))
	for i, name := range names {
		policies[i] = compile(f, name, schema)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, p := range policies {
			for _, dialect := range dialects {
				d := decideInBounds(t, p, text, dialect)
				if d.Verdict != policy.Allow {
					denied(t, text, d)
					continue
				}
				approved(t, text, d.Approved)
				if names[i] == "inject" {
					admittedAgain(t, p, text, d.Approved)
				}
			}
		}
	})
}

var dialects = [...]policy.Dialect{policy.REST, policy.Postgres}

// The bounds of one decision. The time is generous: fuzzing runs with counters in every
// branch, and beside others. TestWorstCase holds the true ones.
const (
	maxTime  = 5 * time.Second
	maxBytes = 64 << 20
)

func decideInBounds(t *testing.T, p *policy.Policy, text string, dialect policy.Dialect) policy.Decision {
	t.Helper()
	before, start := allocated(), time.Now()
	d := p.Decide(text, dialect)
	if took, bytes := time.Since(start), allocated()-before; took > maxTime || bytes > maxBytes {
		t.Fatalf("%q takes %s and %d bytes", text, took, bytes)
	}
	return d
}

// allocated is how many bytes the process has taken from Go's heap so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func denied(t *testing.T, text string, d policy.Decision) {
	t.Helper()
	if d.Approved != nil || d.Refusal.Code == "" || d.Refusal.Code == policy.Internal || d.Refusal.Message == "" {
		t.Fatalf("%q: %+v", text, d.Refusal)
	}
	if d.Refusal.Position < 0 || d.Refusal.Position > len([]rune(text))+1 {
		t.Fatalf("%q: position %d", text, d.Refusal.Position)
	}
	if strings.Contains(d.Refusal.Hint, "password_hash") && !strings.Contains(strings.ToLower(text), "password_hash") {
		t.Fatalf("%q: the hint names a column that must not be read: %s", text, d.Refusal.Hint)
	}
}

// runsNothing tells the commands that are the front end's alone.
func runsNothing(c policy.Command) bool {
	switch c.Verb {
	case policy.Set, policy.Reset, policy.Show, policy.Discard, policy.Deallocate, policy.Unlisten, policy.SetSession:
		return true
	}
	return false
}

// approved looks at the final text on its own, with Postgres' grammar and a count: it knows
// neither the rewrite nor the proof of it.
func approved(t *testing.T, text string, a *policy.Approved) {
	t.Helper()
	if runsNothing(a.Command()) {
		return
	}
	server := binds(t, text, a)
	if a.Command().Verb == policy.CopyOut { // whose parameters are put into the text
		for i := range int32(1000) {
			server[i+1] = true
		}
	}
	tree, err := pg.Parse(a.Rewritten())
	if err != nil || len(tree.Stmts) != 1 {
		t.Fatalf("%q became %q, which does not parse: %v", text, a.Rewritten(), err)
	}
	final := count(tree, server)
	for table := range final.tables {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(table)) && !strings.Contains(text, `"`) {
			t.Fatalf("%q became %q, which names %s", text, a.Rewritten(), table)
		}
	}
	for name, references := range final.references {
		if server != nil && final.comparisons[name] < references {
			t.Fatalf("%q became %q, where %d of %d references to %s are restricted", text, a.Rewritten(), final.comparisons[name], references, name)
		}
	}
}

// admittedAgain decides a final text, with the types that its parameters are declared to have: where no scope condition is
// asked for it must pass, if it is not too long or too large by now.
func admittedAgain(t *testing.T, p *policy.Policy, text string, a *policy.Approved) {
	t.Helper()
	final := a.Rewritten()
	if final == "" || strings.HasPrefix(final, "COPY (") { // of which the parameters are put into the text
		return
	}
	d := p.Decide(final, policy.Postgres, a.Declared()...)
	tooLarge := slices.ContainsFunc([]string{"bytes long", "too complex", "too large", "too deeply", "brackets", "too many", "operator signs"}, func(s string) bool { return strings.Contains(d.Refusal.Message, s) })
	if d.Verdict != policy.Allow && !tooLarge {
		t.Fatalf("%q became %q, which is refused: %+v", text, final, d.Refusal)
	}
}

// counts is what a tree says of the tables with a schema, which in a final text are all.
type counts struct {
	tables      map[string]bool
	references  map[string]int // to scoped tables that are read, updated or deleted from, by the name that a query has for them
	comparisons map[string]int // of a column of that name with a parameter that carries the server's id
	server      map[int32]bool
}

func count(tree *pg.ParseResult, server map[int32]bool) *counts {
	c := &counts{tables: map[string]bool{}, references: map[string]int{}, comparisons: map[string]int{}, server: server}
	c.walk(tree.ProtoReflect(), false)
	return c
}

func (c *counts) walk(m protoreflect.Message, target bool) {
	switch n := m.Interface().(type) {
	case *pg.RangeVar:
		c.table(n, target)
	case *pg.A_Expr:
		names := n.Lexpr.GetColumnRef().GetFields()
		value := n.Rexpr
		if cast := value.GetTypeCast(); cast != nil {
			value = cast.Arg
		}
		if len(names) == 2 && n.Kind == pg.A_Expr_Kind_AEXPR_OP && n.Name[0].GetString_().GetSval() == "=" && c.server[value.GetParamRef().GetNumber()] {
			c.comparisons[names[0].GetString_().GetSval()]++
		}
	}
	insert := m.Descriptor().Name() == "InsertStmt"
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Kind() != protoreflect.MessageKind:
		case fd.IsList():
			for i := range v.List().Len() {
				c.walk(v.List().Get(i).Message(), false)
			}
		default:
			c.walk(v.Message(), insert && fd.Name() == "relation")
		}
		return true
	})
}

func (c *counts) table(v *pg.RangeVar, inserted bool) {
	if v.Schemaname == "" {
		return
	}
	c.tables[v.Relname] = true
	if inserted || v.Relname == "countries" { // the one table of the schema that is not scoped
		return
	}
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	c.references[name]++
}

// TestFuzzSeeds holds the seeds to it at once, and that they are not all refused.
func TestFuzzSeeds(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for _, dialect := range dialects {
		admitted, scoped := 0, 0
		for _, text := range seeds(t) {
			if dialect == policy.Postgres {
				text = numbered(text)
			}
			d := p.Decide(text, dialect)
			if d.Verdict != policy.Allow {
				denied(t, text, d)
				continue
			}
			admitted++
			if runsNothing(d.Approved.Command()) {
				continue
			}
			if server := binds(t, text, d.Approved); len(server) > 0 {
				scoped++
			}
			approved(t, text, d.Approved)
			admittedAgain(t, p, text, d.Approved)
		}
		t.Logf("%d texts admitted, %d of them with the server's id", admitted, scoped)
		if scoped < 20 || scoped < 200 && !raceEnabled {
			t.Errorf("only %d texts are restricted", scoped)
		}
	}
}

// numbered writes the placeholders ? of a text as $n, wherever a ? stands.
func numbered(text string) string {
	var out strings.Builder
	for i, n := 0, 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "??"):
			out.WriteByte('?')
			i++
		case text[i] == '?':
			n++
			fmt.Fprintf(&out, " $%d ", n)
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}
