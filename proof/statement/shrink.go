package statement

import "slices"

// Shrink reduces a statement to one from which nothing can be left out without fails
// turning false. It is asked at most limit times.
func Shrink(st Statement, limit int, fails func(Statement) bool) Statement {
	ask := func(tokens []Token) bool {
		if limit--; limit < 0 || len(tokens) == 0 {
			return false
		}
		try := st
		try.Tokens = tokens
		return fails(try)
	}
	for changed := true; changed && limit > 0; {
		changed = false
		for size := max(len(st.Tokens)/2, 1); size >= 1; size = size * 2 / 3 {
			for at := 0; at+size <= len(st.Tokens); {
				if shorter := without(st.Tokens, at, size); shorter != nil && ask(shorter) {
					st.Tokens, changed = shorter, true
				} else {
					at++
				}
			}
		}
		for at := 0; at < len(st.Tokens); at++ {
			for _, simpler := range simplify(st.Tokens, at) {
				if ask(simpler) {
					st.Tokens, changed = simpler, true
					break
				}
			}
		}
	}
	return st
}

// without cuts tokens out; nil where that would leave a bracket alone.
func without(tokens []Token, at, size int) []Token {
	if !balanced(tokens[at : at+size]) {
		return nil
	}
	return slices.Concat(tokens[:at], tokens[at+size:])
}

func balanced(tokens []Token) bool {
	depth := 0
	for _, t := range tokens {
		depth += turn(t.Text)
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

func turn(word string) int {
	switch word {
	case "(", "[":
		return 1
	case ")", "]":
		return -1
	}
	return 0
}

// simplify puts something simpler in the place of what is in brackets, or takes the
// brackets away, or turns a placeholder into a constant.
func simplify(tokens []Token, at int) [][]Token {
	if tokens[at].Hole == Value {
		return [][]Token{slices.Concat(tokens[:at], []Token{{Text: constant(Text, tokens[at].Arg.Text)}}, tokens[at+1:])}
	}
	if tokens[at].Text != "(" {
		return nil
	}
	end := closing(tokens, at)
	if end < 0 {
		return nil
	}
	var all [][]Token
	if end-at != 2 {
		all = append(all, slices.Concat(tokens[:at+1], []Token{{Text: "1"}}, tokens[end:]), slices.Concat(tokens[:at+1], []Token{{Text: "true"}}, tokens[end:]))
	}
	return append(all, slices.Concat(tokens[:at], tokens[at+1:end], tokens[end+1:]))
}

// closing gives the position of the bracket that closes the one at a position.
func closing(tokens []Token, at int) int {
	depth := 0
	for i := at; i < len(tokens); i++ {
		if depth += turn(tokens[i].Text); depth == 0 {
			return i
		}
	}
	return -1
}
