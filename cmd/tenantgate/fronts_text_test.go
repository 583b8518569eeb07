package main

import (
	"encoding/json"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"regexp"
	"slices"
	"strings"
)

// wireArg is an argument as REST gets it, for a parameter of the listener's.
type wireArg struct{ json string }

// typed tells whether a value depends on the type of its parameter: a list of JSON's is
// an array or a document.
func typed(args []wireArg) bool {
	for _, a := range args {
		if a.json != "" && a.json[0] == '[' {
			return true
		}
	}
	return false
}

// text is the value in Postgres' text format; nil is NULL.
func (a wireArg) text(types []uint32, i int) []byte {
	switch {
	case a.json == "null":
		return nil
	case a.json[0] == '"':
		var s string
		_ = json.Unmarshal([]byte(a.json), &s)
		return []byte(s)
	case a.json[0] == '[' && i < len(types) && isArray(types[i]):
		return []byte(strings.NewReplacer("[", "{", "]", "}").Replace(a.json))
	}
	return []byte(a.json)
}

// forWire writes a statement of the interface as a client of Postgres' does: $n for each
// placeholder, and an argument for each, those of scope conditions too: there it is the
// server's id. So it is where an admitted statement has no argument left. A text that can't
// be read is sent as it is.
func forWire(sql, id string, args []wireArg, admitted bool) (text string, all []wireArg) {
	sql = strings.ToValidUTF8(sql, "\ufffd") // as JSON has it
	tr, fault := lex.Translate(sql, lex.Guard{})
	if fault != nil {
		return sql, args
	}
	own := wireArg{`"` + id + `"`}
	insert := leadsInsert(tr.Text)
	bare := uncommented(tr)
	highest := 0
	used, scoped := map[int]bool{}, map[int]bool{}
	for _, p := range tr.Placeholders {
		highest, used[p.Number] = max(highest, p.Number), true
		scoped[p.Number] = scoped[p.Number] || inCondition(bare, p)
	}
	if insert || len(args) == len(used) { // a condition that is none of scope takes one too
		clear(scoped)
	}
	for n := 1; n <= highest; n++ {
		switch {
		case scoped[n]:
			all = append(all, own)
		case !used[n]:
			all = append(all, wireArg{"null"})
		case len(args) > 0:
			all, args = append(all, args[0]), args[1:]
		case admitted:
			all = append(all, own)
		}
	}
	if len(args) == 1 && args[0] == own && !insert { // UPDATE and DELETE may bring it as one more
		args = nil
	}
	return tr.Text, append(all, args...)
}

var (
	namesScope   = regexp.MustCompile(`(?i)\b(server_id|tenant)"?\s*\)*\s*=\s*\(*\s*$`)
	followsScope = regexp.MustCompile(`(?i)^\s*\)*\s*(::\s*\w+\s*)?=\s*\(*([\w"]+\s*\.\s*)*"?(server_id|tenant)\b`)
	clause       = regexp.MustCompile(`(?i)\b(set|where|on|having|select|and|or|not|when|using|returning)\b`)
)

// inCondition tells whether a placeholder is compared to a scope column, and not assigned.
func inCondition(text string, p lex.Placeholder) bool {
	before := text[:p.Start]
	if !namesScope.MatchString(before) {
		return followsScope.MatchString(text[p.End:])
	}
	words := clause.FindAllString(before, -1)
	return len(words) > 0 && !slices.Contains([]string{"set", "select", "returning"}, strings.ToLower(words[len(words)-1]))
}

var outermost = regexp.MustCompile(`(?i)\b(select|insert|update|delete|values|table)\b`)

// leadsInsert tells whether the outermost statement is an INSERT.
func leadsInsert(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if at := outermost.FindStringIndex(text[i:]); depth == 0 && at != nil && at[0] == 0 {
			return strings.EqualFold(text[i:i+at[1]], "insert")
		}
	}
	return false
}

// uncommented is a text with blanks in the place of comments.
func uncommented(tr *lex.Translation) string {
	out := []byte(strings.Repeat(" ", len(tr.Text)))
	for _, k := range tr.Tokens {
		copy(out[k.Start:k.End], tr.Text[k.Start:k.End])
	}
	return string(out)
}
