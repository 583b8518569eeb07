package sqltree

import "strings"

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

// opened says what the bracket that opens at a token is about.
func (l *constants) opened(i int) bracket {
	before := i - 1
	switch l.word(before) {
	case "in":
		return inList
	case "values":
		return l.row()
	case "and", "or", "not", "where", "select", "when", "then", "else", "case", "on", "from", "between", "any", "all", "some", "exists", "set", "limit", "offset", "like", "ilike":
		return grouping
	}
	switch sign := l.sign(before); {
	case sign == "," && len(l.brackets) == 0 && l.word(0) == "insert":
		return l.row() // of a further row; a list of names holds no constants
	case sign == "(" || sign == "," || before >= 0 && l.tokens[before].Kind == Operator:
		return grouping
	}
	if l.word(before) == "" && (before < 0 || l.tokens[before].Kind != Ident) || l.isType(before) {
		return opaque
	}
	return call
}

func (l *constants) row() bracket {
	if l.word(0) == "insert" {
		return valueRow
	}
	return opaque
}

// isType tells whether a name may be that of a type, whose brackets hold its length.
func (l *constants) isType(i int) bool {
	switch l.word(i) {
	case "numeric", "decimal", "dec", "varchar", "character", "char", "varying", "bit", "float", "time", "timestamp", "timestamptz", "timetz", "interval", "nchar", "bpchar", "second":
		return true
	}
	for i > 1 && l.sign(i-1) == "." {
		i -= 2
	}
	return l.sign(i-1) == "::" || l.word(i-1) == "as"
}

// keywords are the words that are looked for in this file, each by itself.
var keywords = keywordSet(`all and any as between bit bpchar case char character current dec decimal delete distinct else
	end except exists fetch float for from group having ilike in insert intersect interval into like
	limit nchar not numeric offset on or order over returning second select set some tablesample then
	time timestamp timestamptz timetz union update values varchar varying when where window with within`)

func keywordSet(words string) map[string]string {
	set := map[string]string{}
	for _, word := range strings.Fields(words) {
		set[word] = word
	}
	return set
}
