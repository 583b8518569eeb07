package lex

import "github.com/tenantgate/tenantgate/policy/sql/refusal"

// MaxCopies bounds what the parser copies for SET (a, b, …) = source, in tokens, long ones
// counted as several: its answer holds the source once for each column, and a SET inside
// the source multiplies with that. 8 KB of such a text take a minute and two gigabytes,
// and nothing can stop it.
const MaxCopies = 10_000

// copies refuses a text with too many of those copies.
type copies struct {
	text   string
	tokens []Token
	times  int      // how often the present token is copied
	open   []source // the sources around the present token, outermost first
}

// source is a source that the present token is part of.
type source struct{ depth, before int }

func checkCopies(text string, tokens []Token) *refusal.Refusal {
	c := copies{text: text, tokens: tokens, times: 1}
	if !c.any() {
		return nil
	}
	opened, columns := c.brackets()
	total, depth := 0, 0
	for i, t := range tokens {
		switch {
		case c.is(i, "(") || c.is(i, "["):
			depth++
		case c.is(i, ")") || c.is(i, "]"):
			depth--
			c.end(depth + 1)
		case c.is(i, ",") || c.word(i, "where") || c.word(i, "returning"):
			c.end(depth)
		}
		if c.times > 1 {
			total += c.times * (1 + (t.End-t.Start)/32)
		}
		if total > MaxCopies {
			f := refusal.Unsupported(t.Start, "SET (…) = … has too many columns for what it is set to")
			f.Hint = "set the columns one by one"
			return f
		}
		// The source begins behind the = that follows a list of columns.
		if c.follows(i) && c.isList(opened[i-1]) {
			c.open = append(c.open, source{depth, c.times})
			c.times = min(c.times*columns[i-1], MaxCopies+1)
		}
	}
	return nil
}

// any tells whether something may be a source, which few texts have.
func (c *copies) any() bool {
	for i := range c.tokens {
		if c.follows(i) {
			return true
		}
	}
	return false
}

// follows tells whether a token is the = behind a bracket.
func (c *copies) follows(i int) bool { return c.is(i, "=") && i > 0 && c.is(i-1, ")") }

// brackets gives for each closing bracket its opening one, and one more than the commas
// that stand in it at its own depth.
func (c *copies) brackets() (opened, items []int) {
	opened, items = make([]int, len(c.tokens)), make([]int, len(c.tokens))
	var stack []int
	count := make([]int, 0, 16)
	for i := range c.tokens {
		switch {
		case c.is(i, "(") || c.is(i, "["):
			stack, count = append(stack, i), append(count, 1)
		case c.is(i, ",") && len(count) > 0:
			count[len(count)-1]++
		case (c.is(i, ")") || c.is(i, "]")) && len(stack) > 0:
			last := len(stack) - 1
			opened[i], items[i] = stack[last], count[last]
			stack, count = stack[:last], count[:last]
		}
	}
	return opened, items
}

// isList tells whether the bracket at i opens a list of columns to be set, as far as what
// stands before it tells: a comparison of rows in a WHERE follows another word.
func (c *copies) isList(i int) bool {
	return c.is(i, "(") && i > 0 && (c.word(i-1, "set") || c.is(i-1, ","))
}

// end ends the sources that are open at a depth or beyond.
func (c *copies) end(depth int) {
	for n := len(c.open); n > 0 && c.open[n-1].depth >= depth; n = len(c.open) {
		c.times = c.open[n-1].before
		c.open = c.open[:n-1]
	}
}

func (c *copies) is(i int, sign string) bool {
	t := c.tokens[i]
	return (t.Kind == Punct || t.Kind == Operator) && c.text[t.Start:t.End] == sign
}

func (c *copies) word(i int, word string) bool {
	t := c.tokens[i]
	return t.Kind == Ident && (i == 0 || !c.is(i-1, ".")) && isWord(c.text[t.Start:t.End], word)
}
