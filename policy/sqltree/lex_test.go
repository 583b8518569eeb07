package sqltree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pg "github.com/pganalyze/pg_query_go/v6"
	"pgregory.net/rapid"
)

// nasty are texts that scanners get wrong. None holds a placeholder.
func nasty() []string {
	return []string{
		"select 1", "", " \t\n\r\f\v", "-- only", "/* only */", "select\v1", "a\u00a0b", "sélect é$1é", "\u3000",
		// comments
		"select 1 -- a\n+ 2", "select 1 -- a\r+ 2", "a--", "a--\n", "/**/a", "/***/a", "/****/a", "/*/ */a", "/* /* */ */a", "/*/**/*/a", "/* **/a",
		"/*a*//*b*/c", "/* -- */ a", "-- /*\na", "a/*'*/b/*'*/c", "/* $a$ */ a $a$ /* $a$", "/*\n--*/a", "a*/*/ */b", "a /* unterminated", "/* /* */", "/*/", "/*",
		// operators, and comments within them
		"a+/*c*/b", "a+--c\nb", "a@/*c*/-b", "a=-b", "a=+-b", "a=-+b", "a@-b", "a@-+b", "a<=-1", "a>=+1", "a<>-1", "a!=-1", "a=>-1", "f(a=>1)", "f(a:=1)", "a:=-1",
		"a-- b", "a-/*x*/-b", "a+-/**/b", "a*/b", "a/ *b", "a->>'x'", "a#>>'{}'", "a<->b", "a<@b", "a@>b", "a&&b", "a||b", "!!a", "a ~~* b", "a !~ b", "~-1", "-~1", "a%-1", "a^-1",
		"a|/-1", "a`b", "a<-1", "a<=>b", "a===b", "a=>b", "a=>=b", "a>=>b", "a<>>b", "*+", "+*", "=*-", "/-*", "-*/", "a+-+-b", "a@@@-+b",
		"a ? b", "a ?| b", "a ?& b", "a?-b", "a=?b", "a?/*c*/b", "a?--\nb", "??", "a??-b", "?|?", "a?", "?1", "?a", "'a'?'b'",
		// signs
		"a::b", "a:::b", "a::::b", "a:b", "a::=b", "a:==b", "a..b", "a...b", "a.b", "a[1:2]", "a[1::int]", "(a,b)", "a.*", "a:=:b", `a\b`, "a{b}", "a\x01b", "a\x7fb", "`", "#", "!",
		// numbers
		"1", "1.", ".1", "1.5", "1..2", "1...2", "1....2", ".1.2", ".1..2", "1.2.3", "1..", "..1", "1e5", "1E-5", "1e+5", "1.e5", ".5e5", "1e5.5", "1e5..5", "1.5..2", "1.e", "1e", "1e+", "1e-", "1e+a", "1e5a",
		"1_000", "1__0", "1_", "_1", "1_a", "1.0_0", "1._0", "1.5_", "1e1_0", "1e_1", "1e1_", "0x1F", "0X1f", "0x_1F", "0x__1", "0x1_", "0x", "0x_", "0xg", "0x1g", "0x1.5", "0x1..2", "0o17", "0O1_7", "0o8", "0o78", "0b11", "0B1_1",
		"0b12", "0b", "0b_", "00x1", "0x1$", "0x1é", "1é", "1a", "1$", "1$1", "1$$x$$", "1.a", "1.5a", "1e5é", "0e5", "1e5$", "1e+5$", "1.e5$", "1.5e5$", "1.5e-5$1", "1e5$$x$$", "0_0$", "1.5_0$", ".5_0$", "1e+5_0$", "1_0.5$", "1_0.$", "0x1_0$", "0_1", "0", "00", "1-1", "1+1", "1.-1", "1.+.1", "0x1e+1", "1'a'", "1\"a\"", "99999999999999999999", "1 .5", "1. 5",
		// parameters
		"$1", "$1+$2", "a=$1", "a$1", "$1$2", "$1$", "$1 $", "$1.5", "$12", "$01", "($1)", "$1::int", "$1,$2", "-$1", "$1-1", "$1'a'", "$1\"a\"",
		// dollar quotes
		"$$a$$", "$$$$", "$a$b$a$", "$a$b$$c$a$", "$a$$b$a$", "$a$ $b$ $a$", "$a$$a$", "$a$$a$$a$", "$a$x$a$a$", "$a$x$ab$a$", "$a$$1$a$", "$a1$x$a1$", "$1$x$1$", "$_$x$_$", "$é$x$é$", "$A$x$a$A$", "$a b$", "$a", "$", "$ $", "$$", "$$a$", "$a$", "$a$a",
		"a$$b$$", "a$b$c", "a$b", "$a$'$a$'b'", "'$a$'$a$'$a$", "$a$--$a$\nb", "$a$/*$a$ */", "$-$", "$.$", "$a-$b$", "$a.$a$", "$$ $a$ $$", "$$\n$$", "$a$b$c$d$a$", "$$a$$$b$$", "$a$$$a$$$",
		// strings
		"''", "'a'", "'a''b'", "''''", "'a", "'a''", "'", "'''", `'a\'`, `'a\' 'b'`, "'a' 'b'", "'a'\n'b'", "'a'\r'b'", "'a' \n \t 'b'", "'a'\v'b'", "'a'\n\v'b'", "'a'\n\n'b'\n'c'", "'a'\n'b", "'a''b'\n'c''d'", "'a'\n-'b'", "'a'-\n'b'", "'a'\n--",
		"'a'\n/**/'b'", "'a'/*\n*/'b'", "'a'\n+'b'", "'a'--c", "'a'\nE'b'", `'a'` + "\n" + `"b"`, "';'", "'--'", "'/*'", "'$$'", "'\n'", "'é'", "a'b'", "a'b''c'd", "1 'a'\n\n,'b'",
		`E'a'`, `E'a\'b'`, `e'a\\'`, `E'a\\'b'`, `E'\'`, `E'\\\''`, `E'a''b'`, `E'\n\x41\101\u0041\U00000041'`, "E'a'\n'b\\'c'", "E'a\\\nb'", `E'\é'`, `E'a' 'b\'`, `E 'a'`, `aE'a'`, `E'\''--'`, `E'\7'`, `E'\77'`, `E'\777'`, `E'\`, `E'a`, `E'\u00e9'`, `E'\ud83d\ude00'`,
		`E'\ud83d'`, `E'\u12'`, `E'\xff'`, `E'\xc3\xa9'`, `E'\000'`, `1E'a'`, "'a'\n'b\\'", "e''", "_e'a'",
		"B'01'", "b''", "B'1''0'", "B'1'\n'0'", "B'''", "B''''", "X'1F'", "x''''", "X'1''", "X'a'\n'b''c'", `B'\'`, "B'12;3'", "b'\n'", "bb'1'", "B '1'",
		"N'a'", "n'a''b'", "N'a'\n'b'", `N'\'`, "N''", "N'", "nN'a'", "N 'a'", "nchar 'a'", "N\n'a'", "a.N'a'",
		"U&'a'", `u&'\0041'`, `U&'\'`, "U&'a''b'", "U&'a'\n'b'", "U&'a' uescape '!'", "U& 'a'", "U &'a'", "u&a", "u&", "u", "au&'a'", "U&-1", "u&&a", "U&'", `U&'\'''`,
		// names
		`"a"`, `"a""b"`, `""""`, `"a`, `"`, `"a"""`, `""`, `"a;b"`, `"a'b"`, `"--"`, `"/*"`, `"$$"`, `a"b"`, `"a"b`, `"a"."b"`, `"é"`, "\"a\nb\"", `"a" "b"`, "\"a\"\n\"b\"", `u"a"`, `e"a"`, "a.b.c", "a.1", "a .b", "_", "_a1$", "a$$", strings.Repeat("a", 70), strings.Repeat("é", 40),
		`U&"a"`, `u&"a"`, `U& "a"`, `au&"a"`,
		// what is refused on purpose
		"'a' --c\n'b'", "'a'\n--c\n'b'", `E'a' --c` + "\n" + `'\'`, "'a' --c\n--d\n\n 'b'", "$0", "$00", "$65535", "$65536", "$4294967297", "$99999999999999999999", "$1a", "$1_0", "$1é", "$1and", ";", "a;", "a;b", "/*;*/a", "--;\na",
	}
}

