// Package apidoc turns the OpenAPI document, written in YAML, into what is
// served: JSON for machines, and one HTML page for people that needs no script and
// loads nothing. It preserves the order of the document. It knows the
// parts of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html) that the document
// uses, and of Markdown paragraphs, lists, headings, bold and code.
package apidoc

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Document is a parsed OpenAPI document under a base path. It is immutable.
type Document struct{ root node }

// Parse reads the document and puts its one server at basePath, "" for the root.
func Parse(text []byte, basePath string) (Document, error) {
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &root, yaml.UseOrderedMap()); err != nil {
		return Document{}, fmt.Errorf("parsing the document: %w", err)
	}
	if basePath == "" {
		basePath = "/"
	}
	for i, item := range root {
		if item.Key == "servers" {
			root[i].Value = []any{yaml.MapSlice{{Key: "url", Value: basePath}}}
		}
	}
	return Document{root: node{root}}, nil
}

// node is a place in the document; a missing one is a node without a value.
type node struct{ value any }

// member is a named node of an object, in the order of the document.
type member struct {
	name string
	node node
}

func (n node) members() []member {
	object, _ := n.value.(yaml.MapSlice)
	members := make([]member, len(object))
	for i, item := range object {
		members[i] = member{fmt.Sprint(item.Key), node{item.Value}}
	}
	return members
}

func (n node) elements() []node {
	list, _ := n.value.([]any)
	elements := make([]node, len(list))
	for i, value := range list {
		elements[i] = node{value}
	}
	return elements
}

// get goes down by names.
func (n node) get(names ...string) node {
	for _, name := range names {
		var found node
		for _, member := range n.members() {
			if member.name == name {
				found = member.node
			}
		}
		n = found
	}
	return n
}

func (n node) missing() bool { return n.value == nil }

// text is a string's content, and what other values look like; "" when missing.
func (n node) text() string {
	if n.missing() {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(n.value))
}

func (n node) isTrue() bool { return n.value == true }

// resolve follows a $ref inside the document.
func (d Document) resolve(n node) node {
	for ref := n.get("$ref").text(); ref != ""; ref = n.get("$ref").text() {
		n = d.root.get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return n
}

// merged lists the members of allOf and of the node itself as one object would have them.
func (d Document) parts(n node) []node {
	n = d.resolve(n)
	parts := []node{n}
	for _, part := range n.get("allOf").elements() {
		parts = append(parts, d.parts(part)...)
	}
	return parts
}
