package statement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// Hole says what kind of placeholder a token is.
type Hole uint8

// The kinds of a token.
const (
	Word      Hole = iota // no placeholder
	Value                 // a value of the caller's
	Condition             // the server's id in server_id = ?; takes an argument only in an INSERT
	Given                 // the server's id as a value for the scope column; takes an argument always
)

// Token is one lexical element, or a few that belong together such as a qualified name.
type Token struct {
	Text  string // as the caller of tenantgate writes it; ignored for a placeholder
	Plain string // what a plain database gets instead; "" for the same
	Hole  Hole
	Arg   policy.Arg // of a placeholder
}

// Statement is a text with its arguments, and what is known of its answer.
type Statement struct {
	Tokens  []Token
	Mode    policy.ScopeMode
	Dollar  bool // placeholders are $1, $2, …; not ?
	Tight   bool // no more blanks than needed
	Insert  bool // the outermost statement is an INSERT
	Extra   bool // the server's id is given as one more argument, the last
	Loose   bool // the answer is not determined: only leaks and changes of others' rows can be judged
	Sorted  bool // the order of the rows is determined
	Damage  bool // it was mutated
	Written bool // it was written by hand
	Uses    []string
}

// Text writes the statement for tenantgate, on behalf of a server.
func (s Statement) Text(server string) (text string, args []policy.Arg) {
	id := policy.Arg{Kind: policy.String, Text: server}
	condition := 0
	text = s.write(func(t Token) string {
		switch {
		case t.Hole == Word:
			return t.Text
		case t.Hole == Condition && !s.Insert && s.Dollar && condition > 0:
			return "$" + strconv.Itoa(condition)
		case t.Hole == Condition && !s.Insert:
			if s.Dollar {
				condition = len(args) + 1
				args = append(args, policy.Arg{Kind: policy.Null, Text: conditionMark})
			}
			return s.hole(len(args))
		}
		args = append(args, t.Arg)
		return s.hole(len(args))
	})
	args = slices.DeleteFunc(args, func(a policy.Arg) bool { return a.Kind == policy.Null && a.Text == conditionMark })
	if s.Extra {
		args = append(args, id)
	}
	return text, args
}

// conditionMark stands in the list of arguments where a numbered placeholder takes none.
const conditionMark = "no argument"

func (s Statement) hole(n int) string {
	if s.Dollar {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// PlainText writes the statement for a plain driver on a database of the server's own.
func (s Statement) PlainText(server string) (text string, args []policy.Arg) {
	text = s.write(func(t Token) string {
		switch {
		case t.Plain != "":
			return t.Plain
		case t.Hole == Word:
			return t.Text
		case t.Hole == Value:
			args = append(args, t.Arg)
			return "$" + strconv.Itoa(len(args))
		}
		return "'" + server + "'"
	})
	return text, args
}

// NativeText writes the statement for the listener, on behalf of a server: as PlainText, but
// for what tenantgate alone is told, and with an argument for each placeholder.
func (s Statement) NativeText(server string) (text string, args []policy.Arg) {
	text = s.write(func(t Token) string {
		switch {
		case t.Hole == Word && strings.Contains(t.Text, "??"):
			return t.Plain
		case t.Hole == Word:
			return t.Text
		case t.Hole == Condition && (!s.Insert || t.Arg.Kind == policy.Null):
			t.Arg = policy.Arg{Kind: policy.String, Text: server}
		}
		args = append(args, t.Arg)
		return "$" + strconv.Itoa(len(args))
	})
	return text, args
}

func (s Statement) write(spell func(Token) string) string {
	var b strings.Builder
	last := ""
	for _, t := range s.Tokens {
		word := spell(t)
		if last != "" && !(s.Tight && touches(last, word)) {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		last = word
	}
	return b.String()
}

// touches tells whether two tokens may stand without a blank between them.
func touches(a, b string) bool {
	return strings.ContainsAny(a[len(a)-1:], "(,") || strings.ContainsAny(b[:1], "),") || a == "=" && plainStart(b) || b == "=" && plainEnd(a)
}

func plainStart(s string) bool { return s[0] == '?' || s[0] == '\'' || s[0] == '$' || isLetter(s[0]) }

func plainEnd(s string) bool {
	return s[len(s)-1] == '?' || s[len(s)-1] == '"' || isLetter(s[len(s)-1])
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// First is the first word, in lower case: what kind of statement it is, or "with".
func (s Statement) First() string {
	if len(s.Tokens) == 0 {
		return ""
	}
	return strings.ToLower(s.Tokens[0].Text)
}
