package sqltree

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

func TestParse(t *testing.T) {
	s, f := Parse("select a from t where b = $1")
	if f != nil {
		t.Fatalf("%+v", f)
	}
	ref := s.Stmt.GetSelectStmt().GetWhereClause().GetAExpr().GetRexpr().GetParamRef()
	if ref.GetNumber() != 1 || ref.GetLocation() != 26 {
		t.Errorf("got %v", ref)
	}
}

func TestParseFaults(t *testing.T) {
	deep := strings.Repeat
	for _, c := range []struct {
		name, text string
		code       Code
		offset     int
		message    string
	}{
		{"grammar", "select 1 from from", SyntaxError, 14, `syntax error at or near "from"`},
		{"end", "select 1 +", SyntaxError, 10, "syntax error at end of input"},
		{"place in bytes", "select é é é from", SyntaxError, 13, `syntax error at or near "é"`},
		{"place behind long characters", "select '😀' '€' 1", SyntaxError, 14, `syntax error at or near "'€'"`},
		{"escape", `select E'\u12'`, SyntaxError, 9, "invalid Unicode escape"},
		{"escape of U&", `select U&'\zz'`, SyntaxError, 10, "invalid Unicode escape"},
		{"bytes from escapes", `select E'\xff'`, SyntaxError, -1, `invalid byte sequence for encoding "UTF8": 0xff`},
		{"NUL from an escape", `select E'a\000b'`, SyntaxError, -1, `invalid byte sequence for encoding "UTF8": 0x00`},
		{"no statement", " -- nothing", EmptyQuery, -1, ""},
		{"semicolon", "select 1; drop table t", MultipleStatements, 8, ""},
		{"NUL", "select 1\x00; drop table t", SyntaxError, 8, ""},
		{"UTF-8", "select '\xff'", SyntaxError, 8, ""},
		{"too long", "select '" + deep("a", 64<<10) + "'", QueryTooLong, -1, ""},
		{"tree too deep", "select 1" + deep("+1", 200), ConstructNotAllowed, -1, ""},
		{"C stack", "select 1" + deep("+1", 30_000), ConstructNotAllowed, 8 + 2*2_999, ""},
		{"parser's stack", "select " + deep("1 between 1 and not ", 3_000) + "1", ConstructNotAllowed, 7 + 20*999 + 16, ""},
		{"parameter with junk", "select $1and", SyntaxError, 7, ""},
		{"parameter that wraps", "select $4294967297", SyntaxError, 7, ""},
		{"quadratic operators", "select " + deep("+", 60_000) + "1", ConstructNotAllowed, 7, ""},
		{"quadratic comments", "select 1" + deep("/**/", 15_000), ConstructNotAllowed, 8 + 4*63, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := Parse(c.text)
			if s != nil || f == nil || f.Code != c.code || f.Offset != c.offset || c.message != "" && f.Message != c.message {
				t.Fatalf("got %+v, want %s at %d: %s", f, c.code, c.offset, c.message)
			}
			state := "42601"
			switch {
			case c.name == "escape":
				state = "22025"
			case strings.HasPrefix(f.Message, "invalid byte sequence"):
				state = "22021"
			}
			if f.Code == SyntaxError && f.SQLState != state {
				t.Errorf("SQLState %q, want %s", f.SQLState, state)
			}
		})
	}
}

// A message quotes a constant only in part, and no character by half.
func TestParseShortensMessages(t *testing.T) {
	for _, pad := range []string{"", "a"} {
		_, f := Parse("select 1 '" + pad + strings.Repeat("é", 3_000) + "'")
		if f == nil || f.Offset != 9 || len(f.Message) > maxMessage+len("…") || !utf8.ValidString(f.Message) ||
			!strings.HasPrefix(f.Message, "syntax error at or near \"'"+pad+"éé") {
			t.Errorf("%+v", f)
		}
	}
}

