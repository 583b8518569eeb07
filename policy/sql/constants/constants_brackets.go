package constants

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// bracket says what an open bracket is about.
type bracket uint8

const (
	grouping bracket = iota // an expression, or a query
	call                    // arguments
	inList                  // of IN
	valueRow                // of an INSERT's VALUES
	opaque                  // a type's length, a list of names, or anything else
)

// in is what the innermost open bracket is about.
func (l *constants) in() bracket {
	if len(l.brackets) == 0 {
		return grouping
	}
	return l.brackets[len(l.brackets)-1]
}

// bracket takes a token in, if it is a bracket.
func (l *constants) bracket(i int) {
	switch l.sign(i) {
	case "(":
		about := l.opened(i)
		if l.in() == opaque {
			about = opaque
		}
		l.brackets = append(l.brackets, about)
	case "[":
		l.brackets = append(l.brackets, opaque)
	case ")", "]":
		if last := len(l.brackets) - 1; last >= 0 {
			l.closed, l.brackets = l.brackets[last], l.brackets[:last]
		}
		if len(l.brackets)+1 < l.ordering {
			l.ordering = 0
		}
	}
}

// opened says what the bracket that opens at a token is about.
func (l *constants) opened(i int) bracket {
	before := i - 1
	switch l.word(before) {
	case "in":
		return inList
	case "values":
		if l.word(0) == "insert" && len(l.brackets) == 0 {
			return valueRow
		}
		return opaque
	case "and", "or", "not", "where", "select", "when", "then", "else", "case", "on", "from", "join", "lateral", "between", "any", "all", "some", "exists", "set", "limit", "offset", "like", "ilike":
		return grouping
	}
	switch sign := l.sign(before); {
	case sign == "," && len(l.brackets) == 0 && l.closed == valueRow && l.sign(before-1) == ")":
		return valueRow // a further one
	case sign == "(" || sign == "," || before >= 0 && l.tokens[before].Kind == lex.Operator:
		return grouping
	}
	if before < 0 || l.tokens[before].Kind != lex.Ident || l.isType(before) {
		return opaque
	}
	return call
}

// isType tells whether a name may be that of a type, whose brackets hold its length. So it is
// behind a column's name, and behind every word that is not known to have an expression behind it.
func (l *constants) isType(i int) bool {
	switch l.spelled(i) {
	case "numeric", "decimal", "dec", "varchar", "character", "char", "varying", "bit", "float", "time", "timestamp", "timestamptz", "timetz", "interval", "nchar", "bpchar", "second":
		return true
	}
	for i > 1 && l.sign(i-1) == "." {
		i -= 2
	}
	switch l.word(i - 1) {
	case "and", "or", "not", "where", "select", "when", "then", "else", "case", "on", "from", "join", "lateral", "between", "limit", "offset", "like", "ilike", "returning":
		return false
	}
	return l.sign(i-1) == "::" || i > 0 && (l.tokens[i-1].Kind == lex.Ident || l.tokens[i-1].Kind == lex.QuotedIdent)
}

// keywords are the words that are looked for in this file, each by itself.
var keywords = keywordSet(`all and any as between bit bpchar by case char character conflict current dec decimal delete
	distinct do else end except exists fetch float for from full group having ilike in insert intersect interval into join lateral like
	limit nchar not numeric offset on or order over returning second select set some tablesample then
	time timestamp timestamptz timetz union update values varchar varying when where window with within`)

func keywordSet(words string) map[string]string {
	set := map[string]string{}
	for _, word := range strings.Fields(words) {
		set[word] = word
	}
	return set
}
