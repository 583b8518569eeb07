package rewrite

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
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

func (r *rewriter) open(at int, text string)  { r.edits = append(r.edits, edit{at, at, opening, text}) }
func (r *rewriter) close(at int, text string) { r.edits = append(r.edits, edit{at, at, closing, text}) }
func (r *rewriter) replace(start, end int, text string) {
	r.edits = append(r.edits, edit{start, end, replacing, text})
}

// apply makes the final text. Edits that overlap contradict each other: that is a fault.
func apply(source string, edits []edit) (string, []facts.Piece, *refusal.Refusal) {
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
			return "", nil, refusal.Unplaced()
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
	pieces []facts.Piece
	last   byte
}

// keep writes a run of the source.
func (w *writer) keep(source string, start, end int) {
	if start >= end {
		return
	}
	w.space(source[start])
	w.pieces = append(w.pieces, facts.Piece{Final: w.out.Len(), Source: start, Length: end - start})
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

// at places a cursor on the token that starts at an offset; ok is false where none does.
func (r *rewriter) at(offset int) (t lex.Cursor, ok bool) {
	i := -1
	if offset >= 0 {
		i = r.tr.TokenAt(offset)
	}
	if i < 0 {
		r.fail(refusal.Unplaced())
		return lex.Cursor{Source: r.tr, Pos: len(r.tr.Tokens)}, false
	}
	return lex.Cursor{Source: r.tr, Pos: i}, true
}
