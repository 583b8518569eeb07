package lex

import "strings"

// UsesParseTime tells whether a constant of the text may name a time by the clock: 'now', 'today
// 12:00' and the like, which Postgres' input of dates and times knows (PostgreSQL manual,
// "Special Date/Time Inputs").
func (t *Translation) UsesParseTime() bool {
	for _, k := range t.Tokens {
		if k.Kind != String {
			continue
		}
		text := strings.ToLower(t.Text[k.Start:k.End])
		if _, plain := Unquoted(text); !plain && text[0] != '$' { // escapes or pieces may spell one
			return true
		}
		for _, word := range []string{"now", "today", "tomorrow", "yesterday"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}
