package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// text reads a string.
func (r *reader) text(n ast.Node, what string, into *string) error {
	switch v := n.(type) {
	case *ast.StringNode:
		*into = v.Value
	case *ast.LiteralNode:
		*into = v.Value.Value
	default:
		return r.mistake(place(n), "%s must be text, not %s", what, kindOf(n))
	}
	return nil
}

// boolean reads true or false. YAML 1.1's yes, no, on and off are text.
func (r *reader) boolean(n ast.Node, what string, into *bool) error {
	v, ok := n.(*ast.BoolNode)
	if !ok {
		return r.mistake(place(n), "%s must be true or false, not %s", what, kindOf(n))
	}
	*into = v.Value
	return nil
}

// number reads a whole number from 1 to most, in plain decimal digits: 010 and
// 1_000 mean different things to different readers of YAML.
func (r *reader) number(n ast.Node, what string, most int, into *int) error {
	return r.numberOr(n, what, most, "", into)
}

// numberOr reads a number where something else may stand, too.
func (r *reader) numberOr(n ast.Node, what string, most int, or string, into *int) error {
	digits := ""
	if v, ok := n.(*ast.IntegerNode); ok {
		digits = v.Token.Value
	}
	i, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(i) != digits || i < 1 || i > most {
		return r.mistake(place(n), "%s must be a whole number from 1 to %d%s, not %s", what, most, or, kindOf(n))
	}
	*into = i
	return nil
}

// size reads a number of bytes, alone or with a unit of 1,024, or none.
func (r *reader) size(n ast.Node, what string, into *int) error {
	if isNone(n) {
		*into = Unlimited
		return nil
	}
	v, ok := n.(*ast.StringNode)
	if !ok {
		return r.numberOr(n, what, maxBytesLimit, orNone, into)
	}
	digits := strings.TrimRight(v.Value, "KMGB")
	unit := map[string]int{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[v.Value[len(digits):]]
	i, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(i) != digits || unit == 0 || i < 1 || i > maxBytesLimit/unit {
		return r.mistake(place(n), "%s must be a size of at most 1GB such as 10MB (KB, MB and GB are powers of 1024)%s, not %s", what, orNone, kindOf(n))
	}
	*into = i * unit
	return nil
}

// duration reads a time of at least a millisecond with its unit, as Postgres counts them.
func (r *reader) duration(n ast.Node, what string, into *time.Duration) error {
	text := ""
	if v, ok := n.(*ast.StringNode); ok {
		text = v.Value
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > maxDuration || d%time.Millisecond != 0 {
		return r.mistake(place(n), "%s must be a duration from 1ms to 1h in whole milliseconds such as 5s or 500ms, not %s", what, kindOf(n))
	}
	*into = d
	return nil
}

// constant reads a string that can have one value only.
func (r *reader) constant(n ast.Node, what, value string) error {
	return choice(r, n, what, new(string), value)
}

// choice reads one of several words.
func choice[T ~string](r *reader, n ast.Node, what string, into *T, options ...T) error {
	var text string
	if err := r.text(n, what, &text); err != nil {
		return err
	}
	if !slices.Contains(options, T(text)) {
		return r.mistake(place(n), "unknown %s %q; known are: %s", what, cut(text, 60), join(options))
	}
	*into = T(text)
	return nil
}

func join[T ~string](options []T) string {
	words := make([]string, len(options))
	for i, o := range options {
		words[i] = string(o)
	}
	return strings.Join(words, ", ")
}

// identifier reads a name of the database.
func (r *reader) identifier(n ast.Node, what string, into *string) error {
	if err := r.text(n, what, into); err != nil {
		return err
	}
	if problem := badIdentifier(*into); problem != "" {
		return r.mistake(place(n), "%s %q %s", what, cut(*into, 60), problem)
	}
	return nil
}

// badIdentifier tells what keeps s from being a name of the database; "" for nothing.
// Postgres cuts longer names, so a longer one here would never match.
func badIdentifier(s string) string {
	switch {
	case s == "":
		return "is an empty name"
	case len(s) > 63:
		return "is longer than the 63 bytes that Postgres keeps"
	case strings.ContainsAny(s, ".\"()@") || strings.TrimSpace(s) != s || strings.ContainsFunc(s, unicode.IsControl):
		return "is no name as the catalog spells it"
	}
	return ""
}

// policyName reads a policy's name, which becomes a file name and a metric's label.
func (r *reader) policyName(n ast.Node, into *string) error {
	if err := r.text(n, "name", into); err != nil {
		return err
	}
	ok := len(*into) >= 1 && len(*into) <= 63 && strings.Trim(*into, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && strings.Trim(*into, "-") == *into
	if !ok {
		return r.mistake(place(n), "name %q must be 1 to 63 lower-case letters, digits and hyphens", cut(*into, 60))
	}
	return nil
}

// orNone is said where the word that switches a limit off may stand.
const orNone = ", or none"

// isNone tells the word that switches a limit off.
func isNone(n ast.Node) bool {
	v, ok := n.(*ast.StringNode)
	return ok && v.Value == "none"
}

// kindOf names what stands in the file where something else was wanted.
func kindOf(n ast.Node) string {
	switch v := n.(type) {
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", cut(v.Value, 60))
	case *ast.LiteralNode:
		return "a block of text"
	}
	return cut(n.GetToken().Value, 60)
}
