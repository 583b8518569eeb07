package apidoc

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n\nc":                "<p>a b</p><p>c</p>",
		"### H\ntext":              "<h3>H</h3><p>text</p>",
		"### H\n- a\n  b\n- c":     "<h3>H</h3><ul><li>a b</li><li>c</li></ul>",
		"lead\n- a":                "<p>lead</p><ul><li>a</li></ul>",
		"`a < b` and **bold `c`**": "<p><code>a &lt; b</code> and <strong>bold <code>c</code></strong></p>",
		"<script>":                 "<p>&lt;script&gt;</p>",
		"`<b>` **<i>**":            "<p><code>&lt;b&gt;</code> <strong>&lt;i&gt;</strong></p>",
		"open ` and ** stay":       "<p>open ` and ** stay</p>",
		"- one":                    "<ul><li>one</li></ul>",
		"":                         "",
	} {
		if got := string(markdown(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestHighlight(t *testing.T) {
	got := string(highlight("{\n  \"<a>\": [\"b\\\"\", -1.5e3, true, null]\n}"))
	want := "{\n  " + `<span class="k">&#34;&lt;a&gt;&#34;:</span> [<span class="s">&#34;b\&#34;&#34;</span>, <span class="l">-1.5e3</span>, <span class="l">true</span>, <span class="l">null</span>]` + "\n}"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestJSONKeepsOrder(t *testing.T) {
	document, err := Parse([]byte("z: 1\na: [true, null, 1.5, 'x', -3]\nm: {b: {}, a: []}\nservers: [{url: /}]\n'3': q\n"), "/base")
	if err != nil {
		t.Fatal(err)
	}
	got, err := document.JSON()
	if want := `{"z":1,"a":[true,null,1.5,"x",-3],"m":{"b":{},"a":[]},"servers":[{"url":"/base"}],"3":"q"}`; err != nil || string(got) != want {
		t.Errorf("%s %v\nwant %s", got, err, want)
	}
	pretty, err := appendJSON(nil, document.root.get("m"), 0)
	if want := "{\n  \"b\": {},\n  \"a\": []\n}"; err != nil || string(pretty) != want {
		t.Errorf("%s %v", pretty, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"a: 1\na: 2", "a: [", "\ta: 1"} {
		if _, err := Parse([]byte(text), ""); err == nil {
			t.Errorf("parsed %q", text)
		}
	}
	document, err := Parse([]byte("when: .inf"), "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := document.JSON(); err == nil {
		t.Errorf("JSON has no such number: %s", text)
	}
}

const small = `
info: {title: <T>, summary: S, version: '1', description: D}
servers: [{url: /}]
tags: [{name: A b, description: about}, {name: None}]
paths:
  /a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}, example: i 1}]
    put:
      operationId: put
      tags: [A b]
      summary: Put it
      security: [{token: []}, {key: []}]
      parameters: [{name: q, in: query, required: true, schema: {type: [integer, 'null']}, example: x y}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/O'}, example: {o: "it's"}}}}
      responses: {'200': {description: fine, content: {application/json: {schema: {$ref: '#/components/schemas/O'}, example: {o: [1, 2]}}}}}
    options: {tags: [A b], summary: unseen}
components:
  securitySchemes: {token: {type: http, description: a token}, key: {type: apiKey, name: X-My-Key, description: a key}}
  schemas: {O: {allOf: [{type: object, required: [o], properties: {o: {type: array, items: {type: string}}}}], type: object}}
`

func TestView(t *testing.T) {
	document, err := Parse([]byte(small), "/base")
	if err != nil {
		t.Fatal(err)
	}
	view, err := document.view()
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Tags) != 1 || len(view.Tags[0].Operations) != 1 || view.SpecURL != "/base/openapi.json" {
		t.Fatalf("%+v", view)
	}
	op := view.Tags[0].Operations[0]
	want := "curl -X PUT \"$BASE_URL/a/i%201?q=x%20y\" \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  -H \"X-My-Key: $MY_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{\"o\":\"it'\\''s\"}'"
	if op.Curl != want {
		t.Errorf("%s\nwant %s", op.Curl, want)
	}
	if len(op.Body) != 1 || op.Body[0].Type != "array of string" || !op.Body[0].Required || op.Parameters[1].Type != "integer or null" {
		t.Errorf("%+v %+v", op.Body, op.Parameters)
	}
	page, _, err := document.Page()
	if err != nil || strings.Contains(string(page), "<T>") || strings.Contains(string(page), "unseen") {
		t.Errorf("%v", err)
	}
}