// The tree stays readable: what is admitted nests at most as deep as it may.
func TestParseAdmitsHonestDepth(t *testing.T) {
	for name, text := range map[string]string{
		"operators":   "select 1" + strings.Repeat("+1", 190),
		"sub-queries": "select " + strings.Repeat("(select ", 50) + "1" + strings.Repeat(")", 50),
		"brackets":    "select " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200),
		"joins":       "select 1 from a" + strings.Repeat(" cross join a", 180),
		"unions":      "select 1" + strings.Repeat(" union all select 1", 350),
		"or":          "select a=1" + strings.Repeat(" or a=1", 1_450),
		"list":        "values (1" + strings.Repeat(",1", 5_000) + ")",
	} {
		if _, f := Parse(text); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// hostile are texts of about 10 KB, each the worst of its kind for scanner, grammar,
// tree or stack; some are refused and some are not.
func hostile() map[string]string {
	texts := map[string]string{}
	for name, c := range map[string]struct{ head, unit, tail string }{
		"pluses": {"select ", "+", "1"}, "pluses in runs": {"select ", strings.Repeat("+", 62) + " ", "1"}, "at signs": {"select ", "@ ", "1"},
		"sums": {"select 1", "+1", ""}, "short sums": {"select 1", "+1,1", ""}, "nested comments": {"select 1", "/*", ""}, "closed comments": {"select 1", "/**/", ""},
		"comments in operators": {"select 1", "+/**/", "1"}, "comments with stars": {"select 1/*", "* ", "*/"}, "comment and slash": {"select 1", "/*/", ""},
		"line comments": {"select 1", "--\n", ""}, "continuations": {"select ", "''\n", ""}, "near continuations": {"select ", "''\n-", ""}, "spaces": {"select ''", "\n", "1"},
		"quotes": {"select ", "'", ""}, "double quotes": {"select ", `"`, ""}, "backslashes": {"select E'", `\`, ""}, "escaped quotes": {"select E'", `\'`, "'"},
		"dollars": {"select ", "$", ""}, "dollar tags": {"select ", "$a", ""}, "open dollar tags": {"select $a$", "$a", ""}, "dollar quotes": {"select ", "$$$$,", "1"}, "other tags": {"select $a$", "$b$", "$a$"},
		"brackets": {"select ", "(", ""}, "closing brackets": {"select ", ")", ""}, "square brackets": {"select a", "[", ""}, "arrays": {"select array", "[", ""}, "sub-queries": {"select ", "(select ", ""},
		"nots": {"select ", "not ", "1"}, "casts": {"select 1", "::a", ""}, "nulls": {"select 1", " isnull", ""}, "betweens": {"select ", "1 between 1 and not ", "1"}, "columns called and": {"select 1", "+a.and", ""},
		"stars": {"select *", ",*", ""}, "dots": {"select a", ".a", ""}, "indices": {"select a", "[1]", ""}, "rows": {"values (1)", ",(1)", ""}, "marks": {"select ?", ",?", ""}, "joined marks": {"select ?", "||?", ""}, "pairs": {"select 1", "??", "1"}, "marks and pairs": {"select 1 ", "??? ", "1"},
		"unions": {"select 1", " union select 1", ""}, "labels called and": {"select 1", " and union select 1", ""}, "joins": {"select 1 from a", " cross join a", ""}, "tables": {"select 1 from a", ",a", ""}, "cases": {"select ", "case when 1 then ", "1"},
		"names": {"select ", "a", ""}, "accents": {"select ", "é", ""}, "long names": {"select a", "," + strings.Repeat("a", 64), ""}, "digits": {"select ", "1", ""}, "underscores": {"select 1", "_1", ""}, "numbers": {"select 1", " .1", ""},
		"ors": {"select 1", " or 1", ""}, "ands": {"select 1", " and 1", ""}, "colons": {"select 1", ":", ""}, "commas": {"select 1", ",", ""}, "with": {"", "with a as (", "select 1"}, "calls": {"select ", "f(", ""}, "minus calls": {"select ", "-(", ""},
	} {
		n := (10_240 - len(c.head) - len(c.tail)) / len(c.unit)
		texts[name] = c.head + strings.Repeat(c.unit, n) + c.tail
	}
	return texts
}

// The bound is generous for slow machines and the race detector; most take under 5 ms. It is of
// the processor's time, since a busy machine interrupts; what others of this process took
// meanwhile, such as the garbage collector, is left out by trying again.
func TestHostileTextsAreQuick(t *testing.T) {
	const bound = 300 * time.Millisecond
	for name, text := range hostile() {
		if len(text) > 10_240 || len(text) < 10_000 {
			t.Fatalf("%s: %d bytes", name, len(text))
		}
		took := time.Hour
		for range 5 {
			took = min(took, parseTime(t, name, text))
			if took < bound {
				break
			}
		}
		if took > bound {
			t.Errorf("%s took %v", name, took)
		} else if took > 10*time.Millisecond {
			t.Logf("%s took %v", name, took)
		}
	}
}

func parseTime(t *testing.T, name, text string) time.Duration {
	t.Helper()
	start := processorTime(t)
	if tr, f := Translate(text, Guard{}); f == nil {
		if _, f = Parse(tr.Text); f != nil && f.Code == Internal {
			t.Errorf("%s: %+v", name, f)
		}
	}
	return processorTime(t) - start
}

// processorTime is what this process has taken so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Where the stack's size is unlimited a thread gets 2 MiB, a quarter of the usual. A
// text that overflows it kills the process, so the texts go to a process of their own.
func TestHostileTextsSpareSmallStacks(t *testing.T) {
	const marker = "SQLTREE_TEST_SMALL_STACK"
	if os.Getenv(marker) != "" {
		onManyThreads(func() {
			for _, text := range hostile() {
				if tr, f := Translate(text, Guard{}); f == nil {
					_, _ = Parse(tr.Text)
				}
				_, _ = Parse(strings.Repeat(text, 6))
				_, _ = Parse(text + strings.Repeat(text[len(text)/2:], 10))
			}
		})
		return
	}
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs a shell on Linux to set the stack's size")
	}
	cmd := exec.CommandContext(t.Context(), sh, "-c", `ulimit -s unlimited && exec "$0" -test.run='^TestHostileTextsSpareSmallStacks$'`, os.Args[0])
	cmd.Env = append(os.Environ(), marker+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ulimit") {
			t.Skipf("the stack's size can't be set here: %s", out)
		}
		t.Fatalf("%v\n%.2000s", err, out)
	}
}

