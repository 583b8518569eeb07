package policy

import (
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sql/constants"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// positionMap leads from the final text back to the caller's, through the rewrite and
// the translation of placeholders.
type positionMap struct {
	caller      string
	translation *lex.Translation
	final       *facts.Rewritten
	lead        int // bytes of the final text before the rewritten one
	base        int // bytes of the caller's text before the translated one
}

// newPositionMap keeps of the translation only what the way back needs.
func newPositionMap(caller string, tr *lex.Translation, final *facts.Rewritten) positionMap {
	slim := *tr
	slim.Tokens, slim.Placeholders = nil, nil
	return positionMap{caller: caller, translation: &slim, final: final}
}

// back turns a 1-based character of the final text into one of the caller's; 0 where
// that character is not the caller's.
func (m positionMap) back(text string, pos int) int {
	if m.final == nil || pos < 1 {
		return 0
	}
	return m.at(byteOffset(text, pos) - m.lead)
}

// backFilled is back for a text that values were put into.
func (m positionMap) backFilled(f constants.Filled, pos int) int {
	if m.final == nil || pos < 1 {
		return 0
	}
	at, ok := f.Offset(byteOffset(f.Text, pos))
	if !ok {
		return 0
	}
	return m.at(at - m.lead)
}

// at is back for a byte of the rewritten text.
func (m positionMap) at(offset int) int {
	if m.final == nil || offset < 0 || offset > len(m.final.Text) {
		return 0
	}
	at, ok := m.final.Offset(offset)
	if !ok {
		return 0
	}
	return m.ofTranslation(at)
}

// ofTranslation is back for a byte of the translated text.
func (m positionMap) ofTranslation(offset int) int {
	if m.translation == nil {
		return 0
	}
	at, ok := m.translation.CallerOffset(offset)
	if !ok || m.base+at > len(m.caller) {
		return 0
	}
	return utf8.RuneCountInString(m.caller[:m.base+at]) + 1
}

// byteOffset gives where the pos-th character starts.
func byteOffset(text string, pos int) int {
	at := 0
	for i := 1; i < pos && at < len(text); i++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
