package upstream

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// What this file shows of a message is the caller's own text. It is for errors of the
// analysis alone; failure_messages.go says why.

// quoted gives what stands between a message's outer quotation marks: one name or value,
// or several with a connector between each two.
func (st *statement) quoted(text string) string {
	if shown := st.shown(text); shown != hidden {
		return shown
	}
	parts := strings.Split(text, `"`)
	if len(parts)%2 == 0 {
		return hidden
	}
	for i, part := range parts {
		if i%2 == 1 && !connector.MatchString(part) {
			return hidden
		}
		if i%2 == 0 {
			parts[i] = st.shown(part)
		}
	}
	return strings.Join(parts, `"`)
}

// shown gives a quoted text where it is the caller's, also without the qualification that
// the rewrite put before a name.
func (st *statement) shown(text string) string {
	if st.holds(text) {
		return text
	}
	if _, name, found := strings.Cut(text, "."); found && st.holds(name) {
		return name
	}
	return hidden
}

// words gives the part of a message that is not quoted: numbers only where they are the
// caller's, parameters by the caller's own count.
func (st *statement) words(text string) string {
	m := parameter.FindStringSubmatchIndex(text)
	if m == nil {
		return wordWithDigit.ReplaceAllStringFunc(text, func(w string) string {
			if st.holds(w) {
				return w
			}
			return hidden
		})
	}
	n, _ := strconv.Atoi(text[m[2]:m[3]])
	return st.words(text[:m[0]]) + st.argument(n) + st.words(text[m[1]:])
}

// holds tells whether the caller's text has text in it. What is sent holds the caller's
// text in pieces, and the position of each character says whose it is.
func (st *statement) holds(text string) bool {
	if text == "" {
		return false
	}
	sent := st.text()
	for from := 0; ; {
		at := strings.Index(sent[from:], text)
		if at < 0 {
			return false
		}
		start := utf8.RuneCountInString(sent[:from+at])
		if st.position(start+1) > 0 && st.position(start+utf8.RuneCountInString(text)) > 0 {
			return true
		}
		from += at + 1
	}
}
