package upstream

import (
	"context"
	"encoding/json"
	"testing"
)

// Ensure each type becomes the JSON that the interface documents.
func TestValues(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TYPE mood AS ENUM ('sad', 'o"k');
		CREATE TYPE pair AS (a int, b text);
		CREATE DOMAIN positive AS int CHECK (VALUE > 0);
		CREATE DOMAIN deeper AS positive;
		CREATE DOMAIN tags AS text[];
		CREATE DOMAIN blob AS bytea;`)
	for _, c := range []struct{ expr, want string }{
		{`true`, `true`}, {`false`, `false`}, {`NULL::bool`, `null`},
		{`32767::int2`, `32767`}, {`-5::int4`, `-5`}, {`9223372036854775807::int8`, `9223372036854775807`},
		{`0.1::float8`, `0.1`}, {`1e300::float8`, `1e+300`}, {`1e-7::float8`, `1e-07`}, {`-0.0::float8`, `-0`}, {`0.3::float4`, `0.3`},
		{`0.1::float8 + 0.2::float8`, `0.30000000000000004`},
		{`'NaN'::float8`, `"NaN"`}, {`'Infinity'::float4`, `"Infinity"`}, {`'-Infinity'::float8`, `"-Infinity"`},
		{`12345678901234567890.1234567890::numeric`, `12345678901234567890.1234567890`}, {`0.10::numeric`, `0.10`},
		{`'NaN'::numeric`, `"NaN"`}, {`'Infinity'::numeric`, `"Infinity"`}, {`'-Infinity'::numeric`, `"-Infinity"`},
		{`'a"\b'::text`, `"a\"\\b"`}, {`''::text`, `""`}, {`E'é\n\t\r\b\f\x01 €𝄞'::text`, `"é\n\t\r\b\f\u0001 €𝄞"`},
		{`'ab'::char(4)`, `"ab  "`}, {`'x'::"char"`, `"x"`}, {`''::"char"`, `""`}, {`'n'::name`, `"n"`}, {`'v'::varchar`, `"v"`},
		{`'{"a": [1,  2]}'::json`, `{"a": [1,  2]}`}, {`'{"b":1,"a":2}'::jsonb`, `{"a": 2, "b": 1}`}, {`'null'::jsonb`, `null`}, {`'"s"'::jsonb`, `"s"`},
		{`'\x'::bytea`, `""`}, {`'\x00ff10'::bytea`, `"AP8Q"`}, {`'\x61'::bytea`, `"YQ=="`}, {`'\x61'::blob`, `"YQ=="`},
		{`'2026-01-31'::date`, `"2026-01-31"`}, {`'infinity'::date`, `"infinity"`}, {`'0044-03-15 BC'::date`, `"0044-03-15 BC"`}, {`'10000-01-01'::date`, `"10000-01-01"`},
		{`'2026-01-31 09:15:00+01'::timestamptz`, `"2026-01-31T08:15:00Z"`}, {`'2026-01-31 09:15:00.120+00'::timestamptz`, `"2026-01-31T09:15:00.12Z"`},
		{`'2026-01-31 09:15:00.000001'::timestamp`, `"2026-01-31T09:15:00.000001"`}, {`'-infinity'::timestamptz`, `"-infinity"`}, {`'infinity'::timestamp`, `"infinity"`},
		{`'0044-03-15 01:02:03 BC'::timestamp`, `"0044-03-15 01:02:03 BC"`}, {`'0044-03-15 01:02:03+00 BC'::timestamptz`, `"0044-03-15 01:02:03+00 BC"`},
		{`'10000-01-01 00:00:00+00'::timestamptz`, `"10000-01-01T00:00:00Z"`},
		{`'09:15:00.5'::time`, `"09:15:00.5"`}, {`'09:15:00+02'::timetz`, `"09:15:00+02"`}, {`'1 year 2 days 03:04:05'::interval`, `"1 year 2 days 03:04:05"`},
		{`'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid`, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
		{`'10.0.0.1'::inet`, `"10.0.0.1"`}, {`'10.0.0.0/8'::cidr`, `"10.0.0.0/8"`}, {`'08:00:2b:01:02:03'::macaddr`, `"08:00:2b:01:02:03"`},
		{`42::oid`, `"42"`}, {`'7'::xid`, `"7"`}, {`'7'::xid8`, `"7"`}, {`'1 2'::int2vector`, `"1 2"`}, {`'3 4'::oidvector`, `"3 4"`},
		{`'[1,5)'::int4range`, `"[1,5)"`}, {`'{[1,2),[3,4)}'::int4multirange`, `"{[1,2),[3,4)}"`},
		{`'(1,2)'::point`, `"(1,2)"`}, {`B'101'`, `"101"`}, {`'12.34'::money`, `"$12.34"`}, {`'<a/>'::xml`, `"<a/>"`},
		{`to_tsvector('simple', 'a b')`, `"'a':1 'b':2"`}, {`'$.a'::jsonpath`, `"$.\"a\""`},
		{`'sad'::mood`, `"sad"`}, {`'o"k'::mood`, `"o\"k"`}, {`ROW(1, 'x y')::pair`, `"(1,\"x y\")"`}, {`ROW(1, 2)`, `"(1,2)"`},
		{`7::positive`, `7`}, {`8::deeper`, `8`}, {`'{a,b}'::tags`, `["a","b"]`},
	} {
		checkValue(t, b, Encoding{}, c.expr, c.want)
	}
}

