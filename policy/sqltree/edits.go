package sqltree

import (
	"slices"
	"strings"
)

// edit replaces the bytes from start to end with text. Where several stand at one
// offset, those that close what came before go first, then those that open, then the
// one that replaces.
type edit struct {
	start, end int
	order      editOrder
	text       string
}

type editOrder uint8

const (
	closing editOrder = iota
	opening
	replacing
)

// piece is a run of the source that stands unchanged in the final text.
type piece struct{ final, source, length int }

func (r *rewriter) open(at int, text string)  { r.edits = append(r.edits, edit{at, at, opening, text}) }
func (r *rewriter) close(at int, text string) { r.edits = append(r.edits, edit{at, at, closing, text}) }
func (r *rewriter) replace(start, end int, text string) {
	r.edits = append(r.edits, edit{start, end, replacing, text})
}

// apply makes the final text. Edits that overlap contradict each other: that is a fault.
func apply(source string, edits []edit) (string, []piece, *Fault) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return int(a.order) - int(b.order)
	})
	var w writer
	at := 0
	for _, e := range edits {
		if e.start < at {
			return "", nil, unplaced()
		}
		w.keep(source, at, e.start)
		w.write(e.text)
		at = e.end
	}
	w.keep(source, at, len(source))
	return w.out.String(), w.pieces, nil
}

// writer puts a final text together.
type writer struct {
	out    strings.Builder
	pieces []piece
	last   byte
}

// keep writes a run of the source.
func (w *writer) keep(source string, start, end int) {
	if start >= end {
		return
	}
	w.space(source[start])
	w.pieces = append(w.pieces, piece{w.out.Len(), start, end - start})
	w.out.WriteString(source[start:end])
	w.last = source[end-1]
}

func (w *writer) write(text string) {
	if text == "" {
		return
	}
	w.space(text[0])
	w.out.WriteString(text)
	w.last = text[len(text)-1]
}

// space keeps apart what would read as one token: SELECT* must not become SELECT$1,
// nor "a" and "b" be one name.
func (w *writer) space(next byte) {
	if wordy(w.last) && wordy(next) {
		w.out.WriteByte(' ')
	}
}

func wordy(c byte) bool {
	return c == '_' || c == '$' || c == '"' || c == '\'' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// tokens is a cursor over the tokens of the text.
type tokens struct {
	tr *Translation
	i  int
}

// at places a cursor on the token that starts at an offset; ok is false where none does.
func (r *rewriter) at(offset int) (t tokens, ok bool) {
	i := -1
	if offset >= 0 {
		i = r.tr.TokenAt(offset)
	}
	if i < 0 {
		r.fail(unplaced())
		return tokens{tr: r.tr, i: len(r.tr.Tokens)}, false
	}
	return tokens{r.tr, i}, true
}

// unplaced is the fault where tree and text disagree: it must never be seen.
func unplaced() *Fault {
	return &Fault{Code: Internal, Message: "the statement could not be rewritten", Offset: -1}
}

func (t *tokens) done() bool { return t.i >= len(t.tr.Tokens) }

// text is the token's text, "" behind the last one.
func (t *tokens) text() string {
	if t.i < 0 || t.done() {
		return ""
	}
	k := t.tr.Tokens[t.i]
	return t.tr.Text[k.Start:k.End]
}

// is tells whether the token is that word (in any case, unquoted) or sign.
func (t *tokens) is(word string) bool { return isWord(t.text(), word) }

// start is the token's offset, end that behind the one before it.
func (t *tokens) start() int {
	if t.done() {
		return len(t.tr.Text)
	}
	return t.tr.Tokens[t.i].Start
}

func (t *tokens) end() int {
	if t.i < 1 || t.i > len(t.tr.Tokens) {
		return len(t.tr.Text)
	}
	return t.tr.Tokens[t.i-1].End
}

// name passes a name of one or more parts.
func (t *tokens) name() {
	t.i++
	for t.is(".") {
		t.i += 2
	}
}

// group passes a bracketed group when the cursor is on its opening bracket.
func (t *tokens) group() {
	depth := 0
	for !t.done() {
		depth += t.nesting()
		t.i++
		if depth == 0 {
			return
		}
	}
}

// nesting is what the token adds to the depth of brackets.
func (t *tokens) nesting() int {
	switch t.text() {
	case "(", "[":
		return 1
	case ")", "]":
		return -1
	}
	return 0
}

// seek passes tokens at the cursor's own depth until one of the words; it stops at the
// bracket that closes around it and behind the last token. A word behind a dot is a
// column's name.
func (t *tokens) seek(words ...string) {
	for depth := 0; !t.done(); t.i++ {
		if depth == 0 && (t.i == 0 || t.tr.Tokens[t.i-1].Kind != Punct || !t.before(".")) && slices.ContainsFunc(words, t.is) {
			return
		}
		if depth += t.nesting(); depth < 0 {
			return
		}
	}
}

func (t *tokens) before(sign string) bool {
	back := tokens{t.tr, t.i - 1}
	return back.text() == sign
}
