package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// one gives the single value of a statement's result, as the body has it.
func (in *instance) one(t *testing.T, r reply) string {
	t.Helper()
	var body struct{ Rows [][]json.RawMessage }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || len(body.Rows) != 1 || len(body.Rows[0]) != 1 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return string(body.Rows[0][0])
}

// TestValues goes through the encodings of the interface, to the byte.
func TestValues(t *testing.T) {
	in := sharedInstance(t)
	for _, c := range [][2]string{
		{"true", "true"}, {"NULL::bool", "null"}, {"1::int2", "1"}, {"-2147483648", "-2147483648"},
		{"9223372036854775807", "9223372036854775807"}, {"1.10::numeric", "1.10"}, {"12345678901234567890.123456789::numeric", "12345678901234567890.123456789"},
		{"'NaN'::numeric", `"NaN"`}, {"'Infinity'::float8", `"Infinity"`}, {"'-Infinity'::float4", `"-Infinity"`}, {"'NaN'::float8", `"NaN"`},
		{"0.1::float8", "0.1"}, {"1e300::float8", "1e+300"}, {"0.1::float4", "0.1"},
		{`'{"a": [1, null, "x"]}'::jsonb`, `{"a": [1, null, "x"]}`}, {`'{"b":1,  "a":2}'::json`, `{"b":1,  "a":2}`}, {"'null'::jsonb", "null"},
		{"'2026-01-31 09:15:00+02'::timestamptz", `"2026-01-31T07:15:00Z"`}, {"'2026-01-31 09:15:00.12+00'::timestamptz", `"2026-01-31T09:15:00.12Z"`},
		{"'2026-01-31 09:15:00.000001'::timestamp", `"2026-01-31T09:15:00.000001"`}, {"'2026-01-31'::date", `"2026-01-31"`}, {"'infinity'::timestamptz", `"infinity"`},
		{`'\x00ff10'::bytea`, `"AP8Q"`}, {"''::bytea", `""`},
		{"ARRAY[1,NULL,3]", "[1,null,3]"}, {"ARRAY[[1,2],[3,4]]", "[[1,2],[3,4]]"}, {"'{}'::text[]", "[]"}, {`ARRAY['a,b','"q"','NULL',NULL,'']`, `["a,b","\"q\"","NULL",null,""]`},
		{"'[0:1]={7,8}'::int[]", "[7,8]"}, {"ARRAY['2026-01-31'::date]", `["2026-01-31"]`}, {`ARRAY['{"a":1}'::jsonb]`, `[{"a": 1}]`}, {"ARRAY[true,false]", "[true,false]"},
		{"'3 days 04:05:06'::interval", `"3 days 04:05:06"`}, {"'10.0.0.1'::inet", `"10.0.0.1"`}, {"'[1,5)'::int4range", `"[1,5)"`},
		{"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`}, {"'(1,2)'::point", `"(1,2)"`}, {"'09:15:00'::time", `"09:15:00"`},
		{`E'tab\tquote"back\\slash\u0001\u2028é😀'`, "\"tab\\tquote\\\"back\\\\slash\\u0001\u2028é😀\""}, {"''", `""`},
	} {
		if got := in.one(t, in.query(t, "SELECT "+c[0]+" AS v")); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}

// TestInt8AsString asks for int8 and numeric as strings in both ways.
func TestInt8AsString(t *testing.T) {
	in := sharedInstance(t)
	const body = `{"query":"SELECT 9223372036854775807, 1.10::numeric, ARRAY[1::int8], 7"}`
	const want = `"rows":[["9223372036854775807","1.10",["1"],7]]`
	for _, header := range []string{"Accept: application/json; int8=string", "X-Int8: string", "Accept: text/html, application/json;int8=string;q=0.5"} {
		if r := in.do(t, http.MethodPost, in.queryPath(in.ServerID), body, in.bearer(), header); !strings.Contains(r.body, want) {
			t.Errorf("%s: %s", header, r.body)
		}
	}
}

// TestArgs sends every kind of argument.
func TestArgs(t *testing.T) {
	in := sharedInstance(t)
	for _, c := range []struct{ sql, args, want string }{
		{"SELECT ?::text", `["é'\"\\ ; ? $1"]`, `"é'\"\\ ; ? $1"`}, {"SELECT ?::int", `[5]`, "5"}, {"SELECT ?::int", `["5"]`, "5"},
		{"SELECT ?::bool", `[true]`, "true"}, {"SELECT ?::text", `[null]`, "null"}, {"SELECT ?::text", `[12.50]`, `"12.50"`},
		{"SELECT ?::numeric", `[1234567890123456789012345678901234567890.10]`, "1234567890123456789012345678901234567890.10"},
		{"SELECT ?::int8", `[9223372036854775807]`, "9223372036854775807"}, {"SELECT ?::float8", `[1e3]`, "1000"},
		{"SELECT ?::int[]", `[[1,null,3]]`, "[1,null,3]"}, {"SELECT ?::text[]", `[["a,b","\"","NULL",null]]`, `["a,b","\"","NULL",null]`},
		{"SELECT ?::int[]", `[[[1,2],[3,4]]]`, "[[1,2],[3,4]]"}, {"SELECT ?::jsonb", `[{"a":[1,{"b":null}]}]`, `{"a": [1, {"b": null}]}`}, {"SELECT ?::jsonb", `[[1,2]]`, "[1, 2]"},
		{"SELECT count(*) FROM messages WHERE server_id = ? AND id = ANY(?)", `[["m-1","m-2","none"]]`, "2"},
		{"SELECT $2::int - $1::int", `[1,3]`, "2"}, {"SELECT ?::timestamptz", `["2026-01-31T09:15:00Z"]`, `"2026-01-31T09:15:00Z"`},
	} {
		r := in.do(t, http.MethodPost, in.queryPath(in.ServerID), `{"query":"`+c.sql+`","args":`+c.args+`}`, in.bearer())
		if r.status != 200 {
			t.Errorf("%s %s: %d %s", c.sql, c.args, r.status, r.body)
		} else if got := in.one(t, r); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.sql, c.args, got, c.want)
		}
	}
}