// Ensure the types that must be looked up are known where nothing may be named, too.
func TestTypesWithoutNames(t *testing.T) {
	b := setup(t, Config{NoPrepared: true}, "CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN blob AS bytea")
	for range 2 {
		checkValue(t, b, Encoding{}, `ARRAY['sad']::mood[]`, `["sad"]`)
		checkValue(t, b, Encoding{}, `'\x61'::blob`, `"YQ=="`)
		if got := b.must(sel("SELECT $1::blob, $2::mood[]", str("YQ=="), arr(`["sad"]`))); got != `"columns":["blob","mood"],"rows":[["YQ==",["sad"]]]` {
			t.Errorf("got %s", got)
		}
	}
}

// Ensure arrays of each kind keep their dimensions, nulls and elements.
func TestArrays(t *testing.T) {
	b := setup(t, Config{}, `
		CREATE TYPE mood AS ENUM ('sad', 'o"k', 'a,b');
		CREATE TYPE pair AS (a int, b text);
		CREATE DOMAIN positive AS int;
		CREATE DOMAIN tags AS text[];
		CREATE DOMAIN instant AS timestamptz;`)
	for _, c := range []struct{ expr, want string }{
		{`'{}'::int[]`, `[]`}, {`'{1,NULL,3}'::int[]`, `[1,null,3]`}, {`'{{1,2},{3,4}}'::int[]`, `[[1,2],[3,4]]`},
		{`'{{{1},{2}}}'::int8[]`, `[[[1],[2]]]`}, {`'[2:3]={7,8}'::int[]`, `[7,8]`}, {`'[0:0][5:6]={{7,8}}'::int[]`, `[[7,8]]`},
		{`ARRAY['a,b','c"d','e\f','','NULL',NULL,'{x}',' s ']`, `["a,b","c\"d","e\\f","","NULL",null,"{x}"," s "]`},
		{`ARRAY[E'1\n2','é']`, `["1\n2","é"]`},
		{`ARRAY[true,false,NULL]`, `[true,false,null]`}, {`ARRAY[1.50,'NaN'::numeric]`, `[1.50,"NaN"]`},
		{`ARRAY[0.5,'Infinity']::float8[]`, `[0.5,"Infinity"]`}, {`ARRAY['{"a": "b\\c"}','null',NULL]::jsonb[]`, `[{"a": "b\\c"},null,null]`},
		{`ARRAY['[1, "x"]']::json[]`, `[[1, "x"]]`}, {`ARRAY['\x6162','\x']::bytea[]`, `["YWI=",""]`},
		{`ARRAY['2026-01-31 09:15:00+00','infinity']::timestamptz[]`, `["2026-01-31T09:15:00Z","infinity"]`},
		{`ARRAY['2026-01-31 09:15:00']::timestamp[]`, `["2026-01-31T09:15:00"]`}, {`ARRAY['2026-01-31']::date[]`, `["2026-01-31"]`},
		{`ARRAY['1 day']::interval[]`, `["1 day"]`}, {`ARRAY['10.0.0.1']::inet[]`, `["10.0.0.1"]`}, {`ARRAY[42]::oid[]`, `["42"]`},
		{`ARRAY['(1,2),(0,0)','(4,5),(3,3)']::box[]`, `["(1,2),(0,0)","(4,5),(3,3)"]`},
		{`ARRAY['1 2','3']::int2vector[]`, `["1 2","3"]`}, {`ARRAY['[1,2)']::int4range[]`, `["[1,2)"]`}, {`ARRAY['1 2']::oidvector[]`, `["1 2"]`},
		{`ARRAY['sad','o"k','a,b']::mood[]`, `["sad","o\"k","a,b"]`}, {`ARRAY[ROW(1,'x y')::pair, NULL]`, `["(1,\"x y\")",null]`},
		{`ARRAY[1,2]::positive[]`, `[1,2]`}, {`ARRAY['2026-01-31 09:15:00+00']::instant[]`, `["2026-01-31T09:15:00Z"]`},
		{`ARRAY['{a,b}','{c}']::tags[]`, `["{a,b}","{c}"]`}, {`ARRAY[ROW(1,2)]`, `["(1,2)"]`}, {`ARRAY['x','']::"char"[]`, `["x",""]`}, {`ARRAY['n']::name[]`, `["n"]`},
		{`NULL::int[]`, `null`},
	} {
		checkValue(t, b, Encoding{}, c.expr, c.want)
	}
}