// onManyThreads runs f on several threads at once, so that it does not run on the
// process' first thread alone, whose stack grows.
func onManyThreads(f func()) {
	var ready, done sync.WaitGroup
	for range 3 {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
			f()
		})
	}
	done.Wait()
}

// placed tells whether every place that a tree names is the start of a token, or the
// quote of a national string.
func placed(t tester, tr *Translation, m proto.Message) {
	t.Helper()
	if at := offsetOf(m, -1); at >= 0 && tr.TokenAt(at) < 0 && (tr.Text[at] != '\'' || tr.TokenAt(at-1) < 0) {
		t.Fatalf("%q: %T at %d, where no token starts", tr.Text, m, at)
	}
	children(m, func(c proto.Message) bool {
		placed(t, tr, c)
		return true
	})
}

// statements are ordinary ones, to place and to start the fuzzer with.
func statements() []string {
	return []string{
		"select * from end_users where server_id=?",
		"select e.id, count(*) over (partition by e.name order by e.id rows between 1 preceding and current row) from end_users as e left join files f using (id) where e.server_id = ? group by 1 having count(*)>? order by 2 desc nulls last limit ? offset ?",
		"with recursive a(n) as (values (1) union all select n+1 from a where n < ?) select n::text, n between 1 and ?, n in (?,?), n = any(?), not n is null from a for update of a",
		"insert into messages (server_id, content, metadata) values (?, ?, '{}'), (?, N'é', default) on conflict (id) do update set content = excluded.content where messages.id <> ? returning *, id as x",
		"update files set (name, size_bytes) = (select ?, 1), metadata['a'] = ? from end_users u where u.id = files.end_user_id and files.metadata ?? 'k' and server_id = ?",
		"delete from only public.files using end_users where data ??| array[?, 'b'] and case when a then b else c end and exists (select 1) returning server_id",
		"select coalesce(?, 1), cast(? as numeric(10,2)), interval '1' day, date '2020-01-01', extract(year from now()), 'a' like 'b' escape 'c', a[1:2], (a).b, row(1,2), array[[1],[2]], a at time zone 'UTC', position('a' in b), substring(a from 1 for 2), trim(both 'a' from b), current_timestamp, grouping(a), nullif(a,b), greatest(1,2) from t tablesample system(1), lateral f(?) with ordinality as g(a, b), rows from (f(1)) group by rollup(a, b)",
		"select 1 except all (select 2 intersect select 3 order by 1) order by 1 fetch first 2 rows with ties", "table a", "values (?, ?), (?, ?)",
		"merge into a using b on a.id=b.id when matched then delete when not matched then insert values (?)", "create table a (b int)", "copy a to program 'b'", "explain select ?", "set role a", "do $$ begin end $$", "call f(?)", "prepare p as select ?", "begin",
		"select json_table('a', 'b' columns (c int path 'd')), xmltable('a' passing b columns c int), json_object('a': 1), f(a => ?, b := ?), f(variadic a order by b), f() filter (where ?) within group (order by a)",
	}
}

