package lex

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/proof/texts"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct {
		name, in, out string
		style         Style
		numbers       []int
	}{
		{"none", "select 1 from t", "select 1 from t", NoPlaceholders, nil},
		{"plain", "select ?", "select  $1 ", QuestionMarks, []int{1}},
		{"left to right", "(?,?),(?)", "( $1 , $2 ),( $3 )", QuestionMarks, []int{1, 2, 3}},
		{"equals", "server_id=?", "server_id= $1 ", QuestionMarks, []int{1}},
		{"not less", "a>=?", "a>= $1 ", QuestionMarks, []int{1}},
		{"negative", "a=-?", "a=- $1 ", QuestionMarks, []int{1}},
		{"both sides", "?=?", " $1 = $2 ", QuestionMarks, []int{1, 2}},
		{"then word", "a=?and b=?or c", "a= $1 and b= $2 or c", QuestionMarks, []int{1, 2}},
		{"then digit", "?1", " $1 1", QuestionMarks, []int{1}},
		{"then cast", "?::int", " $1 ::int", QuestionMarks, []int{1}},
		{"then string", "?'a'", " $1 'a'", QuestionMarks, []int{1}},
		{"between names", "a?b", "a $1 b", QuestionMarks, []int{1}},
		{"sum", "?+?-?", " $1 + $2 - $3 ", QuestionMarks, []int{1, 2, 3}},
		{"concatenation", "?||?", " $1 || $2 ", QuestionMarks, []int{1, 2}},
		{"then comment", "?--?\n", " $1 --?\n", QuestionMarks, []int{1}},
		{"then block comment", "?/*?*/", " $1 /*?*/", QuestionMarks, []int{1}},
		{"no comment is made", "/?*", "/ $1 *", QuestionMarks, []int{1}},
		{"no line comment is made", "-?-", "- $1 -", QuestionMarks, []int{1}},
		{"ten", "?,?,?,?,?,?,?,?,?,?", " $1 , $2 , $3 , $4 , $5 , $6 , $7 , $8 , $9 , $10 ", QuestionMarks, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"operator", "data ?? 'k'", "data ? 'k'", NoPlaceholders, nil},
		{"operator any", "data ??| array['a']", "data ?| array['a']", NoPlaceholders, nil},
		{"operator all", "data ??& ?", "data ?&  $1 ", QuestionMarks, []int{1}},
		{"operator then placeholder", "data ???", "data ? $1 ", QuestionMarks, []int{1}},
		{"two operators", "a????b", "a??b", NoPlaceholders, nil},
		{"pairs from the left", "a?????b", "a?? $1 b", QuestionMarks, []int{1}},
		{"single before a bar", "a ?| b", "a  $1 | b", QuestionMarks, []int{1}},
		{"operator keeps its sign", "a ??-1", "a ?-1", NoPlaceholders, nil},
		{"operator keeps its sign before", "a -??- 1", "a -?- 1", NoPlaceholders, nil},
		{"operator before a comment", "a ??--c", "a ?--c", NoPlaceholders, nil},
		{"dollar style", "select $2,$1,$2", "select $2,$1,$2", Numbered, []int{2, 1, 2}},
		{"dollar style with operator", "data ?? $1", "data ? $1", Numbered, []int{1}},
		{"dollar style with zeros", "$007", "$007", Numbered, []int{7}},
		{"dollar style glued", "a=$1-$2", "a=$1-$2", Numbered, []int{1, 2}},
		{"highest", "$65535", "$65535", Numbered, []int{65535}},
		{"name with dollar", "a$1", "a$1", NoPlaceholders, nil},
		{"string", "'?' '??' '$1'", "'?' '??' '$1'", NoPlaceholders, nil},
		{"doubled quote", "'a''?' || ?", "'a''?' ||  $1 ", QuestionMarks, []int{1}},
		{"backslash", `'\'?`, `'\' $1 `, QuestionMarks, []int{1}},
		{"escape string", `E'\'?' || ?`, `E'\'?' ||  $1 `, QuestionMarks, []int{1}},
		{"escape string goes on", "E'a'\n'\\'?' || ?", "E'a'\n'\\'?' ||  $1 ", QuestionMarks, []int{1}},
		{"bit string", "B'1''?'", "B'1''?'", NoPlaceholders, nil},
		{"quoted name", `"?" "a""?"`, `"?" "a""?"`, NoPlaceholders, nil},
		{"dollar quote", "$$?$$ $a$?$b$?$a$ ?", "$$?$$ $a$?$b$?$a$  $1 ", QuestionMarks, []int{1}},
		{"dollar in a name starts no quote", "a$$?", "a$$ $1 ", QuestionMarks, []int{1}},
		{"failed dollar quote", "$a?$", "$a $1 $", QuestionMarks, []int{1}},
		{"comment", "-- ? ?\n/* ? /* ? */ ? */ ?", "-- ? ?\n/* ? /* ? */ ? */  $1 ", QuestionMarks, []int{1}},
		{"characters", "é=? -- ü", "é= $1  -- ü", QuestionMarks, []int{1}},
		{"hash and slashes are no comments", "# ? // ?", "#  $1  //  $2 ", QuestionMarks, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, f := Translate(c.in, Guard{})
			if f != nil {
				t.Fatalf("%+v", f)
			}
			if tr.Text != c.out {
				t.Errorf("text %q, want %q", tr.Text, c.out)
			}
			if tr.Style != c.style {
				t.Errorf("style %d, want %d", tr.Style, c.style)
			}
			var numbers []int
			for _, p := range tr.Placeholders {
				numbers = append(numbers, p.Number)
			}
			if diff := cmp.Diff(c.numbers, numbers); diff != "" {
				t.Error(diff)
			}
			soundTranslation(t, c.in, tr)
		})
	}
}