// postgresTokens is what Postgres' own scanner makes of a text.
func postgresTokens(text string) ([]Token, error) {
	res, err := pg.Scan(text)
	if err != nil {
		return nil, err
	}
	var out []Token
	nchar := -1
	for _, k := range res.Tokens {
		t := Token{postgresKind(text, k), int(k.Start), int(k.End)}
		switch {
		case k.Token == pg.Token_SQL_COMMENT || k.Token == pg.Token_C_COMMENT:
			continue
		case k.Token == pg.Token_NCHAR && t.End == t.Start+1:
			nchar = t.Start
			continue
		case nchar >= 0:
			t.Start, nchar = nchar, -1
		}
		out = append(out, t)
	}
	return out, nil
}

func postgresKind(text string, k *pg.ScanToken) TokenKind {
	switch k.Token {
	case pg.Token_SCONST, pg.Token_USCONST, pg.Token_BCONST, pg.Token_XCONST:
		return String
	case pg.Token_ICONST, pg.Token_FCONST:
		return Number
	case pg.Token_PARAM:
		return Param
	case pg.Token_Op, pg.Token_LESS_EQUALS, pg.Token_GREATER_EQUALS, pg.Token_NOT_EQUALS:
		return Operator
	case pg.Token_TYPECAST, pg.Token_DOT_DOT, pg.Token_COLON_EQUALS, pg.Token_EQUALS_GREATER:
		return Punct
	}
	switch c := text[k.Start]; {
	case c == '"':
		return QuotedIdent
	case isIdentStart(c):
		return Ident
	case k.End == k.Start+1 && strings.IndexByte("+-*/%^<>=", c) >= 0:
		return Operator
	}
	return Punct
}

