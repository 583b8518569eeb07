package statement

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

const server = "7"

var modes = []policy.ScopeMode{policy.Require, policy.Once, policy.Inject, None}

// A seed and a number give the same statement for ever.
func TestMakeIsDetermined(t *testing.T) {
	for number := range 200 {
		mode := modes[number%len(modes)]
		a, _ := New(server).Make(9, number, mode).Text(server)
		b, _ := New(server).Make(9, number, mode).Text(server)
		if a != b {
			t.Fatalf("%d: %s\n%s", number, a, b)
		}
	}
}

// Ensure a result that is ordered by a numeric column counts as determined in neither its order nor what LIMIT leaves of it.
func TestOrderOfNumeric(t *testing.T) {
	for _, typ := range []Type{Int, Numeric} {
		sorted, loose, cut := 0, 0, 0
		for number := range 1000 {
			m := &maker{r: rand.New(rand.NewPCG(1, uint64(number))), uses: map[string]bool{}} //nolint:gosec // chance, not secrecy
			m.order(nil, []column{{typ: Text}, {typ: typ}}, true, false)
			if !m.uses["ORDER BY"] {
				continue
			}
			if m.Sorted {
				sorted++
			}
			if m.Loose {
				loose++
			}
			if m.uses["LIMIT"] || m.uses["FETCH FIRST"] {
				cut++
			}
		}
		if determined := typ == Int; cut == 0 || (sorted > 0) != determined || !determined && loose != cut || determined && loose != 0 {
			t.Errorf("%s: %d sorted, %d loose, %d cut", typ, sorted, loose, cut)
		}
	}
}

// Every construct that a statement says it uses is in the list, so that one which is
// never admitted can be told; and every one of the list is made.
func TestConstructs(t *testing.T) {
	known := Constructs(modes[:3])
	made := map[string]bool{}
	for _, id := range []string{server, "00000000-0000-4000-8000-000000000007"} {
		g := New(id)
		for number := range 7000 {
			for _, name := range g.Make(3, number, modes[number%3]).Uses {
				made[name] = true
				if !slices.Contains(known, name) && name != "scope type " {
					t.Fatalf("%q is not listed", name)
				}
			}
		}
	}
	for _, name := range known {
		if !made[name] {
			t.Errorf("%q is never made", name)
		}
	}
}

// What is written for tenantgate has a placeholder where the plain text has the server's
// id, and takes no argument for it but in an INSERT.
func TestText(t *testing.T) {
	tokens := []Token{{Text: "SELECT"}, {Hole: Value, Arg: policy.Arg{Kind: policy.Number, Text: "5"}}, {Text: "WHERE"}, {Text: "server_id"}, {Text: "="}, {Hole: Condition, Arg: idArg(server)}}
	for _, c := range []struct {
		st   Statement
		text string
		args int
	}{
		{Statement{Tokens: tokens}, "SELECT ? WHERE server_id = ?", 1},
		{Statement{Tokens: tokens, Dollar: true}, "SELECT $1 WHERE server_id = $2", 1},
		{Statement{Tokens: tokens, Insert: true}, "SELECT ? WHERE server_id = ?", 2},
		{Statement{Tokens: tokens, Extra: true}, "SELECT ? WHERE server_id = ?", 2},
		{Statement{Tokens: tokens, Tight: true}, "SELECT ? WHERE server_id=?", 1},
	} {
		if text, args := c.st.Text(server); text != c.text || len(args) != c.args {
			t.Errorf("%s with %d args, want %s with %d", text, len(args), c.text, c.args)
		}
		if text, args := c.st.PlainText(server); strings.Contains(text, "?") || !strings.HasSuffix(text, "'7'") || len(args) != 1 {
			t.Errorf("plain: %s with %d args", text, len(args))
		}
	}
}

func TestLex(t *testing.T) {
	const text = `SELECT "a b", e'\'x' , 'srv-a', $q$ ? $q$ FROM t /* ? */ WHERE server_id=? AND d ??| ARRAY['x'] AND n>=? AND u::text <> U&'?'`
	st := Lex(text, []policy.Arg{{Kind: policy.Number, Text: "4"}}, "srv-a", server)
	var words []string
	for _, token := range st.Tokens {
		words = append(words, token.Text)
	}
	want := []string{"SELECT", `"a b"`, ",", `e'\'x'`, ",", "'7'", ",", "$q$ ? $q$", "FROM", "t", "/* ? */", "WHERE", "server_id", "=", "?", "AND", "d", "??|", "ARRAY", "[", "'x'", "]",
		"AND", "n", ">=", "?", "AND", "u", "::", "text", "<>", "U&'?'"}
	if !slices.Equal(words, want) {
		t.Errorf("got  %q\nwant %q", words, want)
	}
	if _, args := st.Text(server); len(args) != 1 || args[0].Text != "4" {
		t.Errorf("args %v", args)
	}
	insert := Lex("INSERT INTO t (server_id, a) VALUES (?, ?)", []policy.Arg{idArg("srv-a"), {Kind: policy.Number, Text: "1"}}, "srv-a", server)
	if plain, args := insert.PlainText(server); !strings.Contains(plain, "'7'") || len(args) != 1 {
		t.Errorf("%s %v", plain, args)
	}
}

// What is left when nothing can be left out is just what fails.
func TestShrink(t *testing.T) {
	st := Lex("SELECT a, (b + (c)) FROM t, (SELECT x FROM secret WHERE y) AS s WHERE (a = 1) AND b", nil, "", "")
	small := Shrink(st, 10000, func(try Statement) bool {
		text, _ := try.Text("")
		return strings.Contains(text, "FROM") && strings.Contains(text, "secret")
	})
	if text, _ := small.Text(""); text != "FROM secret" {
		t.Errorf("left %q", text)
	}
	untouched := Shrink(st, 0, func(Statement) bool { return true })
	if len(untouched.Tokens) != len(st.Tokens) {
		t.Error("it was asked more often than it may")
	}
}

// No sample bears a canary's mark, and every canary does but where nothing can.
func TestCanaries(t *testing.T) {
	marked := func(value string) bool {
		return slices.ContainsFunc(Needles, func(n string) bool { return strings.Contains(strings.ToLower(value), n) })
	}
	for _, table := range Tables() {
		for i := range table.Columns {
			c := &table.Columns[i]
			if c.Kind == Scope || c.Kind == Twice || c.Kind == Flag {
				continue
			}
			for n := range 60 {
				if v := Sample(table, c, n); marked(v) || v == "" {
					t.Errorf("%s.%s: sample %q", table.Name, c.Name, v)
				}
				if v := Canary(table, c, n, false); !marked(v) {
					t.Errorf("%s.%s: canary %q", table.Name, c.Name, v)
				}
			}
		}
	}
}

// Ensure no answer is compared where a mutation may have put a * over a column that tenantgate hides: the plain database shows it.
func TestMutateOverAHiddenColumn(t *testing.T) {
	for _, table := range []string{"end_users", "profiles"} {
		st := Lex("SELECT x . * FROM messages x JOIN "+table+" y ON true", nil, "", "")
		st.Loose = false
		starred := 0
		for seed := range uint64(200) {
			got := Mutate(st, rand.New(rand.NewPCG(seed, 0)))
			text, _ := got.Text("")
			if !strings.Contains(text, table) || !strings.Contains(text, "*") {
				continue
			}
			if starred++; !got.Loose {
				t.Errorf("%s is compared", text)
			}
		}
		if starred < 50 {
			t.Errorf("%s: %d have both", table, starred)
		}
	}
}
