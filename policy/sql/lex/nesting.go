package lex

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// nesting bounds how deep the syntax tree of a text can become, from its tokens alone.
// Brackets nest, and so do chains such as 1+1+… or NOT NOT …, each of whose words and
// operators may put the others one level deeper. Constants and commas do not, and
// neither do AND and OR, of which the grammar makes flat lists.
type nesting struct {
	frames []frame // the open brackets' chains, outermost first; never empty
	chain  int     // the sum of the frames' chains
}

// frame is what stands between an open bracket and the present place.
type frame struct {
	chain   int  // words and operators since the last end of a chain
	between bool // the next AND belongs to BETWEEN, so it ends none
}

// add takes the lexer's newest token.
func (n *nesting) add(l *lexer) *refusal.Refusal {
	t := l.tokens[len(l.tokens)-1]
	switch text := l.text[t.Start:t.End]; {
	case t.Kind == Punct:
		n.punct(text)
	case t.Kind == Ident && !l.qualified():
		n.word(text)
	case t.Kind == Ident, t.Kind == Operator:
		n.step()
	}
	switch {
	case len(n.frames)-1 > l.guard.MaxDepth:
		return refusal.Unsupported(t.Start, fmt.Sprintf("at most %d brackets may be open at a place", l.guard.MaxDepth))
	case n.chain > l.guard.MaxChain:
		return refusal.Unsupported(t.Start, "the statement is nested too deeply")
	}
	return nil
}

func (n *nesting) last() *frame { return &n.frames[len(n.frames)-1] }

func (n *nesting) step() {
	n.last().chain++
	n.chain++
}

func (n *nesting) punct(text string) {
	switch text {
	case "(", "[":
		n.frames = append(n.frames, frame{})
	case ")", "]":
		n.close()
	case ",":
		n.end()
	case ".": // the parts of a name are a flat list
	default:
		n.step()
	}
}

// end ends the innermost chain.
func (n *nesting) end() {
	n.chain -= n.last().chain
	*n.last() = frame{}
}

// close takes a closing bracket. One that closes nothing is the parser's to refuse.
func (n *nesting) close() {
	if len(n.frames) > 1 {
		n.chain -= n.last().chain
		n.frames = n.frames[:len(n.frames)-1]
	}
}

func (n *nesting) word(text string) {
	n.step()
	switch {
	case isWord(text, "between"):
		n.last().between = true
	case isWord(text, "and") && n.last().between:
		n.last().between = false
	case isWord(text, "and"), isWord(text, "or"):
		n.end()
	}
}

// qualified tells whether the newest token stands behind a dot: t.and is a column.
func (l *lexer) qualified() bool {
	if len(l.tokens) < 2 {
		return false
	}
	before := l.tokens[len(l.tokens)-2]
	return before.Kind == Punct && l.text[before.Start:before.End] == "."
}
