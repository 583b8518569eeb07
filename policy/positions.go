package policy

import (
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sqltree"
)

// positionMap leads from the final text back to the caller's, through the rewrite and
// the translation of placeholders.
type positionMap struct {
	caller      string
	translation *sqltree.Translation
	final       *sqltree.Rewritten
}

// newPositionMap keeps of the translation only what the way back needs.
func newPositionMap(caller string, tr *sqltree.Translation, final *sqltree.Rewritten) positionMap {
	slim := *tr
	slim.Tokens, slim.Placeholders = nil, nil
	return positionMap{caller: caller, translation: &slim, final: final}
}

// back turns a 1-based character of the final text into one of the caller's; 0 where
// that character is not the caller's.
func (m positionMap) back(pos int) int {
	if m.final == nil || pos < 1 {
		return 0
	}
	at, ok := m.final.Offset(byteOffset(m.final.Text, pos))
	if !ok {
		return 0
	}
	at, ok = m.translation.CallerOffset(at)
	if !ok || at > len(m.caller) {
		return 0
	}
	return utf8.RuneCountInString(m.caller[:at]) + 1
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