// tester is what the comparisons need of *testing.T, *testing.F's T and *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameAsPostgres compares scan with Postgres' scanner. A difference is allowed where
// the text is refused on purpose, and where Postgres looks into a string.
func sameAsPostgres(t tester, text string) {
	t.Helper()
	want, err := postgresTokens(text)
	got, f := scan(text, Guard{}, false)
	switch {
	case err != nil && f == nil && !strings.Contains(err.Error(), "invalid Unicode") && !strings.Contains(err.Error(), "invalid byte sequence"):
		t.Fatalf("%q: Postgres refuses it (%v), scan gives %v", text, err, got)
	case err == nil && f != nil && !onPurpose(f):
		t.Fatalf("%q: Postgres gives %v, scan refuses it: %+v", text, want, f)
	case err == nil && f == nil && !cmp.Equal(want, got):
		t.Fatalf("%q: tokens differ (-Postgres +scan):\n%s", text, cmp.Diff(want, got))
	}
}

func onPurpose(f *Fault) bool {
	return f.Code != SyntaxError || f.Message == "trailing junk after parameter" || strings.HasPrefix(f.Message, "a parameter's number")
}

// Every text is cut exactly as Postgres cuts it.
func TestScanMatchesPostgres(t *testing.T) {
	for _, text := range nasty() {
		sameAsPostgres(t, text)
		sameAsPostgres(t, "select "+text+" from t")
		sameAsPostgres(t, "x"+text+"\n'y'")
	}
}

// fragments are what generated texts are made of.
func fragments() []string {
	return []string{
		" ", "\n", "\r", "\t", "\v", "a", "e", "E", "u", "U&", "b", "x", "n", "N", "é", "_", "and", "0", "1", "9", "0x", "0b", ".", "..", "1e", "1_", "_0", "$", "$$", "$a$", "$1", "$2",
		"'", "''", "'a'", `\`, `\'`, `"`, `""`, "--", "/*", "*/", "-", "+", "*", "/", "=", ">", "<", "!", "@", "~", "|", "&", "#", "%", "^", "`", ":", "::", ":=", ",", "(", ")", "[", "]", "?", "??", "'\n'", "'--\n'", "E'", "B'", "U&'",
	}
}

func generated(t *rapid.T, pieces []string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
}

func TestScanMatchesPostgresOnGeneratedTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sameAsPostgres(t, generated(t, fragments())) })
}

// Short texts over the signs of one subject are tried out completely.
func TestScanMatchesPostgresOnAllShortTexts(t *testing.T) {
	var all func(text, signs string, more int)
	all = func(text, signs string, more int) {
		for i := range len(signs) {
			next := text + signs[i:i+1]
			sameAsPostgres(t, next)
			if more > 1 {
				all(next, signs, more-1)
			}
		}
	}
	all("", "01_.e$+xbo8f'", 4)   // numbers
	all("", "'\\EBUn&$a\n-? ", 4) // quotes
	all("", "+-*/?=@>:.(\n", 4)   // operators and comments
}

