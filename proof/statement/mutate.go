package statement

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// swaps are words that mutation puts for one another.
var swaps = map[string][]string{
	"AND": {"OR"}, "OR": {"AND"}, "=": {"<>", "<", ">="}, "<>": {"="}, "<": {">="}, ">": {"<="}, "JOIN": {"LEFT JOIN", "FULL JOIN", "CROSS JOIN"},
	"LEFT JOIN": {"JOIN", "RIGHT JOIN", "FULL JOIN"}, "RIGHT JOIN": {"LEFT JOIN", "JOIN"}, "FULL JOIN": {"JOIN"}, "CROSS JOIN": {"NATURAL JOIN"},
	"UNION": {"UNION ALL", "EXCEPT"}, "UNION ALL": {"UNION", "INTERSECT"}, "EXCEPT": {"UNION ALL"}, "INTERSECT": {"UNION"}, "IN": {"NOT IN"}, "EXISTS": {"NOT EXISTS"},
	"ANY": {"ALL"}, "ALL": {"ANY"}, "true": {"false", "NULL"}, "WHERE": {"HAVING", "WHERE NOT"}, "NOTHING": {"UPDATE SET server_id = server_id"}, "LIKE": {"~", "="},
	"min": {"max"}, "max": {"min"}, "count": {"sum"}, "MATERIALIZED": {"NOT MATERIALIZED"}, "GROUP": {"ORDER"},
}

// Mutate damages a statement in one to three places. Most of what comes out is no statement
// any more, or one that must be refused; what is admitted must still be safe.
func Mutate(st Statement, r *rand.Rand) Statement {
	st.Tokens = slices.Clone(st.Tokens)
	st.Damage = true
	for range 1 + r.IntN(3) {
		if len(st.Tokens) > 2 {
			st.Tokens = damage(st.Tokens, r)
		}
	}
	if text, _ := st.Text(""); undetermined(st) || starred(text) { // its table may be another one than the * was made for
		st.Loose = true
	}
	return st
}

// undetermined tells whether a text has what may make its answer a matter of chance once
// nobody vouches for its order, or a * that was spelled out for what it stood for before.
func undetermined(st Statement) bool {
	for _, t := range st.Tokens {
		switch strings.ToUpper(t.Text) {
		case "LIMIT", "OFFSET", "FETCH", "OVER", "STRING_AGG", "ARRAY_AGG", "JSONB_AGG", "ON CONFLICT", "CONFLICT", "RECURSIVE", "SKIP LOCKED", "DEFAULT":
			return true
		}
		if t.Hole == Condition || t.Hole == Given { // which may be no scope condition any more
			return true
		}
		if t.Plain != "" && !strings.Contains(t.Text, "??") {
			return true
		}
	}
	// The one number of all scope conditions has the type of the first of them, where a
	// mutation has left a condition that is none any more.
	return slices.Contains(st.Uses, "UPDATE FROM") || st.Dollar && st.Damage
}

func damage(tokens []Token, r *rand.Rand) []Token {
	at := r.IntN(len(tokens))
	switch r.IntN(9) {
	case 0: // leave some out
		size := 1 + r.IntN(4)
		if at+size < len(tokens) && balanced(tokens[at:at+size]) {
			return slices.Delete(tokens, at, at+size)
		}
	case 1: // another of the same statement's words
		tokens[at] = tokens[r.IntN(len(tokens))]
	case 2: // exchange two
		other := r.IntN(len(tokens))
		tokens[at], tokens[other] = tokens[other], tokens[at]
	case 3: // repeat what is in brackets elsewhere
		if end := closing(tokens, at); tokens[at].Text == "(" && end > 0 {
			other := r.IntN(len(tokens))
			return slices.Insert(tokens, other, slices.Clone(tokens[at:end+1])...)
		}
	case 4: // a condition that is always true, or NULL
		if word := strings.ToUpper(tokens[at].Text); word == "WHERE" || word == "AND" || word == "ON" {
			return slices.Insert(tokens, at+1, Token{Text: []string{"true OR", "NOT", "NULL IS NULL OR", "1 = 1 OR"}[r.IntN(4)]})
		}
	case 5: // take brackets away
		if end := closing(tokens, at); tokens[at].Text == "(" && end > 0 {
			return slices.Delete(slices.Delete(tokens, end, end+1), at, at+1)
		}
	default:
		return swap(tokens, r)
	}
	return tokens
}

// swap puts another word of swaps.
func swap(tokens []Token, r *rand.Rand) []Token {
	for range 10 {
		at := r.IntN(len(tokens))
		if others := swaps[tokens[at].Text]; tokens[at].Hole == Word && len(others) > 0 {
			tokens[at] = Token{Text: others[r.IntN(len(others))]}
			break
		}
	}
	return tokens
}
