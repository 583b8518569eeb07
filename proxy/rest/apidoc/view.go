package apidoc

import (
	"fmt"
	"html/template"
	"strings"
)

// view is what the page shows.
type view struct {
	Title, Summary, Version, BasePath, SpecURL string
	Intro                                      template.HTML
	Style                                      template.CSS
	Tags                                       []tag
	Errors                                     []errorRow
}

type tag struct {
	Name, Anchor string
	Description  template.HTML
	Operations   []operation
}

type operation struct {
	ID, Method, Path, Summary string
	PathParts                 []pathPart
	Description, Access       template.HTML
	Parameters                []parameter
	Body                      []property
	Curl                      string
	Bodies                    []body // the examples of its body after the first, which Curl has
	AnswerStatus              string
	Answer                    template.HTML // the first example of a success
	AnswerFields              []property
	AnswerHeaders             []parameter
	Statuses                  []status
}

// body is an example of a request's body in JSON, marked up.
type body struct {
	Summary string
	Text    template.HTML
}

type pathPart struct {
	Text string
	ID   bool
}

type parameter struct {
	Name, In, Type string
	Required       bool
	Description    template.HTML
}

type property struct {
	Name, Type  string
	Required    bool
	Description template.HTML
	Depth       int
}

// status is one status of an operation with the codes it can have.
type status struct {
	Status      string
	Description template.HTML
	Codes       []string
}

// errorRow is a code of the table of errors.
type errorRow struct {
	Status, Code string
	Meaning      template.HTML
}

func (d Document) view() (view, error) {
	base := strings.TrimSuffix(d.root.get("servers").elements()[0].get("url").text(), "/")
	v := view{
		Title: d.root.get("info", "title").text(), Summary: d.root.get("info", "summary").text(),
		Version: d.root.get("info", "version").text(), BasePath: base, SpecURL: base + "/openapi.json",
		Intro: markdown(d.root.get("info", "description").text()),
		Style: template.CSS(pageCSS), //nolint:gosec // a file of this package
	}
	for _, declared := range d.root.get("tags").elements() {
		tag, err := d.tag(declared)
		if err != nil {
			return view{}, err
		}
		if len(tag.Operations) > 0 {
			v.Tags = append(v.Tags, tag)
		}
	}
	v.Errors = d.errors()
	return v, nil
}

// tag collects a tag's operations. OPTIONS is told in the introduction alone.
func (d Document) tag(declared node) (tag, error) {
	name := declared.get("name").text()
	result := tag{Name: name, Anchor: anchor(name), Description: markdown(declared.get("description").text())}
	for _, path := range d.root.get("paths").members() {
		for _, verb := range path.node.members() {
			tags := verb.node.get("tags").elements()
			if verb.name == "options" || len(tags) == 0 || tags[0].text() != name {
				continue
			}
			operation, err := d.operation(path, verb)
			if err != nil {
				return tag{}, fmt.Errorf("describing %s %s: %w", verb.name, path.name, err)
			}
			result.Operations = append(result.Operations, operation)
		}
	}
	return result, nil
}

func anchor(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

func (d Document) operation(path, verb member) (operation, error) {
	op := verb.node
	result := operation{
		ID: op.get("operationId").text(), Method: strings.ToUpper(verb.name), Path: path.name,
		PathParts: pathParts(path.name), Summary: op.get("summary").text(),
		Description: markdown(op.get("description").text()), Access: d.access(op),
	}
	result.Parameters = d.parameters(path.node, op)
	result.Body = d.properties(op.get("requestBody", "content", "application/json", "schema"), 0)
	responses := op.get("responses").members()
	success := d.resolve(responses[0].node) // what is no error comes first
	result.AnswerStatus = responses[0].name
	result.AnswerFields = d.properties(success.get("content", "application/json", "schema"), 0)
	for _, header := range success.get("headers").members() {
		result.AnswerHeaders = append(result.AnswerHeaders, d.header(header))
	}
	for _, response := range responses[1:] {
		result.Statuses = append(result.Statuses, d.status(response))
	}
	var err error
	if result.Curl, err = d.curl(path, verb); err != nil {
		return operation{}, err
	}
	if result.Bodies, err = bodies(op); err != nil {
		return operation{}, err
	}
	result.Answer, err = answer(success)
	return result, err
}

func pathParts(path string) []pathPart {
	var parts []pathPart
	for piece := range strings.SplitSeq(path, "{") {
		id, rest, isID := strings.Cut(piece, "}")
		if isID {
			parts = append(parts, pathPart{"{" + id + "}", true})
			piece = rest
		}
		parts = append(parts, pathPart{piece, false})
	}
	return parts
}

// parameters lists those of the path and of the operation: path, query, then headers.
func (d Document) parameters(path, op node) []parameter {
	var result []parameter
	for _, in := range []string{"path", "query", "header"} {
		for _, p := range append(path.get("parameters").elements(), op.get("parameters").elements()...) {
			if p = d.resolve(p); p.get("in").text() == in {
				result = append(result, d.parameter(p))
			}
		}
	}
	return result
}

func (d Document) parameter(p node) parameter {
	return parameter{
		Name: p.get("name").text(), In: p.get("in").text(), Type: d.typeOf(p.get("schema")),
		Required: p.get("required").isTrue(), Description: markdown(p.get("description").text()),
	}
}

func (d Document) header(header member) parameter {
	h := d.resolve(header.node)
	return parameter{Name: header.name, Type: d.typeOf(h.get("schema")), Required: h.get("required").isTrue(), Description: markdown(h.get("description").text())}
}

func (d Document) status(response member) status {
	r := d.resolve(response.node)
	result := status{Status: response.name, Description: markdown(r.get("description").text())}
	for _, example := range r.get("content", "application/json", "examples").members() {
		result.Codes = append(result.Codes, example.name)
	}
	return result
}

// errors lists each code once, by status as the document orders its responses.
func (d Document) errors() []errorRow {
	var rows []errorRow
	seen := map[string]bool{}
	for _, response := range d.root.get("components", "responses").members() {
		for _, example := range response.node.get("content", "application/json", "examples").members() {
			if seen[example.name] {
				continue
			}
			seen[example.name] = true
			rows = append(rows, errorRow{d.statusOf(response.name), example.name, markdown(example.node.get("summary").text())})
		}
	}
	return rows
}

// statusOf finds the status under which operations use a response.
func (d Document) statusOf(name string) string {
	for _, path := range d.root.get("paths").members() {
		for _, verb := range path.node.members() {
			for _, response := range verb.node.get("responses").members() {
				if response.node.get("$ref").text() == "#/components/responses/"+name {
					return response.name
				}
			}
		}
	}
	return ""
}
