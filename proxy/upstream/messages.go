package upstream

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxMessage bounds a message in characters; an unreadable value can be a megabyte.
const maxMessage = 300

// hidden stands for what a message quotes and the caller's text does not hold.
const hidden = "…"

// message is Postgres' primary message as far as it may be shown. A predicate can fail on
// a row that the caller must not see, and the message then quotes that row's value; so
// what is quoted, and every word with a digit, is shown only where the caller's text
// holds it literally. Arguments don't count: values of theirs have no place in errors.
func (st *statement) message(pg *pgconn.PgError) string {
	withheld := "Postgres refused the statement with SQLSTATE " + pg.Code
	if pg.Code == stringTruncated {
		return plain(pg, pg.Message, withheld) // quotes a type, never a value
	}
	if !worded(pg.Code) {
		return withheld
	}
	head, quoted, tail, ok := splitQuoted(pg.Message)
	if !ok {
		return withheld
	}
	text := st.words(head)
	if len(head) < len(pg.Message) {
		text += `"` + st.quoted(quoted) + `"` + st.words(tail)
	}
	// What was cut is no longer ASCII, what was quoted need not be: ask about the rest.
	if plain(pg, head+tail, "") == "" {
		return withheld
	}
	return shorten(text)
}

// worded tells the classes whose messages follow Postgres' own patterns. The text of an
// error that a function raises itself (class P0) can be anything.
func worded(state string) bool {
	switch sqlClass(state) {
	case "0A", "21", "22", "34", "3F", "42", "44", "54", "55":
		return true
	default:
		return false
	}
}

// plain gives message, or otherwise where it may be in another language than English:
// its quotation marks would not be recognised.
func plain(pg *pgconn.PgError, message, otherwise string) string {
	if pg.Severity != pg.SeverityUnlocalized {
		return otherwise
	}
	for i := range len(message) {
		if message[i] >= utf8.RuneSelf || message[i] < ' ' {
			return otherwise
		}
	}
	return shorten(message)
}

func shorten(message string) string {
	if utf8.RuneCountInString(message) <= maxMessage {
		return message
	}
	return string([]rune(message)[:maxMessage]) + hidden
}

// splitQuoted cuts a message at its first and last quotation mark. A quoted value's own
// marks are not escaped, so nothing between those two can be told from a value.
func splitQuoted(message string) (head, quoted, tail string, ok bool) {
	first, last := strings.IndexByte(message, '"'), strings.LastIndexByte(message, '"')
	switch {
	case first < 0:
		return message, "", "", true
	case first == last:
		return "", "", "", false
	default:
		return message[:first], message[first+1 : last], message[last+1:], true
	}
}

// connectors are what Postgres puts between two quoted names.
const connectors = `^(?: for| in| of| on| and| or|,)?(?: table| relation| column| type| parameter)? $`

var connector = regexp.MustCompile(connectors)

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

var (
	wordWithDigit = regexp.MustCompile(`[\w.$]*\d[\w.$]*`)
	parameter     = regexp.MustCompile(`parameter \$(\d{1,5})`)
)

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

func (st *statement) argument(n int) string {
	if n < 1 || n > len(st.params) || st.params[n-1].Index < 0 {
		return "a parameter"
	}
	return "args[" + strconv.Itoa(st.params[n-1].Index) + "]"
}

// holds tells whether the caller's text has text in it. What is sent holds the caller's
// text in pieces, and the position of each character says whose it is.
func (st *statement) holds(text string) bool {
	if text == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(st.sql[from:], text)
		if at < 0 {
			return false
		}
		start := utf8.RuneCountInString(st.sql[:from+at])
		if st.position(start+1) > 0 && st.position(start+utf8.RuneCountInString(text)) > 0 {
			return true
		}
		from += at + 1
	}
}
