package upstream

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure each kind of argument reaches a parameter of each kind as documented.
func TestArguments(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TYPE mood AS ENUM ('sad', 'a,b');
		CREATE DOMAIN numbers AS int[];
		CREATE DOMAIN doc AS jsonb;
		CREATE DOMAIN blob AS bytea;`)
	for _, c := range []struct {
		expr string
		arg  policy.Arg
		want string
	}{
		{`$1::text`, str(`é"\ '`), `"é\"\\ '"`}, {`$1::text`, num("1.50"), `"1.50"`}, {`$1::text`, boolean(true), `"true"`}, {`$1::text`, policy.Arg{}, `null`},
		{`$1::int4`, num("42"), `42`}, {`$1::int4`, str("42"), `42`}, {`$1::int8`, num("9007199254740993"), `9007199254740993`},
		{`$1::numeric`, num("0.1000000000000000055511151231257827"), `0.1000000000000000055511151231257827`}, {`$1::numeric`, num("1e3"), `1000`},
		{`$1::float8`, num("1e-7"), `1e-07`}, {`$1::bool`, boolean(false), `false`}, {`$1::bool`, str("yes"), `true`},
		{`$1::uuid`, str("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
		{`$1::timestamptz`, str("2026-01-31T09:15:00.000Z"), `"2026-01-31T09:15:00Z"`}, {`$1::date`, str("2026-01-31"), `"2026-01-31"`},
		{`$1::bytea`, str("AP8Q"), `"AP8Q"`}, {`$1::bytea`, str(`\x00ff10`), `"AP8Q"`}, {`$1::bytea`, str(""), `""`}, {`$1::blob`, str("YQ=="), `"YQ=="`},
		{`$1::jsonb`, obj(`{"a":[1,"x"]}`), `{"a": [1, "x"]}`}, {`$1::jsonb`, arr(`[1,null]`), `[1, null]`}, {`$1::json`, arr(`[ 1]`), `[ 1]`},
		{`$1::jsonb`, str(`{"a":1}`), `{"a": 1}`}, {`$1::jsonb`, num("1.50"), `1.50`}, {`$1::jsonb`, boolean(true), `true`}, {`$1::doc`, obj(`{}`), `{}`},
		{`$1::int[]`, arr(`[1,null,3]`), `[1,null,3]`}, {`$1::int[]`, arr(`[[1,2],[3,4]]`), `[[1,2],[3,4]]`}, {`$1::int[]`, arr(`[]`), `[]`},
		{`$1::int[]`, str(`{1,2}`), `[1,2]`}, {`$1::int8[]`, arr(`[9007199254740993,"7"]`), `[9007199254740993,7]`}, {`$1::numbers`, arr(`[5]`), `[5]`},
		{`$1::text[]`, arr(`["a,b","c\"d","e\\f","","NULL",null,"{x}"," s ","é\n",1,true]`), `["a,b","c\"d","e\\f","","NULL",null,"{x}"," s ","é\n","1","true"]`},
		{`$1::bool[]`, arr(`[true,false,null]`), `[true,false,null]`}, {`$1::bytea[]`, arr(`["YQ==","\\x62",null]`), `["YQ==","Yg==",null]`},
		{`$1::jsonb[]`, arr(`[{"a":"\\\"b"},[1,[2]],"s",1,true,null]`), `[{"a": "\\\"b"},[1, [2]],"s",1,true,null]`},
		{`$1::mood[]`, arr(`["a,b","sad"]`), `["a,b","sad"]`}, {`$1::box[]`, arr(`["(1,1),(0,0)","(3,3),(2,2)"]`), `["(1,1),(0,0)","(3,3),(2,2)"]`},
		{`$1::timestamptz[]`, arr(`["2026-01-31T09:15:00Z"]`), `["2026-01-31T09:15:00Z"]`},
	} {
		for range 2 {
			if got, err := b.query(sel("SELECT "+c.expr+" AS v", c.arg)); err != nil || got != `"columns":["v"],"rows":[[`+c.want+`]]` {
				t.Errorf("%s with %q: got %s, %v; want %s", c.expr, c.arg.Text, got, err, c.want)
			}
		}
	}
}

// Ensure that what does not fit is refused by naming the argument, whoever finds it, that
// no value is told, and that the connection goes on.
func TestInvalidArguments(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE DOMAIN numbers AS int[]; CREATE TYPE pair AS (a int, b int)")
	pid := b.must(sel("SELECT pg_backend_pid()"))
	for _, c := range []struct {
		expr string
		arg  policy.Arg
		says string
	}{
		{`$2::text`, str("secret\x00"), "U+0000"}, {`$2::text[]`, arr(`["secret\u0000"]`), "U+0000"},
		{`$2::int`, arr(`[1]`), "array"}, {`$2::text`, arr(`["secret"]`), "json"}, {`$2::text`, obj(`{"secret":1}`), "json"}, {`$2::pair`, arr(`[1,2]`), "array"},
		{`$2::int[]`, obj(`{}`), "json"}, {`$2::int[]`, arr(`[{}]`), "json"}, {`$2::int[]`, arr(`[[[[[[[1]]]]]]]`), "six"}, {`$2::int[]`, arr(`[1,`), "JSON"},
		{`$2::bytea`, str("secret!"), "base64"}, {`$2::bytea`, num("12"), "base64"}, {`$2::bytea`, boolean(true), "base64"}, {`$2::bytea[]`, arr(`["?"]`), "base64"}, {`$2::bytea[]`, arr(`[1]`), "base64"},
		{`$2::bytea`, str(`\xsecret`), "hexadecimal"},
		{`$2::int`, str("secret"), "invalid input syntax for type integer"}, {`$2::int`, num("1.5"), "integer"}, {`$2::int`, num("99999999999"), "out of range"}, {`$2::int2`, num("70000"), "out of range"},
		{`$2::uuid`, str("secret"), "uuid"}, {`$2::timestamptz`, str("secret"), "timestamp"}, {`$2::date`, str("2026-02-30"), "out of range"}, {`$2::bool`, num("2"), "boolean"},
		{`$2::jsonb`, str("secret"), "json"}, {`$2::int[]`, arr(`[1,"secret"]`), "integer"}, {`$2::int[]`, arr(`[[1],[2,3]]`), "malformed array"}, {`$2::int[]`, num("1"), "array"},
		{`$2::numbers`, arr(`["secret"]`), "integer"}, {`$2::jsonb`, obj(`{"a":"\u0000"}`), "Unicode"},
	} {
		for range 2 {
			e := b.fail(sel("SELECT $1::text, "+c.expr, str("fits"), c.arg), policy.InvalidArgument)
			if !strings.HasPrefix(e.Message, "args[1]: ") || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s with %q: %q does not name args[1] and %q", c.expr, c.arg.Text, e.Message, c.says)
			}
			for _, value := range []string{"secret", "99999999999", "70000", "1.5", "02-30"} {
				if strings.Contains(e.Error(), value) {
					t.Errorf("%s: %q tells the value", c.expr, e.Error())
				}
			}
		}
	}
	if again := b.must(sel("SELECT pg_backend_pid()")); again != pid {
		t.Errorf("connection %s was lost, now %s", pid, again)
	}
}

// Ensure the same error raised while the statement runs is not taken for an argument's,
// and one in the server's own id is nobody's argument.
func TestArgumentOrNot(t *testing.T) {
	b := setup(t, Config{}, "")
	e := b.fail(sel("SELECT ($1::text)::int", str("secret")), policy.QueryFailed)
	if e.SQLState != "22P02" || strings.Contains(e.Error(), "secret") {
		t.Errorf("got %q with %s", e.Error(), e.SQLState)
	}
	st := sel("SELECT $1::uuid", str("server"))
	st.params[0].Index = -1
	b.fail(st, policy.Internal)
	st = sel("SELECT $2::text, $1::int", str("x"), str("y"))
	st.params[0].Index, st.params[1].Index = 1, 0
	if e := b.fail(st, policy.InvalidArgument); !strings.HasPrefix(e.Message, "args[1]") {
		t.Errorf("parameter 1 holds args[1], but: %s", e.Message)
	}
	b.fail(sel("SELECT $1::int"), policy.Internal) // no parameter where there must be one
}
