package sqltree

import "strings"

// Fleeting tells whether a constant of the text may name a time by the clock: 'now', 'today
// 12:00' and the like, which Postgres' input of dates and times knows (PostgreSQL manual,
// "Special Date/Time Inputs").
func (t *Translation) Fleeting() bool {
	for _, k := range t.Tokens {
		if k.Kind != String {
			continue
		}
		text := strings.ToLower(t.Text[k.Start:k.End])
		if _, plain := unquoted(text); !plain && text[0] != '$' { // escapes or pieces may spell one
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
