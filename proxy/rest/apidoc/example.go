package apidoc

import (
	"html/template"
	"net/url"
	"strings"
)

// curl is a command that calls the operation with the examples of its parameters. Ids and credentials are the variables
// that tenantgate dev prints: $PROJECT, $SERVER, $TOKEN, $KEY.
func (d Document) curl(path, verb member) (string, error) {
	target := path.name
	var query []string
	for _, p := range append(path.node.get("parameters").elements(), verb.node.get("parameters").elements()...) {
		p = d.resolve(p)
		name, example := p.get("name").text(), p.get("example").text()
		switch in := p.get("in").text(); {
		case in == "path":
			value := url.PathEscape(example)
			if of, isID := strings.CutSuffix(name, "Id"); isID {
				value = "$" + strings.ToUpper(of)
			}
			target = strings.ReplaceAll(target, "{"+name+"}", value)
		case in == "query" && p.get("required").isTrue():
			query = append(query, name+"="+url.PathEscape(example))
		}
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	return command(strings.ToUpper(verb.name), target, d.credentials(verb.node), verb.node)
}

// credentials are the headers of an operation's security schemes, read from variables.
func (d Document) credentials(op node) []string {
	var headers []string
	for _, alternative := range op.get("security").elements() {
		for _, used := range alternative.members() {
			scheme := d.root.get("components", "securitySchemes", used.name)
			if scheme.get("type").text() == "http" {
				headers = append(headers, `"Authorization: Bearer $TOKEN"`)
				continue
			}
			name := scheme.get("name").text()
			variable := strings.NewReplacer("X-", "", "API-", "", "-ID", "", "-", "_").Replace(name)
			headers = append(headers, `"`+name+`: $`+strings.ToUpper(variable)+`"`)
		}
	}
	return headers
}

func command(method, target string, headers []string, op node) (string, error) {
	start := "curl "
	if method != "GET" && method != "POST" {
		start += "-X " + method + " "
	}
	lines := []string{start + `"$BASE_URL` + target + `"`}
	for _, header := range headers {
		lines = append(lines, "-H "+header)
	}
	if body := firstExample(op.get("requestBody", "content", "application/json")); !body.missing() {
		text, err := appendJSON(nil, body, -1)
		if err != nil {
			return "", err
		}
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+strings.ReplaceAll(string(text), "'", `'\''`)+"'")
	}
	return strings.Join(lines, " \\\n  "), nil
}

// firstExample is a media type's example, or the first of its examples.
func firstExample(content node) node {
	if example := content.get("example"); !example.missing() {
		return example
	}
	for _, example := range content.get("examples").members() {
		return example.node.get("value")
	}
	return node{}
}

// bodies are the examples of an operation's body after the first one.
func bodies(op node) ([]body, error) {
	var result []body
	examples := op.get("requestBody", "content", "application/json", "examples").members()
	for i, example := range examples {
		text, err := appendJSON(nil, example.node.get("value"), 0)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			result = append(result, body{example.node.get("summary").text(), highlight(string(text))})
		}
	}
	return result, nil
}

// answer is a response's example in JSON, marked up; "" where there is none.
func answer(response node) (template.HTML, error) {
	example := firstExample(response.get("content", "application/json"))
	if example.missing() {
		return "", nil
	}
	text, err := appendJSON(nil, example, 0)
	return highlight(string(text)), err
}