// The order of the first checks is a promise: nothing looks at a text that is too long.
func TestScanChecksBytesFirst(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       Code
		offset     int
	}{
		{"too long before NUL", strings.Repeat("\x00", 10_241), QueryTooLong, -1},
		{"longest", "select '" + strings.Repeat("a", 10_240-9) + "'", "", 0},
		{"one too long", "select '" + strings.Repeat("a", 10_241-9) + "'", QueryTooLong, -1},
		{"NUL before UTF-8", "select \xff 1\x00; drop", SyntaxError, 10},
		{"NUL", "select 1\x00; drop", SyntaxError, 8},
		{"UTF-8", "select 'é\xe9'", SyntaxError, 10},
		{"surrogate", "select '\xed\xa0\x80'", SyntaxError, 8},
		{"overlong", "select '\xc0\xa7'", SyntaxError, 8},
		{"cut short", "select 'a\xc3", SyntaxError, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := scan(c.text, Guard{}, true)
			if f == nil && c.code == "" {
				return
			}
			if f == nil || f.Code != c.code || f.Offset != c.offset {
				t.Errorf("got %+v, want %s at %d", f, c.code, c.offset)
			}
		})
	}
}

func TestScanRefusesWithItsPlace(t *testing.T) {
	deep := strings.Repeat
	for _, c := range []struct {
		name, text string
		code       Code
		offset     int
	}{
		{"string", "select 'a", SyntaxError, 7},
		{"string after continuation", "select 'a'\n'b", SyntaxError, 7},
		{"escape string", `select E'a\'`, SyntaxError, 7},
		{"bit string", "select B'1", SyntaxError, 7},
		{"national string", "select N'a", SyntaxError, 7},
		{"unicode string", "select U&'a", SyntaxError, 7},
		{"quoted name", `select "a`, SyntaxError, 7},
		{"empty name", `select ""`, SyntaxError, 7},
		{"dollar quote", "select $a$ $b$", SyntaxError, 7},
		{"comment", "select /* a", SyntaxError, 7},
		{"nested comment", "select /* /* */", SyntaxError, 7},
		{"comment in continuation", "select 'a' --c\n'b'", ConstructNotAllowed, 11},
		{"unicode name", `select U&"a"`, ConstructNotAllowed, 7},
		{"semicolon", "select 1; select 'a", MultipleStatements, 8},
		{"trailing semicolon", "select 1 ; ", MultipleStatements, 9},
		{"lone semicolon", ";", MultipleStatements, 0},
		{"empty", "", EmptyQuery, -1},
		{"blank", " \n\t", EmptyQuery, -1},
		{"comments only", "-- a\n/* b; c */ -- d", EmptyQuery, -1},
		{"parameter 0", "select $0", SyntaxError, 7},
		{"parameter 65536", "select $65536", SyntaxError, 7},
		{"parameter that wraps to 1", "select $4294967297", SyntaxError, 7},
		{"parameter that wraps at 64 bits", "select $18446744073709551617", SyntaxError, 7},
		{"parameter with junk", "select $1and", SyntaxError, 7},
		{"number with junk", "select 1a", SyntaxError, 7},
		{"hexadecimal without digits", "select 0x", SyntaxError, 7},
		{"operator of 64", "select 1 " + deep("@", 64) + " 2", ConstructNotAllowed, 9},
		{"operators in a row", "select 1 " + deep("+", 64) + "2", ConstructNotAllowed, 9},
		{"comments in a row", "select " + deep("/**/", 64) + "2", ConstructNotAllowed, 7 + 4*63},
		{"operators and comments in a row", "select 1" + deep("+/**/", 33) + "2", ConstructNotAllowed, 8 + 5*31 + 1},
		{"nested comments", "select " + deep("/* ", 9) + deep("*/", 9), ConstructNotAllowed, 7},
		{"brackets", "select " + deep("(", 101) + "1" + deep(")", 101), ConstructNotAllowed, 107},
		{"square brackets", "select a" + deep("[a", 101), ConstructNotAllowed, 8 + 200},
		{"chain", "select " + deep("not ", 2_558), "", 0},
		{"chain of operators", "select 1" + deep("+1", 3_000), ConstructNotAllowed, 8 + 2*2_999},
		{"chain of casts", "select 1" + deep("::a", 1_500), ConstructNotAllowed, 8 + 3*1_499 + 2},
		{"chain across brackets", "select " + deep("+ ", 2_000) + "(" + deep("+ ", 1_000) + "1)", ConstructNotAllowed, 7 + 4_001 + 2*999},
		{"chain through columns", "select 1" + deep("+a.and", 1_600), ConstructNotAllowed, 8 + 6*999 + 3},
		{"chain through between", "select " + deep("1 between 1 and not ", 500), "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := scan(c.text, Guard{}, true)
			switch {
			case f == nil && c.code != "", f != nil && c.code == "":
				t.Errorf("got %+v, want %q", f, c.code)
			case f != nil && (f.Code != c.code || f.Offset != c.offset || f.Message == ""):
				t.Errorf("got %+v, want %s at %d", f, c.code, c.offset)
			case f != nil && f.Code == SyntaxError && f.SQLState != "42601":
				t.Errorf("SQLState %q", f.SQLState)
			}
		})
	}
}

