package lex

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pg "github.com/pganalyze/pg_query_go/v6"
	"pgregory.net/rapid"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/proof/texts"
)

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

// sameAsPostgres compares scan with Postgres' scanner. A difference is allowed where
// the text is refused on purpose, and where Postgres looks into a string.
func sameAsPostgres(t texts.Tester, text string) {
	t.Helper()
	want, err := postgresTokens(text)
	got, f := Scan(text, Guard{}, false)
	switch {
	case err != nil && f == nil && !strings.Contains(err.Error(), "invalid Unicode") && !strings.Contains(err.Error(), "invalid byte sequence"):
		t.Fatalf("%q: Postgres refuses it (%v), scan gives %v", text, err, got)
	case err == nil && f != nil && !onPurpose(f):
		t.Fatalf("%q: Postgres gives %v, scan refuses it: %+v", text, want, f)
	case err == nil && f == nil && !cmp.Equal(want, got):
		t.Fatalf("%q: tokens differ (-Postgres +scan):\n%s", text, cmp.Diff(want, got))
	}
}

func onPurpose(f *refusal.Refusal) bool {
	return f.Code != refusal.SyntaxError || f.Message == "trailing junk after parameter" || strings.HasPrefix(f.Message, "a parameter's number")
}

// TestSpell spells identifiers with quotation marks where they need some.
func TestSpell(t *testing.T) {
	for name, want := range map[string]string{"a_1$": "a_1$", "é": "é", "createdAt": `"createdAt"`, "1a": `"1a"`, "a b": `"a b"`, `a"`: `"a"""`, "": `""`, "$a": `"$a"`} {
		if got := Spell(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Every text is cut exactly as Postgres cuts it.
func TestScanMatchesPostgres(t *testing.T) {
	for _, text := range texts.Nasty() {
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
		code       refusal.Code
		offset     int
	}{
		{"too long before NUL", strings.Repeat("\x00", 10_241), refusal.QueryTooLong, -1},
		{"longest", "select '" + strings.Repeat("a", 10_240-9) + "'", "", 0},
		{"one too long", "select '" + strings.Repeat("a", 10_241-9) + "'", refusal.QueryTooLong, -1},
		{"NUL before UTF-8", "select \xff 1\x00; drop", refusal.SyntaxError, 10},
		{"NUL", "select 1\x00; drop", refusal.SyntaxError, 8},
		{"UTF-8", "select 'é\xe9'", refusal.SyntaxError, 10},
		{"surrogate", "select '\xed\xa0\x80'", refusal.SyntaxError, 8},
		{"overlong", "select '\xc0\xa7'", refusal.SyntaxError, 8},
		{"cut short", "select 'a\xc3", refusal.SyntaxError, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := Scan(c.text, Guard{}, true)
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
		code       refusal.Code
		offset     int
	}{
		{"string", "select 'a", refusal.SyntaxError, 7},
		{"string after continuation", "select 'a'\n'b", refusal.SyntaxError, 7},
		{"escape string", `select E'a\'`, refusal.SyntaxError, 7},
		{"bit string", "select B'1", refusal.SyntaxError, 7},
		{"national string", "select N'a", refusal.SyntaxError, 7},
		{"unicode string", "select U&'a", refusal.SyntaxError, 7},
		{"quoted name", `select "a`, refusal.SyntaxError, 7},
		{"empty name", `select ""`, refusal.SyntaxError, 7},
		{"dollar quote", "select $a$ $b$", refusal.SyntaxError, 7},
		{"comment", "select /* a", refusal.SyntaxError, 7},
		{"nested comment", "select /* /* */", refusal.SyntaxError, 7},
		{"comment in continuation", "select 'a' --c\n'b'", refusal.ConstructNotAllowed, 11},
		{"unicode name", `select U&"a"`, refusal.ConstructNotAllowed, 7},
		{"semicolon", "select 1; select 'a", refusal.MultipleStatements, 8},
		{"trailing semicolon", "select 1 ; ", refusal.MultipleStatements, 9},
		{"lone semicolon", ";", refusal.MultipleStatements, 0},
		{"empty", "", refusal.EmptyQuery, -1},
		{"blank", " \n\t", refusal.EmptyQuery, -1},
		{"comments only", "-- a\n/* b; c */ -- d", refusal.EmptyQuery, -1},
		{"parameter 0", "select $0", refusal.SyntaxError, 7},
		{"parameter 65536", "select $65536", refusal.SyntaxError, 7},
		{"parameter that wraps to 1", "select $4294967297", refusal.SyntaxError, 7},
		{"parameter that wraps at 64 bits", "select $18446744073709551617", refusal.SyntaxError, 7},
		{"parameter with junk", "select $1and", refusal.SyntaxError, 7},
		{"number with junk", "select 1a", refusal.SyntaxError, 7},
		{"hexadecimal without digits", "select 0x", refusal.SyntaxError, 7},
		{"operator of 64", "select 1 " + deep("@", 64) + " 2", refusal.ConstructNotAllowed, 9},
		{"operators in a row", "select 1 " + deep("+", 64) + "2", refusal.ConstructNotAllowed, 9},
		{"comments in a row", "select " + deep("/**/", 64) + "2", refusal.ConstructNotAllowed, 7 + 4*63},
		{"operators and comments in a row", "select 1" + deep("+/**/", 33) + "2", refusal.ConstructNotAllowed, 8 + 5*31 + 1},
		{"nested comments", "select " + deep("/* ", 9) + deep("*/", 9), refusal.ConstructNotAllowed, 7},
		{"brackets", "select " + deep("(", 101) + "1" + deep(")", 101), refusal.ConstructNotAllowed, 107},
		{"square brackets", "select a" + deep("[a", 101), refusal.ConstructNotAllowed, 8 + 200},
		{"chain", "select " + deep("not ", 2_558), "", 0},
		{"chain of operators", "select 1" + deep("+1", 3_000), refusal.ConstructNotAllowed, 8 + 2*2_999},
		{"chain of casts", "select 1" + deep("::a", 1_500), refusal.ConstructNotAllowed, 8 + 3*1_499 + 2},
		{"chain across brackets", "select " + deep("+ ", 2_000) + "(" + deep("+ ", 1_000) + "1)", refusal.ConstructNotAllowed, 7 + 4_001 + 2*999},
		{"chain through columns", "select 1" + deep("+a.and", 1_600), refusal.ConstructNotAllowed, 8 + 6*999 + 3},
		{"chain through between", "select " + deep("1 between 1 and not ", 500), "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := Scan(c.text, Guard{}, true)
			switch {
			case f == nil && c.code != "", f != nil && c.code == "":
				t.Errorf("got %+v, want %q", f, c.code)
			case f != nil && (f.Code != c.code || f.Offset != c.offset || f.Message == ""):
				t.Errorf("got %+v, want %s at %d", f, c.code, c.offset)
			case f != nil && f.Code == refusal.SyntaxError && f.SQLState != "42601":
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
		if _, f := Scan(text, Guard{}, true); f != nil {
			t.Errorf("%s (%d bytes): %+v", name, len(text), f)
		}
	}
}

// A chain grows through an operand in brackets and through BETWEEN's AND; what stands
// in closed brackets counts no more.
func TestScanMeasuresChains(t *testing.T) {
	for text, code := range map[string]refusal.Code{
		"select (1+1+1)+(1+1+1)+(1+1+1)":                 "",
		"select 1+1+1+(1+1+(1+1))":                       refusal.ConstructNotAllowed,
		"select a between b and c and d and e and f":     "",
		"select a between b and not c between d and e":   refusal.ConstructNotAllowed,
		"select 1+1+1, 1+1+1, (1+1, 1+1, 1+1), 1+1+1":    "",
		"select a + b or c + d OR e + f":                 "",
		"select a.b.c.d.e.f.g.h":                         refusal.ConstructNotAllowed,
		"select $1, 'a', \"b\", 1, ((((1)))), [1][1][1]": "",
	} {
		if _, f := Scan(text, Guard{MaxChain: 6}, false); f == nil && code != "" || f != nil && f.Code != code {
			t.Errorf("%s: got %+v, want %q", text, f, code)
		}
	}
}

// A guard's fields are what is enforced, and zero is the default.
func TestGuardIsConfigurable(t *testing.T) {
	for name, c := range map[string]struct {
		guard Guard
		text  string
		code  refusal.Code
	}{
		"bytes":    {Guard{MaxBytes: 7}, "select 1", refusal.QueryTooLong},
		"depth":    {Guard{MaxDepth: 1}, "select ((1))", refusal.ConstructNotAllowed},
		"operator": {Guard{MaxOperator: 2}, "select 1 @@@ 2", refusal.ConstructNotAllowed},
		"comment":  {Guard{MaxCommentDepth: 1}, "select 1 /*/**/*/", refusal.ConstructNotAllowed},
		"chain":    {Guard{MaxChain: 3}, "select 1 + 1 + 1 + 1", refusal.ConstructNotAllowed},
	} {
		if _, f := Scan(c.text, c.guard, true); f == nil || f.Code != c.code {
			t.Errorf("%s: got %+v, want %s", name, f, c.code)
		}
		if _, f := Scan(c.text, Guard{}, true); f != nil {
			t.Errorf("%s: refused by default: %+v", name, f)
		}
	}
}
