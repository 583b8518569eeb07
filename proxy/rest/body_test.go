package rest_test

import (
	"strings"
	"testing"
)

// faulty is a body that is refused, with the words that the message must have.
type faulty struct{ method, path, body, code, says string }

// statements are what the body of a statement can do wrong.
func statements() []faulty {
	return []faulty{
		{"POST", queryPath, ``, "invalid_json", "empty"},
		{"POST", queryPath, " \n", "invalid_json", "empty"},
		{"POST", queryPath, `{`, "invalid_json", "ends"},
		{"POST", queryPath, `{"query":"SELECT 1`, "invalid_json", "ends"},
		{"POST", queryPath, `{"query":"SELECT 1"}}`, "invalid_json", "goes on"},
		{"POST", queryPath, `{"query":"SELECT 1"}{}`, "invalid_json", "goes on"},
		{"POST", queryPath, `{"query":"SELECT 1"} x`, "invalid_json", "goes on"},
		{"POST", queryPath, `{"query":"SELECT 1",}`, "invalid_json", "at byte 19"},
		{"POST", queryPath, `{query:"SELECT 1"}`, "invalid_json", "at byte 1"},
		{"POST", queryPath, `{'query':"SELECT 1"}`, "invalid_json", "at byte 1"},
		{"POST", queryPath, `{"query":"SELECT 1"} // why`, "invalid_json", "goes on"},
		{"POST", queryPath, "\xef\xbb\xbf{}", "invalid_json", "at byte 0"},
		{"POST", queryPath, "{\"query\":\"a\xffb\"}", "invalid_json", "UTF-8"},
		{"POST", queryPath, `{"query":"\ud800"}`, "invalid_json", "at byte"},
		{"POST", queryPath, "{\"query\":\"a\nb\"}", "invalid_json", "at byte"},
		{"POST", queryPath, `{"query":"a","query":"b"}`, "invalid_json", `"query" is given twice`},
		{"POST", queryPath, `{"query":"a","\u0071uery":"b"}`, "invalid_json", `"query" is given twice`},
		{"POST", queryPath, `{"query":"SELECT ?","args":[{"a":1,"a":2}]}`, "invalid_json", `"a" is given twice`},
		{"POST", queryPath, `{"query":"a","args":[01]}`, "invalid_json", "at byte"},
		{"POST", queryPath, `{"query":"a","args":[NaN]}`, "invalid_json", "at byte"},
		{"POST", queryPath, `{"query":"a","args":[1,]}`, "invalid_json", "at byte"},
		{"POST", queryPath, strings.Repeat("[", 20000), "invalid_json", "at byte 10000"},
		{"POST", queryPath, `{"query":"SELECT ?","args":[` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `]}`, "invalid_request", "args[0] nests deeper than 100"},
		{"POST", queryPath, `{"query":1}`, "invalid_request", `"query" must be a string`},
		{"POST", queryPath, `{"query":null}`, "invalid_request", `"query" must be a string`},
		{"POST", queryPath, `{}`, "invalid_request", `"query" is required`},
		{"POST", queryPath, `{"Query":"SELECT 1"}`, "invalid_request", `"Query" must be spelled "query"`},
		{"POST", queryPath, `{"query":"SELECT 1","arg":[]}`, "invalid_request", `"arg" is unknown; the body may have "query" and "args"`},
		{"POST", queryPath, `{"query":"SELECT 1","args":{}}`, "invalid_request", `"args" must be an array`},
		{"POST", queryPath, `{"query":"SELECT 1","args":"x"}`, "invalid_request", `"args" must be an array`},
		{"POST", queryPath, `{"unknown":1,"query":"SELECT 1"`, "invalid_json", "ends"},
		{"POST", queryPath, `[]`, "invalid_request", "must be a JSON object"},
		{"POST", queryPath, `"SELECT 1"`, "invalid_request", "must be a JSON object"},
		{"POST", queryPath, `null`, "invalid_request", "must be a JSON object"},
		{"POST", queryPath, `nul`, "invalid_json", "ends"},
		{"POST", queryPath, `{"query":"SELECT 1","args":[` + strings.Repeat("1,", 65535) + `1]}`, "argument_count", "65535"},
		{"POST", queryPath, `{"query":"SELECT 1","args":[` + strings.Repeat("1,", 1000) + `1]}`, "argument_count", "1000"},
		{"POST", queryPath, `{"query":""}`, "empty_query", ""},
		{"POST", queryPath, `{"query":"SELECT '` + strings.Repeat("x", 10240) + `'"}`, "query_too_long", ""},
	}
}