// Whatever is edited in a text is found through the places of its tree.
func TestEveryPlaceIsAToken(t *testing.T) {
	for _, text := range statements() {
		tr, f := Translate(text, Guard{})
		if f != nil {
			t.Fatalf("%s: %+v", text, f)
		}
		s, f := Parse(tr.Text)
		if f != nil {
			if !strings.Contains(text, "json_table('a'") {
				t.Errorf("%s: %+v", text, f)
			}
			continue
		}
		placed(t, tr, s)
	}
}

// FuzzParse holds what must be true of the parser, and of the analysis of what it gives:
// no panic, a fault with a place, each place of the tree at a token, and each name of a
// table in an admitted tree among the facts.
func FuzzParse(f *testing.F) {
	for _, text := range append(append(nasty(), statements()...), corpus(f)...) {
		f.Add(text)
		f.Add("select " + text)
	}
	c := testCatalog()
	f.Fuzz(func(t *testing.T, text string) {
		tr, fault := Translate(text, Guard{})
		if fault != nil {
			checkParsed(t, text)
			return
		}
		s := checkParsed(t, tr.Text)
		if s == nil {
			return
		}
		placed(t, tr, s)
		facts, fault := Analyze(s, c)
		if fault != nil {
			if fault.Code == "" || fault.Code == Internal || fault.Message == "" || fault.Offset < -1 || fault.Offset > len(tr.Text) {
				t.Fatalf("%q: %+v", text, fault)
			}
			return
		}
		if name := forgotten(s, facts, withNames(s, map[string]bool{})); name != "" {
			t.Fatalf("%q: the table %s is not among the facts", text, name)
		}
	})
}

// withNames gives the names of all queries in WITH.
func withNames(m proto.Message, names map[string]bool) map[string]bool {
	if x, ok := m.(*pg.CommonTableExpr); ok {
		names[x.Ctename] = true
	}
	children(m, func(c proto.Message) bool {
		withNames(c, names)
		return true
	})
	return names
}

// forgotten gives a table's name that the facts lack. FOR UPDATE names aliases, and SET
// (…) = … holds its source once for each column.
func forgotten(m proto.Message, facts *Facts, with map[string]bool) (name string) {
	switch n := m.(type) {
	case *pg.LockingClause:
		return ""
	case *pg.MultiAssignRef:
		if n.Colno > 1 {
			return ""
		}
	case *pg.RangeVar:
		known := n.Schemaname == "" && with[n.Relname] || slices.ContainsFunc(facts.Tables, func(use *TableUse) bool { return use.node == n })
		if !known {
			return n.Relname
		}
	}
	children(m, func(c proto.Message) bool {
		name = forgotten(c, facts, with)
		return name == ""
	})
	return name
}

func checkParsed(t *testing.T, text string) *pg.RawStmt {
	t.Helper()
	s, f := Parse(text)
	switch {
	case (s == nil) == (f == nil), s != nil && s.Stmt == nil:
		t.Fatalf("%q: %v, %+v", text, s, f)
	case f != nil && (f.Code == Internal || f.Message == "" || !utf8.ValidString(f.Message) || len(f.Message) > maxMessage+len("…") || f.Offset < -1 || f.Offset > len(text)):
		t.Fatalf("%q: %+v", text, f)
	}
	return s
}
