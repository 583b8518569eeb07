package policy

import "github.com/tenantgate/tenantgate/policy/sql/lex"

// Cut cuts a text of the Postgres dialect behind its first statement: what is before the first
// semicolon that is one to Postgres' lexer, and what is behind it. more is false where there is
// none, and where the lexer gives up: the text is then one statement, for Decide to refuse or
// not. It looks at no more than the statement, and never at a semicolon twice.
func Cut(text string) (statement, rest string, more bool) {
	at := lex.Semicolon(text)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}