// servers are what the body of a server can do wrong.
func servers() []faulty {
	long := strings.Repeat("a", 101)
	return []faulty{
		{"POST", serversPath, `{}`, "invalid_request", `"name" is required`},
		{"POST", serversPath, `{"name":null}`, "invalid_request", `"name" must be a string`},
		{"POST", serversPath, `{"name":1}`, "invalid_request", `"name" must be a string`},
		{"POST", serversPath, `{"name":""}`, "invalid_request", "1 to 100"},
		{"POST", serversPath, `{"name":" \t "}`, "invalid_request", "1 to 100"},
		{"POST", serversPath, `{"name":"` + long + `"}`, "invalid_request", "1 to 100"},
		{"POST", serversPath, `{"name":"a\u0000b"}`, "invalid_request", "control"},
		{"POST", serversPath, `{"name":"a\u0085b"}`, "invalid_request", "control"},
		{"POST", serversPath, `{"name":"n","description":1}`, "invalid_request", `"description" must be a string`},
		{"POST", serversPath, `{"name":"n","description":"` + strings.Repeat("é", 1001) + `"}`, "invalid_request", "at most 1000"},
		{"POST", serversPath, `{"name":"n","description":"a\u0000"}`, "invalid_request", "U+0000"},
		{"POST", serversPath, `{"name":"n","isActive":true}`, "invalid_request", `"isActive" is unknown`},
		{"POST", serversPath, `{"name":"n","isactive":true}`, "invalid_request", `"isactive" is unknown; the body may have "id", "name" and "description"`},
		{"POST", serversPath, `{"name":"n","id":1}`, "invalid_request", `"id" must be a string`},
		{"POST", serversPath, `{"name":"n","id":null}`, "invalid_request", `"id" must be a string`},
		{"POST", serversPath, `{"name":"n","ID":"x"}`, "invalid_request", `"ID" must be spelled "id"`},
		{"POST", serversPath, `{"name":"n","id":"x","id":"y"}`, "invalid_json", `"id" is given twice`},
		{"POST", serversPath, `{"id":"x"}`, "invalid_request", `"name" is required`},
		{"POST", serversPath + "?dry=1", `{"name":"n"}`, "invalid_request", `"dry" is unknown`},
		{"PUT", serverPath, `{"name":null}`, "invalid_request", `"name" must be a string`},
		{"PUT", serverPath, `{"name":"  "}`, "invalid_request", "1 to 100"},
		{"PUT", serverPath, `{"first":1,"second":2}`, "invalid_request", `"first" is unknown`},
		{"PUT", serverPath, `{"id":"x"}`, "invalid_request", `"id" is unknown; the body may have "name" and "description"`},
		{"PUT", serverPath, `{"` + long + `":1}`, "invalid_request", "…"},
		{"PUT", serverPath, ``, "invalid_json", "empty"},
	}
}

func TestBodies(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range append(statements(), servers()...) {
		status, body := w.call(test.method, test.path, test.body, as(token))
		code, message := errorOf(t, body)
		if code != test.code || !strings.Contains(message, test.says) {
			t.Errorf("%s %.80s: %d %s, want %s with %q", test.method, test.body, status, body, test.code, test.says)
		}
	}
	for _, call := range w.store.called() {
		if strings.HasPrefix(call, "CreateServer") || call == "UpdateServer" {
			t.Errorf("a refused body was written")
		}
	}
}

// The bounds themselves are allowed.
func TestBounds(t *testing.T) {
	w := newWorld(t, nil)
	for _, body := range []string{
		`{"name":"` + strings.Repeat("é", 100) + `","description":"` + strings.Repeat("é", 1000) + `"}`,
		`{"name":" ` + strings.Repeat("a", 100) + ` "}`,
	} {
		if status, answer := w.call("POST", serversPath, body, as(token)); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if status, answer := w.call("POST", queryPath, `{"query":"SELECT ?","args":[`+deep+`]}`, as(token)); status != 200 || !strings.Contains(answer, deep) {
		t.Errorf("%d %s", status, answer)
	}
	// Brackets in strings are no nesting, whatever quotes and backslashes are around.
	for _, text := range []string{`\"`, `\\`, `\\\"`} {
		tricky := `["` + text + strings.Repeat("[", 101) + `"]`
		if status, answer := w.call("POST", queryPath, `{"query":"SELECT ?","args":[`+tricky+`]}`, as(token)); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	w := newWorld(t, nil)
	for header, want := range map[string]int{
		"Content-Type: application/json":                       200,
		"Content-Type: Application/JSON; Charset=\"UTF-8\"":    200,
		"Content-Type: application/json; x=y":                  200,
		"Content-Type: application/json; charset=latin1":       415,
		"Content-Type: application/json5":                      415,
		"Content-Type: application/problem+json":               415,
		"Content-Type: text/json":                              415,
		"Content-Type: application/x-www-form-urlencoded":      415,
		"Content-Type: multipart/form-data; boundary=x":        415,
		"Content-Type: ;":                                      415,
		"Content-Type: ":                                       415,
		"Content-Encoding: gzip":                               415,
		"Content-Encoding: identity":                           200,
		"Accept: application/json":                             200,
		"Accept: */*":                                          200,
		"Accept: application/*;q=0.1":                          200,
		"Accept: text/html, */*;q=.2":                          200,
		"Accept: ":                                             200,
		"Accept: text/html":                                    406,
		"Accept: text/*, application/xml":                      406,
		"Accept: application/json;q=0":                         406,
		"Accept: application/json;q=0, */*":                    406,
		"Accept: */*;q=0":                                      406,
		"Accept: application/*;q=0, */*":                       406,
		"Accept: application/json;q=NaN":                       406,
		"Accept: application/json;q=2":                         406,
		"Accept: nonsense":                                     406,
		"Accept: text/html;a=\"b,application/json\"":           406,
		"Accept: application/json;int8=string;q=0, text/plain": 406,
		`Accept: text/html;a="\",application/json,"`:           406,
	} {
		status, body := w.call("POST", queryPath, `{"query":"SELECT 1"}`, as(token), header)
		if status != want {
			t.Errorf("%s: %d %s, want %d", header, status, body, want)
		}
	}
	// Several Accept fields are one list.
	for _, types := range [][2]string{{"text/html", "application/json"}, {"application/json", "text/html"}} {
		if status, _ := w.call("GET", serverPath, "", as(token), "Accept: "+types[0], "Accept: "+types[1]); status != 200 {
			t.Errorf("two Accept fields: %d", status)
		}
	}
}