// What stands just inside the limits passes, and what honest texts are full of is no chain.
func TestScanAdmitsLongHonestTexts(t *testing.T) {
	for name, text := range map[string]string{
		"operator of 63":   "select 1 " + strings.Repeat("@", 63) + " 2",
		"nested comments":  "select " + strings.Repeat("/* ", 8) + strings.Repeat("*/", 8) + "1",
		"banner":           "/*" + strings.Repeat("*", 200) + "/ select 1 /*" + strings.Repeat("=", 200) + "*/",
		"dashes":           "select 1 " + strings.Repeat("-", 200) + "\n+ 2",
		"brackets":         "select " + strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100),
		"negative values":  "values (" + strings.Repeat("-1,", 3_390) + "1)",
		"alternatives":     "select 1 where a=1" + strings.Repeat(" or a=1", 1_450),
		"conditions":       "select 1 where a=1" + strings.Repeat(" and a=1", 1_250),
		"ranges":           "select 1 where a between 1 and 2" + strings.Repeat(" or a between 1 and 2", 450),
		"rows":             "values (1,2)" + strings.Repeat(",(1,2)", 1_700),
		"case":             "select case" + strings.Repeat(" when a=1 then 'x'", 560) + " end",
		"closing brackets": "select 1" + strings.Repeat(")", 200),
	} {
		if _, f := scan(text, Guard{}, true); f != nil {
			t.Errorf("%s (%d bytes): %+v", name, len(text), f)
		}
	}
}

// A chain grows through an operand in brackets and through BETWEEN's AND; what stands
// in closed brackets counts no more.
func TestScanMeasuresChains(t *testing.T) {
	for text, code := range map[string]Code{
		"select (1+1+1)+(1+1+1)+(1+1+1)":                 "",
		"select 1+1+1+(1+1+(1+1))":                       ConstructNotAllowed,
		"select a between b and c and d and e and f":     "",
		"select a between b and not c between d and e":   ConstructNotAllowed,
		"select 1+1+1, 1+1+1, (1+1, 1+1, 1+1), 1+1+1":    "",
		"select a + b or c + d OR e + f":                 "",
		"select a.b.c.d.e.f.g.h":                         ConstructNotAllowed,
		"select $1, 'a', \"b\", 1, ((((1)))), [1][1][1]": "",
	} {
		if _, f := scan(text, Guard{MaxChain: 6}, false); f == nil && code != "" || f != nil && f.Code != code {
			t.Errorf("%s: got %+v, want %q", text, f, code)
		}
	}
}

// A guard's fields are what is enforced, and zero is the default.
func TestGuardIsConfigurable(t *testing.T) {
	for name, c := range map[string]struct {
		guard Guard
		text  string
		code  Code
	}{
		"bytes":    {Guard{MaxBytes: 7}, "select 1", QueryTooLong},
		"depth":    {Guard{MaxDepth: 1}, "select ((1))", ConstructNotAllowed},
		"operator": {Guard{MaxOperator: 2}, "select 1 @@@ 2", ConstructNotAllowed},
		"comment":  {Guard{MaxCommentDepth: 1}, "select 1 /*/**/*/", ConstructNotAllowed},
		"chain":    {Guard{MaxChain: 3}, "select 1 + 1 + 1 + 1", ConstructNotAllowed},
	} {
		if _, f := scan(c.text, c.guard, true); f == nil || f.Code != c.code {
			t.Errorf("%s: got %+v, want %s", name, f, c.code)
		}
		if _, f := scan(c.text, Guard{}, true); f != nil {
			t.Errorf("%s: refused by default: %+v", name, f)
		}
	}
}
