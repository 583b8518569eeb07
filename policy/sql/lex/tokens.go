package lex

import "slices"

// Cursor is a cursor over the tokens of the text.
type Cursor struct {
	Source *Translation
	Pos    int
}

// Done tells whether the cursor is behind the last token.
func (t *Cursor) Done() bool { return t.Pos >= len(t.Source.Tokens) }

// text is the token's text, "" behind the last one.
func (t *Cursor) text() string {
	if t.Pos < 0 || t.Done() {
		return ""
	}
	k := t.Source.Tokens[t.Pos]
	return t.Source.Text[k.Start:k.End]
}

// Is tells whether the token is that word (in any case, unquoted) or sign.
func (t *Cursor) Is(word string) bool { return isWord(t.text(), word) }

// Start is the token's offset; behind the last token the text's length.
func (t *Cursor) Start() int {
	if t.Done() {
		return len(t.Source.Text)
	}
	return t.Source.Tokens[t.Pos].Start
}

// End is the offset behind the token before the cursor's.
func (t *Cursor) End() int {
	if t.Pos < 1 || t.Pos > len(t.Source.Tokens) {
		return len(t.Source.Text)
	}
	return t.Source.Tokens[t.Pos-1].End
}

// SkipName passes a name of one or more parts.
func (t *Cursor) SkipName() {
	t.Pos++
	for t.Is(".") {
		t.Pos += 2
	}
}

// SkipGroup passes a bracketed group when the cursor is on its opening bracket.
func (t *Cursor) SkipGroup() {
	depth := 0
	for !t.Done() {
		depth += t.Nesting()
		t.Pos++
		if depth == 0 {
			return
		}
	}
}

// Nesting is what the token adds to the depth of brackets.
func (t *Cursor) Nesting() int {
	switch t.text() {
	case "(", "[":
		return 1
	case ")", "]":
		return -1
	}
	return 0
}

// Seek passes tokens at the cursor's own depth until one of the words; it stops at the
// bracket that closes around it and behind the last token. A word behind a dot is a
// column's name.
func (t *Cursor) Seek(words ...string) {
	for depth := 0; !t.Done(); t.Pos++ {
		if depth == 0 && (t.Pos == 0 || t.Source.Tokens[t.Pos-1].Kind != Punct || !t.Follows(".")) && slices.ContainsFunc(words, t.Is) {
			return
		}
		if depth += t.Nesting(); depth < 0 {
			return
		}
	}
}

// Follows tells whether the token before the cursor's is that word (as Is) or sign.
func (t *Cursor) Follows(sign string) bool {
	back := Cursor{t.Source, t.Pos - 1}
	return back.Is(sign)
}