func TestTranslateRefusesMixedPlaceholders(t *testing.T) {
	for in, offset := range map[string]int{
		"select ?, $1":                  10,
		"select $1, ?":                  11,
		"select $1 ?| b":                10,
		"select $1 ??? 2":               12,
		"select '?', $1, '?', \"?\", ?": 26,
	} {
		if _, f := Translate(in, Guard{}); f == nil || f.Code != refusal.MixedPlaceholders || f.Offset != offset {
			t.Errorf("%s: got %+v, want an offset of %d", in, f, offset)
		}
	}
}

func TestTranslateRefusesWhatScanRefuses(t *testing.T) {
	for in, code := range map[string]refusal.Code{
		strings.Repeat("?", 10_241): refusal.QueryTooLong, "": refusal.EmptyQuery, "/* ? */": refusal.EmptyQuery, "select ?;": refusal.MultipleStatements,
		"select ? '": refusal.SyntaxError, "select $1a": refusal.SyntaxError, `select U&"?"`: refusal.ConstructNotAllowed,
	} {
		if tr, f := Translate(in, Guard{}); tr != nil || f == nil || f.Code != code {
			t.Errorf("%.20q: got %+v, %+v, want %s", in, tr, f, code)
		}
	}
}

// The protocol numbers parameters in 16 bits, however long a text a policy allows.
func TestTranslateBoundsPlaceholders(t *testing.T) {
	g := Guard{MaxBytes: 1 << 20}
	if tr, f := Translate("?"+strings.Repeat(",?", maxParam-1), g); f != nil || len(tr.Placeholders) != maxParam {
		t.Fatalf("%+v", f)
	}
	if _, f := Translate("?"+strings.Repeat(",?", maxParam), g); f == nil || f.Code != refusal.SyntaxError || f.Offset != 2*maxParam {
		t.Errorf("%+v", f)
	}
}

// soundTranslation holds a translation against the caller's text, independently of how
// it was made: Postgres' own scanner cuts the new text at the same tokens, and each is
// the caller's, byte for byte, or a placeholder where the caller has one.
func soundTranslation(t texts.Tester, caller string, tr *Translation) {
	t.Helper()
	want, err := postgresTokens(tr.Text)
	if err == nil && !cmp.Equal(want, tr.Tokens) {
		t.Fatalf("%q → %q: tokens differ (-Postgres +own):\n%s", caller, tr.Text, cmp.Diff(want, tr.Tokens))
	}
	end, params := 0, 0
	for i, k := range tr.Tokens {
		if k.Start < end || k.End <= k.Start || k.End > len(tr.Text) || tr.TokenAt(k.Start) != i {
			t.Fatalf("%q → %q: token %d is out of order: %v", caller, tr.Text, i, tr.Tokens)
		}
		end = k.End
		if k.Kind == Param {
			soundPlaceholder(t, caller, tr, k, params)
			params++
			continue
		}
		for at := k.Start; at < k.End; at++ {
			if from, ok := tr.CallerOffset(at); !ok || caller[from] != tr.Text[at] {
				t.Fatalf("%q → %q: byte %d is not the caller's", caller, tr.Text, at)
			}
		}
	}
	if params != len(tr.Placeholders) {
		t.Fatalf("%q → %q: %d parameters, %d placeholders", caller, tr.Text, params, len(tr.Placeholders))
	}
	soundOffsets(t, caller, tr)
}

