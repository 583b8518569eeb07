package tree

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// maxQuoted is how many reserved words of a text may be names.
const maxQuoted = 3

// ReservedName gives the reserved word at the offset where a text does not parse, if it is a name there: the text
// parses once the word, and further ones that are such names, are in quotation marks. It is "" for a keyword before
// which something is missing. The text is parsed up to maxQuoted+1 times.
func ReservedName(tr *lex.Translation, at int) string {
	name, text := reservedAt(tr, at), tr.Text
	if name == "" || isKeyword(tr, at) {
		return ""
	}
	word := name
	for marks := 0; word != "" && marks < 2*maxQuoted; word = reservedAt(tr, at) {
		text = text[:at+marks] + lex.Quote(word) + text[at+marks+len(word):]
		marks += 2
		_, fault := Parse(text)
		if fault == nil {
			return name
		}
		at = fault.Offset - marks
	}
	return ""
}

// isKeyword tells whether the text parses with a value before the word. In quotation marks the word could stand there
// as well: as an alias in SELECT id, FROM files, as a function in OR IN (1), as a type in AND IN 'a'.
func isKeyword(tr *lex.Translation, at int) bool {
	next, value := tr.TokenAt(at)+1, "x AS y " // since a word behind a plain x may be its alias
	if next < len(tr.Tokens) {
		switch tr.Tokens[next].Kind {
		case lex.String, lex.Param:
			return true
		}
	}
	if after := (lex.Cursor{Source: tr, Pos: next}); after.Is("(") {
		value = "x "
	}
	_, fault := Parse(tr.Text[:at] + value + tr.Text[at:])
	return fault == nil
}

// reservedAt gives the reserved word that starts at an offset; "" where none does.
func reservedAt(tr *lex.Translation, at int) string {
	i := tr.TokenAt(at)
	if i < 0 {
		return ""
	}
	word := tr.Text[tr.Tokens[i].Start:tr.Tokens[i].End]
	scanned, err := pg.Scan(word)
	if err != nil || len(scanned.Tokens) != 1 {
		return ""
	}
	switch scanned.Tokens[0].KeywordKind {
	case pg.KeywordKind_RESERVED_KEYWORD, pg.KeywordKind_TYPE_FUNC_NAME_KEYWORD:
		return word
	}
	return ""
}
