package policy

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What the YAML parser is given is bounded: it recurses, and its time grows with the
// square of the number of keys (a second at 20,000).
const (
	maxFileBytes  = 1 << 20
	maxFileTokens = 100_000
	maxFileDepth  = 32
)

// reader takes a policy's YAML apart. It knows a subset: mappings with plain keys,
// lists and scalars. What else YAML has can make a file mean something that a reviewer
// does not see, and is refused.
type reader struct{ source string }

// newReader checks the bytes before anything interprets them.
func newReader(src []byte) (*reader, error) {
	if len(src) > maxFileBytes {
		return nil, mistake("", Position{}, "the file is larger than 1 MB (1,048,576 bytes)")
	}
	r := &reader{source: string(bytes.TrimPrefix(src, []byte("\ufeff")))}
	if i := strings.IndexByte(r.source, 0); i >= 0 {
		return nil, r.mistake(r.position(i), "the file holds a NUL character")
	}
	if i := invalidUTF8(r.source); i >= 0 {
		return nil, r.mistake(r.position(i), "the file is not UTF-8 here")
	}
	return r, nil
}

func (r *reader) mistake(at Position, format string, args ...any) error {
	return mistake(r.source, at, format, args...)
}

// position turns a byte offset into a place.
func (r *reader) position(offset int) Position {
	before := newlines(r.source[:offset])
	return Position{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])}
}

func invalidUTF8(s string) int {
	for i, c := range s {
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// document gives the root of the only document.
func (r *reader) document() (ast.Node, error) {
	tokens := lexer.Tokenize(r.source)
	if err := r.plain(tokens); err != nil {
		return nil, err
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // entries tells duplicates better
	if err != nil {
		return nil, r.syntax(err)
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return nil, r.mistake(Position{}, "the file is empty")
	}
	return f.Docs[0].Body, nil
}

// plain refuses what is outside the subset, and nesting that a policy never has.
func (r *reader) plain(tokens token.Tokens) error {
	if len(tokens) > maxFileTokens {
		return r.mistake(placeOf(tokens[maxFileTokens]), "the file holds more than a policy can")
	}
	depth, line, dashes := 0, 0, 0
	for i, t := range tokens {
		if what := refusedToken(t.Type); what != "" {
			return r.mistake(placeOf(t), "%s are not allowed in a policy", what)
		}
		if t.Type == token.DocumentHeaderType && hasContent(tokens[:i]) {
			return r.mistake(placeOf(t), "a policy file holds one document only")
		}
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		}
		if depth > maxFileDepth || dashes > maxFileDepth {
			return r.mistake(placeOf(t), "the file is nested too deep")
		}
	}
	return nil
}

func refusedToken(t token.Type) string {
	switch t {
	case token.AnchorType, token.AliasType:
		return "anchors and aliases"
	case token.TagType:
		return "tags"
	case token.MergeKeyType:
		return "merge keys"
	case token.DirectiveType:
		return "directives"
	case token.MappingKeyType:
		return "keys with a question mark"
	}
	return ""
}

// hasContent tells whether some token is more than a comment.
func hasContent(tokens token.Tokens) bool {
	return slices.ContainsFunc(tokens, func(t *token.Token) bool { return t.Type != token.CommentType })
}

// syntax gives the YAML parser's error a place.
func (r *reader) syntax(err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return r.mistake(placeOf(e.GetToken()), "%s", e.GetMessage())
	}
	return r.mistake(Position{}, "%s", cut(err.Error(), 200))
}

// fields says how to read each key of a mapping.
type fields map[string]func(ast.Node) error

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, what string, known fields, required ...string) error {
	var seen []string
	err := r.entries(n, what, func(key string, at Position, value ast.Node) error {
		read, ok := known[key]
		if !ok {
			return r.mistake(at, "unknown key %q in %s; known are: %s", cut(key, 60), what, strings.Join(sortedKeys(known), ", "))
		}
		seen = append(seen, key)
		return read(value)
	})
	if err != nil {
		return err
	}
	for _, key := range required {
		if !slices.Contains(seen, key) {
			return r.mistake(place(n), "%s lacks %s", what, key)
		}
	}
	return nil
}

// entries reads a mapping, each key once, in the file's order.
func (r *reader) entries(n ast.Node, what string, each func(key string, at Position, value ast.Node) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return r.mistake(place(n), "%s must be a mapping, not %s", what, kindOf(n))
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		key, ok := it.Key().(*ast.StringNode)
		if !ok {
			return r.mistake(placeOf(it.Key().GetToken()), "a key must be text; put it in quotes")
		}
		if seen[key.Value] {
			return r.mistake(placeOf(key.Token), "key %q is in %s twice", cut(key.Value, 60), what)
		}
		seen[key.Value] = true
		if err := each(key.Value, placeOf(key.Token), it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// list reads the items of a list.
func (r *reader) list(n ast.Node, what string, each func(ast.Node) error) error {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return r.mistake(place(n), "%s must be a list, not %s", what, kindOf(n))
	}
	for _, item := range s.Values {
		if err := each(item); err != nil {
			return err
		}
	}
	return nil
}

// place is where a value starts. The parser gives a block mapping the place of its
// first colon; a reader looks for its first key.
func place(n ast.Node) Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return placeOf(m.Values[0].Key.GetToken())
	}
	return placeOf(n.GetToken())
}

func placeOf(t *token.Token) Position {
	return Position{Line: t.Position.Line, Column: t.Position.Column}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