// Ensure X-Int8 reaches int8 and numeric, in arrays too, and no other number.
func TestInt8AsString(t *testing.T) {
	b := setup(t, Config{}, "")
	for _, c := range []struct{ expr, want string }{
		{`9::int8`, `"9"`}, {`1.5::numeric`, `"1.5"`}, {`ARRAY[1,NULL]::int8[]`, `["1",null]`}, {`ARRAY[1.50]`, `["1.50"]`},
		{`9::int4`, `9`}, {`0.5::float8`, `0.5`}, {`'NaN'::numeric`, `"NaN"`},
	} {
		checkValue(t, b, Encoding{Int8AsString: true}, c.expr, c.want)
	}
}

func checkValue(t *testing.T, b *bench, enc Encoding, expr, want string) {
	t.Helper()
	res, err := b.pool.query(context.Background(), sel("SELECT "+expr+" AS v"), enc, nil)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return
	}
	if got := string(res.Body); got != `"columns":["v"],"rows":[[`+want+`]]` {
		t.Errorf("%s: got %s, want the value %s", expr, got, want)
	}
	if !json.Valid([]byte("{" + string(res.Body) + "}")) {
		t.Errorf("%s: not JSON: %s", expr, res.Body)
	}
}

// Ensure the members' order, names that need escapes, duplicate names and empty results.
func TestResultShape(t *testing.T) {
	b := setup(t, Config{}, "CREATE TABLE t (a int, b text)")
	for _, c := range []struct {
		st   *statement
		want string
	}{
		{sel(`SELECT 1 AS a, 2 AS a, 'x' AS "q""uote"`), `"columns":["a","a","q\"uote"],"rows":[[1,2,"x"]]`},
		{sel(`SELECT 1 WHERE false`), `"columns":["?column?"],"rows":[]`},
		{sel(`SELECT`), `"columns":[],"rows":[[]]`},
		{sel(`SELECT * FROM generate_series(1,3) AS g`), `"columns":["g"],"rows":[[1],[2],[3]]`},
		{write("delete", false, `DELETE FROM t`), `"columns":[],"rows":[]`},
		{write("insert", true, `INSERT INTO t VALUES (1,'x'),(2,'y') RETURNING a`), `"columns":["a"],"rows":[[1],[2]]`},
		{write("delete", true, `DELETE FROM t WHERE false RETURNING b`), `"columns":["b"],"rows":[]`},
	} {
		for range 2 { // described, then known
			if got := b.must(c.st); got != c.want {
				t.Errorf("%s: got %s, want %s", c.st.text(), got, c.want)
			}
		}
	}
}

// Ensure dst is appended to, and rows and changes are counted.
func TestResultCounts(t *testing.T) {
	b := setup(t, Config{}, "CREATE TABLE t (a int)")
	for _, c := range []struct {
		st       *statement
		rows     int
		affected int64
	}{
		{write("insert", true, `INSERT INTO t SELECT generate_series(1,5) RETURNING a`), 5, 5},
		{write("update", false, `UPDATE t SET a = 0 WHERE a > 3`), 0, 2},
		{write("delete", true, `DELETE FROM t WHERE a = 0 RETURNING a`), 2, 2},
		{sel(`SELECT a FROM t`), 3, 0},
		{write("select", true, `WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d`), 3, 0},
	} {
		res, err := b.pool.query(context.Background(), c.st, Encoding{}, []byte("{"))
		if err != nil {
			t.Fatalf("%s: %v", c.st.text(), err)
		}
		if res.Rows != c.rows || res.RowsAffected != c.affected || res.Body[0] != '{' {
			t.Errorf("%s: got %d rows, %d affected, %s", c.st.text(), res.Rows, res.RowsAffected, res.Body)
		}
	}
}