func soundPlaceholder(t texts.Tester, caller string, tr *Translation, k Token, i int) {
	t.Helper()
	p, from := tr.Placeholders[i], -1
	if at, ok := tr.CallerOffset(k.Start); ok {
		from = at
	}
	digits := strings.TrimLeft(tr.Text[k.Start+1:k.End], "0")
	switch {
	case p.Start != k.Start || p.End != k.End || ParamNumber(digits) != p.Number || p.Number < 1 || p.Number > maxParam:
		t.Fatalf("%q → %q: %+v is not %v", caller, tr.Text, p, k)
	case from < 0:
		t.Fatalf("%q → %q: parameter %d has no place", caller, tr.Text, i)
	case tr.Style == QuestionMarks && (caller[from] != '?' || p.Number != i+1):
		t.Fatalf("%q → %q: parameter %d is %q", caller, tr.Text, i, caller[from])
	case tr.Style == Numbered && !strings.HasPrefix(caller[from:], tr.Text[k.Start:k.End]):
		t.Fatalf("%q → %q: parameter %d is %q", caller, tr.Text, i, caller[from:])
	case tr.Style == NoPlaceholders:
		t.Fatalf("%q → %q: a parameter without a style", caller, tr.Text)
	}
}

// soundOffsets holds that offsets grow with the text, and that every byte of the
// caller's text is somewhere, but for the second ? of each pair.
func soundOffsets(t texts.Tester, caller string, tr *Translation) {
	t.Helper()
	last := 0
	for at := 0; at <= len(tr.Text); at++ {
		from, ok := tr.CallerOffset(at)
		if !ok {
			if tr.Text[at] != ' ' {
				t.Fatalf("%q → %q: byte %d is nobody's", caller, tr.Text, at)
			}
			continue
		}
		if from < last || from > len(caller) {
			t.Fatalf("%q → %q: byte %d comes from %d, after %d", caller, tr.Text, at, from, last)
		}
		if from > last+1 && caller[last:from] != "??" {
			t.Fatalf("%q → %q: bytes %d to %d are lost", caller, tr.Text, last+1, from)
		}
		last = from
	}
	starts := 0
	for at := -1; at <= len(tr.Text)+1; at++ {
		if i := tr.TokenAt(at); i >= 0 && tr.Tokens[i].Start == at {
			starts++
		} else if i != -1 {
			t.Fatalf("%q: token %d is said to start at %d", tr.Text, i, at)
		}
	}
	if starts != len(tr.Tokens) {
		t.Fatalf("%q: %d tokens found of %d", tr.Text, starts, len(tr.Tokens))
	}
	if at, ok := tr.CallerOffset(-1); ok {
		t.Fatalf("-1 is %d", at)
	}
	if at, ok := tr.CallerOffset(len(tr.Text) + 1); ok {
		t.Fatalf("an offset behind the end is %d", at)
	}
}

func TestTranslateGeneratedTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := generated(t, append(fragments(), "?", "?", "??", "=?", "?::", "?,"))
		tr, f := Translate(text, Guard{})
		if f == nil {
			soundTranslation(t, text, tr)
			if !strings.Contains(text, "?") && tr.Text != text {
				t.Fatalf("%q became %q", text, tr.Text)
			}
		}
	})
}

func FuzzTranslate(f *testing.F) {
	for _, text := range texts.Nasty() {
		f.Add(text)
		f.Add("select a=?and " + text + " ?? ?")
	}
	for _, text := range texts.Corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr, fault := Translate(text, Guard{})
		if fault != nil {
			if tr != nil || fault.Code == "" || fault.Message == "" || fault.Offset < -1 || fault.Offset > len(text) {
				t.Fatalf("%q: %+v", text, fault)
			}
			return
		}
		soundTranslation(t, text, tr)
		settled(t, text, tr)
		sameAsPostgres(t, text) // Translate admits it, so it is no danger to the scanner
	})
}

// TestQuotesName looks at each byte of a text for a name in double quotes.
func TestQuotesName(t *testing.T) {
	tr, fault := Translate(`SELECT a, "b" || '"c"', $$"d"$$ FROM "e""f".g`, Guard{})
	if fault != nil {
		t.Fatal(fault)
	}
	var found []string
	for at := -2; at < len(tr.Text)+2; at++ {
		if tr.QuotesName(at) {
			found = append(found, tr.Text[at:at+3])
		}
	}
	if want := []string{`"b"`, `"e"`}; !slices.Equal(found, want) {
		t.Errorf("%s, want %s", found, want)
	}
}

// settled tells whether a translation, translated, is itself: its $n are placeholders, and
// nothing else in it is. A ? in it would be one more.
func settled(t *testing.T, text string, tr *Translation) {
	t.Helper()
	if strings.Contains(tr.Text, "?") {
		return
	}
	again, fault := Translate(tr.Text, Guard{MaxBytes: 64 << 10, MaxDepth: 200})
	if fault != nil || again.Text != tr.Text || len(again.Placeholders) != len(tr.Placeholders) {
		t.Fatalf("%q became %q, which becomes %+v, %+v", text, tr.Text, again, fault)
	}
}

func BenchmarkTranslate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, f := Translate("SELECT id, content FROM messages WHERE id = ? AND server_id = ?", Guard{MaxBytes: 10_240}); f != nil {
			b.Fatal(f)
		}
	}
}
