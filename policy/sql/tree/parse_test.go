package tree

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/proof/texts"
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
		code       refusal.Code
		offset     int
		message    string
	}{
		{"grammar", "select 1 from from", refusal.SyntaxError, 14, `syntax error at or near "from"`},
		{"end", "select 1 +", refusal.SyntaxError, 10, "syntax error at end of input"},
		{"place in bytes", "select é é é from", refusal.SyntaxError, 13, `syntax error at or near "é"`},
		{"place behind long characters", "select '😀' '€' 1", refusal.SyntaxError, 14, `syntax error at or near "'€'"`},
		{"escape", `select E'\u12'`, refusal.SyntaxError, 9, "invalid Unicode escape"},
		{"escape of U&", `select U&'\zz'`, refusal.SyntaxError, 10, "invalid Unicode escape"},
		{"bytes from escapes", `select E'\xff'`, refusal.SyntaxError, -1, `invalid byte sequence for encoding "UTF8": 0xff`},
		{"NUL from an escape", `select E'a\000b'`, refusal.SyntaxError, -1, `invalid byte sequence for encoding "UTF8": 0x00`},
		{"no statement", " -- nothing", refusal.EmptyQuery, -1, ""},
		{"semicolon", "select 1; drop table t", refusal.MultipleStatements, 8, ""},
		{"NUL", "select 1\x00; drop table t", refusal.SyntaxError, 8, ""},
		{"UTF-8", "select '\xff'", refusal.SyntaxError, 8, ""},
		{"too long", "select '" + deep("a", 64<<10) + "'", refusal.QueryTooLong, -1, ""},
		{"tree too deep", "select 1" + deep("+1", 200), refusal.ConstructNotAllowed, -1, ""},
		{"C stack", "select 1" + deep("+1", 30_000), refusal.ConstructNotAllowed, 8 + 2*2_999, ""},
		{"parser's stack", "select " + deep("1 between 1 and not ", 3_000) + "1", refusal.ConstructNotAllowed, 7 + 20*999 + 16, ""},
		{"parameter with junk", "select $1and", refusal.SyntaxError, 7, ""},
		{"parameter that wraps", "select $4294967297", refusal.SyntaxError, 7, ""},
		{"quadratic operators", "select " + deep("+", 60_000) + "1", refusal.ConstructNotAllowed, 7, ""},
		{"quadratic comments", "select 1" + deep("/**/", 15_000), refusal.ConstructNotAllowed, 8 + 4*63, ""},
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
			if f.Code == refusal.SyntaxError && f.SQLState != state {
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
	if tr, f := lex.Translate(text, lex.Guard{}); f == nil {
		if _, f = Parse(tr.Text); f != nil && f.Code == refusal.Internal {
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
				if tr, f := lex.Translate(text, lex.Guard{}); f == nil {
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
func placed(t texts.Tester, tr *lex.Translation, m proto.Message) {
	t.Helper()
	if at := OffsetOf(m, -1); at >= 0 && tr.TokenAt(at) < 0 && (tr.Text[at] != '\'' || tr.TokenAt(at-1) < 0) {
		t.Fatalf("%q: %T at %d, where no token starts", tr.Text, m, at)
	}
	Children(m, func(c proto.Message) bool {
		placed(t, tr, c)
		return true
	})
}

// Whatever is edited in a text is found through the places of its tree.
func TestEveryPlaceIsAToken(t *testing.T) {
	for _, text := range texts.Statements() {
		tr, f := lex.Translate(text, lex.Guard{})
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

// FuzzParse holds what must be true of the parser: no panic, a fault with a place, and each
// place of the tree at a token.
func FuzzParse(f *testing.F) {
	for _, text := range append(append(texts.Nasty(), texts.Statements()...), texts.Corpus(f)...) {
		f.Add(text)
		f.Add("select " + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr, fault := lex.Translate(text, lex.Guard{})
		if fault != nil {
			checkParsed(t, text)
			return
		}
		if s := checkParsed(t, tr.Text); s != nil {
			placed(t, tr, s)
		}
	})
}

func checkParsed(t *testing.T, text string) *pg.RawStmt {
	t.Helper()
	s, f := Parse(text)
	switch {
	case (s == nil) == (f == nil), s != nil && s.Stmt == nil:
		t.Fatalf("%q: %v, %+v", text, s, f)
	case f != nil && (f.Code == refusal.Internal || f.Message == "" || !utf8.ValidString(f.Message) || len(f.Message) > maxMessage+len("…") || f.Offset < -1 || f.Offset > len(text)):
		t.Fatalf("%q: %+v", text, f)
	}
	return s
}

// A fault in the translated text points into the caller's, and speaks of its ?.
func TestCallerFault(t *testing.T) {
	for _, c := range []struct {
		in, message string
		offset      int
	}{
		{"select ? ? from t", `syntax error at or near "?"`, 9},
		{"select a = ?, b ?? c from from t", `syntax error at or near "from"`, 26},
		{"select ?+", "syntax error at end of input", 9},
		{"select ? + é ?? ? )", `syntax error at or near ")"`, 19},
		{"select $1 $2", `syntax error at or near "$2"`, 10},
		{"select 'a', ? '$1'", `syntax error at or near "'$1'"`, 14},
	} {
		tr, f := lex.Translate(c.in, lex.Guard{})
		if f != nil {
			t.Fatalf("%s: %+v", c.in, f)
		}
		_, f = Parse(tr.Text)
		if got := tr.CallerRefusal(f); got == nil || got.Message != c.message || got.Offset != c.offset || got.Code != refusal.SyntaxError || got.SQLState != "42601" {
			t.Errorf("%s: got %+v, want %s at %d", c.in, got, c.message, c.offset)
		}
	}
	tr, _ := lex.Translate("select ?", lex.Guard{})
	if got := tr.CallerRefusal(&refusal.Refusal{Code: refusal.Internal, Offset: -1}); got.Offset != -1 || got.Code != refusal.Internal {
		t.Errorf("%+v", got)
	}
	if tr.CallerRefusal(nil) != nil {
		t.Error("no fault became one")
	}
}
