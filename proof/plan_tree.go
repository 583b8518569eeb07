package proof

import (
	"fmt"
	"strconv"
	"strings"
)

// treeNode is a node of Postgres' plan tree, as debug_print_plan writes it: {KIND :field value … }. A value is a *treeNode, a []any
// of a list, or a string; a field may have several.
type treeNode struct {
	kind   string
	fields map[string][]any // without what stands before the last dot
}

// readTree reads what debug_print_plan writes.
func readTree(text string) (*treeNode, error) {
	r := treeReader{tokens: treeTokens(text)}
	n, ok := r.value().(*treeNode)
	if !ok || r.failed || len(r.tokens) > 0 {
		return nil, fmt.Errorf("a plan tree that can't be read: %.100q", text)
	}
	return n, nil
}

// treeTokens splits at spaces and brackets; a backslash takes the meaning from what follows it.
func treeTokens(text string) (tokens []string) {
	start := -1
	end := func(i int) {
		if start >= 0 {
			tokens = append(tokens, text[start:i])
		}
		start = -1
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\t':
			end(i)
		case strings.IndexByte("{}()", c) >= 0:
			end(i)
			tokens = append(tokens, text[i:i+1])
		default:
			if start < 0 {
				start = i
			}
			if c == '\\' {
				i++
			}
		}
	}
	end(len(text))
	return tokens
}

type treeReader struct {
	tokens []string
	failed bool
}

func (r *treeReader) next() (t string) {
	if len(r.tokens) == 0 {
		r.failed = true
		return "}"
	}
	t, r.tokens = r.tokens[0], r.tokens[1:]
	return t
}

func (r *treeReader) value() any {
	switch t := r.next(); t {
	case "{":
		return r.node()
	case "(":
		list := []any{}
		for len(r.tokens) > 0 && r.tokens[0] != ")" {
			list = append(list, r.value())
		}
		r.next()
		return list
	default:
		return t
	}
}

func (r *treeReader) node() *treeNode {
	n := &treeNode{kind: r.next(), fields: map[string][]any{}}
	field := ""
	for len(r.tokens) > 0 && r.tokens[0] != "}" {
		if name, ok := strings.CutPrefix(r.tokens[0], ":"); ok {
			field = name[strings.LastIndex(name, ".")+1:]
			r.next()
			continue
		}
		n.fields[field] = append(n.fields[field], r.value())
	}
	r.next()
	return n
}

// text is the first value of a field that is no node and no list; "" for none.
func (n *treeNode) text(field string) string {
	if n == nil {
		return ""
	}
	if v := n.fields[field]; len(v) > 0 {
		s, _ := v[0].(string)
		return s
	}
	return ""
}

// list is the first value of a field, which is a list; nil for none.
func (n *treeNode) list(field string) []any {
	if n == nil {
		return nil
	}
	if v := n.fields[field]; len(v) > 0 {
		l, _ := v[0].([]any)
		return l
	}
	return nil
}

// child is the first value of a field, which is a node; nil for none.
func (n *treeNode) child(field string) *treeNode {
	if n == nil {
		return nil
	}
	if v := n.fields[field]; len(v) > 0 {
		c, _ := v[0].(*treeNode)
		return c
	}
	return nil
}

// number is text of a field that holds one; 0 for none.
func (n *treeNode) number(field string) int {
	number, _ := strconv.Atoi(n.text(field))
	return number
}

// nodes calls f with each node of a value.
func nodes(v any, f func(*treeNode)) {
	switch v := v.(type) {
	case *treeNode:
		if v == nil {
			return
		}
		f(v)
		for _, values := range v.fields {
			nodes(values, f)
		}
	case []any:
		for _, c := range v {
			nodes(c, f)
		}
	}
}

// bare takes relabelling casts off, which cost nothing; nil for what is no node.
func bare(v any) *treeNode {
	n, _ := v.(*treeNode)
	for n != nil && n.kind == "RELABELTYPE" {
		n = n.child("arg")
	}
	return n
}
