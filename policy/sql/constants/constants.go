package constants

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Constant is a constant of a text, the token from Start up to and not including End, that
// could as well be a parameter: of Type with Value in Postgres' text format, the statement
// would mean the same. Type is the OID of what Postgres takes the constant for; 0 where it
// makes of it what stands beside it, as it does of a parameter without a type.
type Constant struct {
	Start, End int
	Type       uint32
	Value      string
}

// Constants gives the constants of a statement that could be parameters; none where the text
// has parameters of its own, is more than one statement or is not certainly of a shape in
// which a constant means no more than its value. It is for texts that differ in their
// constants alone: those need one decision and one plan then.
//
// A constant means more than its value in ORDER BY 1 and GROUP BY 1, in varchar(10), in
// DATE '…', in what ON CONFLICT finds an index by, where two of them must be the same
// expression and, a string, as an argument of a function that takes anything. So words that bring such with them make a text have none, and all
// others are taken in the few places that are listed here.
func Constants(text string) []Constant {
	tokens, fault := lex.Scan(text, lex.Guard{}, false)
	if fault != nil {
		return nil
	}
	l := constants{text: text, tokens: tokens, brackets: make([]bracket, 0, 8)}
	if !l.plain() {
		return nil
	}
	for i := range tokens {
		l.token(i)
	}
	if l.sorts {
		return nil
	}
	return l.found
}

// constants goes through the tokens of one text.
type constants struct {
	text     string
	tokens   []lex.Token
	brackets []bracket
	closed   bracket // what the last one that was closed was about
	ordering int     // brackets that were open at ORDER BY, plus one; 0: not in one
	sorts    bool    // ORDER BY has an expression with a constant, which the select list may repeat: as a parameter there it would be another one
	matching bool    // in what ON CONFLICT finds an index by, which a plan for any value can't match
	found    []Constant
}

// word gives a token as one of keywords; "" for any other. What stands behind a point is a
// name, whatever it spells.
func (l *constants) word(i int) string {
	if l.sign(i-1) == "." {
		return ""
	}
	return l.spelled(i)
}

// spelled is word for what may be a name, too.
func (l *constants) spelled(i int) string {
	if i < 0 || i >= len(l.tokens) || l.tokens[i].Kind != lex.Ident {
		return ""
	}
	var lower [12]byte
	n := copy(lower[:], l.text[l.tokens[i].Start:l.tokens[i].End])
	if n < l.tokens[i].End-l.tokens[i].Start {
		return ""
	}
	for i := range n {
		if c := lower[i]; 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	return keywords[string(lower[:n])]
}

// sign gives a token of signs; "" for any other.
func (l *constants) sign(i int) string {
	if i < 0 || i >= len(l.tokens) || l.tokens[i].Kind != lex.Punct && l.tokens[i].Kind != lex.Operator {
		return ""
	}
	return l.text[l.tokens[i].Start:l.tokens[i].End]
}

// plain tells whether the text is one statement without words that give constants a meaning
// of their own.
func (l *constants) plain() bool {
	switch l.word(0) {
	case "select", "insert", "update", "delete":
	default:
		return false
	}
	volatile, ordered := false, false
	for i, t := range l.tokens {
		ordered = ordered || l.word(i) == "order"
		volatile = volatile || t.Kind != lex.String && l.sign(i+1) == "(" && isVolatile(strings.Trim(l.text[t.Start:t.End], `"`))
		switch {
		case t.Kind == lex.Param || l.sign(i) == ";":
			return false
		case t.Kind == lex.String && l.sign(i-1) == ")": // varbit(3) '101'
			return false
		}
		switch l.word(i) {
		case "group", "having", "distinct", "union", "intersect", "except", "window", "over", "with", "within", "tablesample", "current", "fetch", "into",
			"full": // it joins by what is constant in the plan, and by nothing else of the kind
			if i != 1 || l.word(0) != "insert" { // INSERT INTO
				return false
			}
		}
	}
	return !volatile || !ordered // the list may repeat what it is ordered by
}

func isVolatile(name string) bool {
	return slices.ContainsFunc(tree.VolatileCalls, func(volatile string) bool { return strings.EqualFold(volatile, name) })
}

func (l *constants) token(i int) {
	l.bracket(i)
	switch l.word(i) {
	case "order":
		if l.ordering == 0 { // the outermost counts: its list goes on behind an inner one
			l.ordering = len(l.brackets) + 1
		}
	case "limit", "offset", "for", "returning":
		if l.ordering == len(l.brackets)+1 {
			l.ordering = 0
		}
	case "conflict":
		l.matching = true
	case "do":
		l.matching = false
	}
	if l.ordering > 0 || l.matching {
		kind := l.tokens[i].Kind
		l.sorts = l.sorts || l.ordering > 0 && (kind == lex.Number || kind == lex.String) && !l.isPosition(i)
		return
	}
	switch l.tokens[i].Kind {
	case lex.Number:
		l.number(i)
	case lex.String:
		l.string(i)
	}
}

// isPosition tells whether a constant of ORDER BY is a place in the select list.
func (l *constants) isPosition(i int) bool {
	after := l.sign(i + 1)
	before := l.word(i-1) == "by" || l.sign(i-1) == "," && len(l.brackets)+1 == l.ordering
	return before && (after == "" || after == "," || after == ")")
}

// number takes a number in.
func (l *constants) number(i int) {
	in := l.in()
	switch before := l.sign(i - 1); {
	case in == opaque:
		return
	case before == "(" || before == "," || i > 0 && l.tokens[i-1].Kind == lex.Operator:
	default:
		switch l.word(i - 1) {
		case "limit", "offset", "and", "or", "not", "then", "else", "when", "between", "select", "where", "case":
		default:
			return
		}
	}
	t := l.tokens[i]
	value := l.text[t.Start:t.End]
	if typ := numberType(value); typ != 0 {
		l.found = append(l.found, Constant{t.Start, t.End, typ, value})
	}
}

// numberType is what Postgres takes a number for; 0 for what this need not know.
func numberType(value string) uint32 {
	typ := uint32(tree.Int4OID)
	for i := range len(value) {
		switch c := value[i]; {
		case c == '.' && typ == tree.Int4OID && i > 0 && i < len(value)-1:
			typ = tree.NumericOID
		case !lex.IsDigit(c):
			return 0
		}
	}
	if typ == tree.Int4OID && len(value) > 9 || len(value) > 30 {
		return 0
	}
	return typ
}

// string takes a string in: where it is compared with something, or stands alone in a list.
func (l *constants) string(i int) {
	before, after := l.sign(i-1), l.sign(i+1)
	switch {
	case (before == "(" || before == ",") && (l.in() == inList || l.in() == valueRow):
		if after != "," && after != ")" {
			return
		}
	case before == "=" || before == "<>" || before == "!=" || before == "<" || before == ">" || before == "<=" || before == ">=" || l.word(i-1) == "like" || l.word(i-1) == "ilike":
		if !l.ends(i + 1) {
			return
		}
	default:
		return
	}
	t := l.tokens[i]
	if value, ok := lex.Unquoted(l.text[t.Start:t.End]); ok {
		l.found = append(l.found, Constant{t.Start, t.End, 0, value})
	}
}

// ends tells whether an expression ends before a token.
func (l *constants) ends(i int) bool {
	if i == len(l.tokens) {
		return true
	}
	switch l.sign(i) {
	case ")", ",":
		return true
	}
	switch l.word(i) {
	case "and", "or", "order", "limit", "offset", "where", "returning", "for", "then", "else", "end", "from":
		return true
	}
	return false
}
