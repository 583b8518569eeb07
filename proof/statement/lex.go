package statement

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// Lex takes a hand-written text apart. Its args are those that the interface asks for; id
// is the server that they were written for, in whose place server is put. Nobody vouches
// for the order of its rows.
func Lex(text string, args []policy.Arg, id, server string) Statement {
	st := Statement{Written: true}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n") {
		n := length(rest)
		st.Tokens = append(st.Tokens, lexed(rest[:n], id, server))
		rest = rest[n:]
	}
	st.Insert = strings.EqualFold(outermost(st.Tokens), "insert")
	left := st.fill(args, id, server)
	st.Extra = left == 1 && !st.Insert
	st.Loose = undetermined(st) || fleeting(st.Tokens) || starred(text)
	return st
}

// lexed makes a token of a word.
func lexed(word, id, server string) Token {
	switch {
	case word == "?", word[0] == '$' && len(word) > 1 && isDigits(word[1:]):
		return Token{Text: word, Hole: Value}
	case strings.Contains(word, "??"):
		return Token{Text: word, Plain: strings.ReplaceAll(word, "??", "?")}
	case word == "'"+id+"'":
		return Token{Text: "'" + server + "'"}
	}
	return Token{Text: word}
}

// fill gives each placeholder its argument, and says how many arguments are left. A number
// that stands in a scope condition is the server's wherever it stands.
func (s *Statement) fill(args []policy.Arg, id, server string) (left int) {
	scoped := map[string]bool{}
	for i, t := range s.Tokens {
		if t.Hole == Value && condition(s.Tokens, i) {
			s.Tokens[i].Hole = Condition
			scoped[t.Text] = t.Text != "?"
		}
	}
	for i := range s.Tokens {
		t := &s.Tokens[i]
		if t.Hole == Value && scoped[t.Text] {
			t.Hole = Condition
		}
		s.Dollar = s.Dollar || t.Hole != Word && t.Text != "?"
		if t.Hole == Word || t.Hole == Condition && !s.Insert || len(args) == 0 {
			continue
		}
		t.Arg = args[0]
		args = args[1:]
		if t.Arg.Kind == policy.String && t.Arg.Text == id {
			t.Arg.Text = server
			if t.Hole == Value {
				t.Hole = Given
			}
		}
	}
	return len(args)
}

// condition tells whether the placeholder at a position is that of a scope condition.
func condition(tokens []Token, at int) bool {
	names := func(i int) bool {
		return i >= 0 && i < len(tokens) && (strings.EqualFold(tokens[i].Text, "server_id") || strings.EqualFold(tokens[i].Text, "tenant"))
	}
	equals := func(i int) bool { return i >= 0 && i < len(tokens) && tokens[i].Text == "=" }
	return equals(at-1) && names(at-2) || equals(at+1) && (names(at+2) || at+4 < len(tokens) && tokens[at+3].Text == "." && names(at+4))
}

// outermost is the word that says what kind of statement it is.
func outermost(tokens []Token) string {
	depth := 0
	for _, t := range tokens {
		depth += turn(t.Text)
		switch strings.ToLower(t.Text) {
		case "select", "insert", "update", "delete", "values", "table":
			if depth == 0 {
				return t.Text
			}
		}
	}
	return ""
}

// fleeting tells whether a text has what differs from one moment to the next, as some
// defaults do, or from one database to the other.
func fleeting(tokens []Token) bool {
	for _, t := range tokens {
		switch strings.ToLower(t.Text) {
		case "insert", "now", "random", "gen_random_uuid", "current_date", "current_timestamp", "clock_timestamp", "localtimestamp", "current_time", "statement_timestamp", "age",
			"'now'", "'today'", "'tomorrow'", "'yesterday'":
			return true
		}
		if word := strings.ToLower(t.Text); strings.HasPrefix(word, "pg_") || word == "information_schema" {
			return true
		}
	}
	return false
}

// starred tells whether a text may have a * that covers a hidden column: on a plain
// database it shows that one too.
func starred(text string) bool {
	lower := strings.ToLower(text)
	return (strings.Contains(lower, "*") || strings.Contains(lower, "table")) &&
		slices.ContainsFunc(Tables(), func(t *Table) bool { return t.Hides() && strings.Contains(lower, strings.ToLower(t.Name)) })
}

// length is the length of the first token of a text that starts with one.
func length(s string) int {
	switch c := s[0]; {
	case c == '\'' || c == '"':
		return quoted(s, 0)
	case isLetter(c):
		n := span(s, func(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '$' || c >= 0x80 })
		if n < len(s) && s[n] == '\'' && n <= 2 || strings.HasPrefix(s[n:], "&'") || strings.HasPrefix(s[n:], `&"`) {
			return quoted(s, n+strings.IndexAny(s[n:], `'"`))
		}
		return n
	case '0' <= c && c <= '9':
		return span(s, func(c byte) bool { return '0' <= c && c <= '9' || c == '.' })
	case c == '$':
		return dollar(s)
	case strings.HasPrefix(s, "--"):
		return span(s, func(c byte) bool { return c != '\n' })
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s, "*/"); end > 0 {
			return end + 2
		}
		return len(s)
	case strings.HasPrefix(s, "::"):
		return 2
	case isOperator(c):
		return operator(s)
	}
	return max(1, span(s, func(c byte) bool { return c >= 0x80 }))
}

func span(s string, belongs func(byte) bool) int {
	for i := range len(s) {
		if !belongs(s[i]) {
			return i
		}
	}
	return len(s)
}

// quoted is the length up to the end of the quotation that starts at a position.
func quoted(s string, at int) int {
	escapes := at == 1 && (s[0] == 'e' || s[0] == 'E')
	for i := at + 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == s[at] && i+1 < len(s) && s[i+1] == s[at]:
			i++
		case s[i] == s[at]:
			return i + 1
		}
	}
	return len(s)
}

// dollar is the length of $1, or of a dollar-quoted string.
func dollar(s string) int {
	if n := 1 + span(s[1:], func(c byte) bool { return '0' <= c && c <= '9' }); n > 1 {
		return n
	}
	tag := strings.IndexByte(s[1:], '$')
	if tag < 0 {
		return 1
	}
	if end := strings.Index(s[tag+2:], s[:tag+2]); end >= 0 {
		return end + 2*(tag+2)
	}
	return len(s)
}

func isOperator(c byte) bool { return strings.IndexByte("+-*/<>=~!@#%^&|`?", c) >= 0 }

// operator is the length of an operator, or of a placeholder that adjoins one.
func operator(s string) int {
	if s[0] == '?' && !strings.HasPrefix(s, "??") {
		return 1
	}
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "??"):
			i++
		case s[i] == '?', !isOperator(s[i]), i > 0 && (strings.HasPrefix(s[i:], "--") || strings.HasPrefix(s[i:], "/*")):
			return i
		}
	}
	return len(s)
}
