package apidoc

import (
	"html/template"
	"slices"
	"strings"
)

// properties lists the members of an object's schema, those of objects in it indented.
func (d Document) properties(schema node, depth int) []property {
	var result []property
	for _, part := range d.parts(schema) {
		var required []string
		for _, name := range part.get("required").elements() {
			required = append(required, name.text())
		}
		for _, p := range part.get("properties").members() {
			resolved := d.resolve(p.node)
			result = append(result, property{
				Name: p.name, Type: d.typeOf(p.node), Required: slices.Contains(required, p.name),
				Description: markdown(resolved.get("description").text()), Depth: depth,
			})
			result = append(result, d.properties(p.node, depth+1)...)
			result = append(result, d.properties(resolved.get("items"), depth+1)...)
		}
	}
	return result
}

// typeOf names a schema's type: "string or null", "array of string"; "" for any.
func (d Document) typeOf(schema node) string {
	if schema.missing() {
		return ""
	}
	schema = d.resolve(schema)
	if values := schema.get("enum").elements(); len(values) > 0 {
		return strings.Join(texts(values), " or ")
	}
	names := texts(schema.get("type").elements())
	if len(names) == 0 {
		names = []string{schema.get("type").text()}
	}
	if items := d.typeOf(schema.get("items")); items != "" {
		names[0] += " of " + items
	}
	return strings.Join(names, " or ")
}

func texts(nodes []node) []string {
	result := make([]string, len(nodes))
	for i, n := range nodes {
		result[i] = n.text()
	}
	return result
}

// access says what credentials an operation takes.
func (d Document) access(op node) template.HTML {
	var names []string
	for _, alternative := range op.get("security").elements() {
		for _, scheme := range alternative.members() {
			names = append(names, d.root.get("components", "securitySchemes", scheme.name, "description").text())
		}
	}
	if len(names) == 0 {
		return markdown("None.")
	}
	return markdown(strings.Join(names, " "))
}
