// Package texts has SQL texts that tests of several packages start from.
package texts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nasty are texts that scanners get wrong. None holds a placeholder.
func Nasty() []string {
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

// Tester is what the comparisons need of *testing.T, *testing.F's T and *rapid.T.
type Tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Corpus gives the texts of the golden files and of the honest statements, to start from.
func Corpus(t testing.TB) []string {
	t.Helper()
	var out []string
	for pattern, cut := range map[string]struct{ head, tail string }{
		"../../testdata/decide/*": {"\n", "\n----"}, "../../../cmd/tenantgate/testdata/honest/*.yaml": {"sql: |\n", "\n  args:"},
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal("no texts in", pattern, err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range strings.Split(string(src), "\n\n") {
				_, rest, found := strings.Cut(block, cut.head)
				if text, _, ended := strings.Cut(rest, cut.tail); found && ended {
					out = append(out, strings.TrimSpace(text))
				}
			}
		}
	}
	if len(out) < 300 {
		t.Fatalf("only %d texts", len(out))
	}
	return out
}

// Statements are ordinary ones, to place and to start the fuzzer with.
func Statements() []string {
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
