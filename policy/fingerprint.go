package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// fingerprintLen is the length of a fingerprint, in hex digits.
const fingerprintLen = 16

// Fingerprint tells statements apart in a log that must hold no values: it is the first 16 hex digits of the SHA-256 of
// the text's tokens, without its constants. Texts of either dialect that differ in literals, in parameters, in the
// length of a list of those, in comments, white space or the case of unquoted names have the same one. It is "" for a
// text that Postgres' lexer or its guard refuses, one of more than 10,240 bytes among them. It takes time in proportion
// to the text's length.
func Fingerprint(text string) string {
	text = strings.TrimRight(text, "; \t\r\n")
	tokens, fault := lex.Scan(text, lex.Guard{}, true)
	if fault != nil {
		return ""
	}
	sum := sha256.Sum256(withoutConstants(text, tokens))
	return hex.EncodeToString(sum[:])[:fingerprintLen]
}

// withoutConstants gives the tokens, each behind a space, with ? for a constant and for a list of them.
func withoutConstants(text string, tokens []lex.Token) []byte {
	out := make([]byte, 0, len(text)+len(tokens))
	for i, token := range tokens {
		switch word := text[token.Start:token.End]; {
		case isConstant(token.Kind):
			out = append(bytes.TrimSuffix(out, []byte(" ? ,")), " ?"...)
		case token.Kind == lex.Ident:
			out = appendLower(append(out, ' '), word)
		case !signsNumber(text, tokens, i):
			out = append(append(out, ' '), word...)
		}
	}
	return out
}

func isConstant(kind lex.TokenKind) bool {
	return kind == lex.String || kind == lex.Number || kind == lex.Param
}

// signsNumber tells whether a token is the sign of a number, where no operand stands before it, so that it can be
// nothing else. Behind a word it may be either, and is kept.
func signsNumber(text string, tokens []lex.Token, i int) bool {
	if i == 0 || i+1 == len(tokens) || tokens[i].Kind != lex.Operator || tokens[i+1].Kind != lex.Number {
		return false
	}
	sign, before := text[tokens[i].Start:tokens[i].End], tokens[i-1]
	return (sign == "-" || sign == "+") && (before.Kind == lex.Operator || strings.Contains("([,", text[before.Start:before.End]))
}

// appendLower appends a name as Postgres reads it: the letters of ASCII alone have a case.
func appendLower(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
