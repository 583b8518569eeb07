package upstream

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxMessage bounds a message in characters; an unreadable value can be a megabyte.
const maxMessage = 300

// hidden stands for what a message quotes and the caller must not see.
const hidden = "…"

// message is Postgres' primary message as far as it may be shown.
//
// A predicate can fail on a row that the caller must not see, and the message then quotes
// that row's value. The caller's text is no help to tell such a value: it can hold every
// character there is, in a comment. So what is quoted, and every word with a digit, is
// shown only of an error that Postgres raised while it analysed the text, before it read
// any row, and even then only where the text holds it. Arguments don't count: values of
// theirs have no place in errors.
func (st *statement) message(pg *pgconn.PgError, at phase) string {
	withheld := "Postgres refused the statement with SQLSTATE " + pg.Code
	if pg.Code == protocolViolation && bindText.MatchString(pg.Message) {
		return pg.Message
	}
	if !worded(pg.Code) || at != analysing && !plainContext(pg) {
		return withheld
	}
	head, quoted, tail, ok := splitQuoted(pg.Message)
	if !ok || !plain(pg, head+tail) {
		return withheld
	}
	words, inner := mask, func(string) string { return hidden }
	if at == analysing {
		words, inner = st.words, st.quoted
	}
	text := words(head)
	if len(head) < len(pg.Message) {
		text += `"` + inner(quoted) + `"` + words(tail)
	}
	return shorten(text)
}

// bindText is what Postgres says of the numbers and lengths of what is bound: they are the
// caller's.
var bindText = regexp.MustCompile(`^(?:bind message has \d{1,5} result formats but query has \d{1,5} columns|insufficient data left in message|no data left in message)$`)

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

// plainContext tells whether an error comes from Postgres' own functions. What a function
// of the database raises, or the SQL in it, comes with a context that names the function,
// and can say anything without quotation marks.
func plainContext(pg *pgconn.PgError) bool {
	return pg.Where == "" || strings.HasPrefix(pg.Where, "JSON data, ") || boundText.MatchString(pg.Where)
}

// plain tells whether the unquoted part of a message is English: in another language the
// quotation marks would not be recognised.
func plain(pg *pgconn.PgError, message string) bool {
	if pg.Severity != pg.SeverityUnlocalized {
		return false
	}
	for i := range len(message) {
		if message[i] >= utf8.RuneSelf || message[i] < ' ' {
			return false
		}
	}
	return true
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

// number is a word with a digit in it, or one that stands for a number without.
var number = regexp.MustCompile(`[\w.$:+-]*\d[\w.$:+-]*|(?i)-?\b(?:nan|inf|infinity)\b`)

// mask hides what can come from a row in the unquoted part of a message.
func mask(text string) string { return number.ReplaceAllString(text, hidden) }

// connectors are what Postgres puts between two quoted names.
const connectors = `^(?: for| in| of| on| and| or|,)?(?: table| relation| column| type| parameter)? $`

var (
	connector     = regexp.MustCompile(connectors)
	wordWithDigit = regexp.MustCompile(`[\w.$]*\d[\w.$]*`)
	parameter     = regexp.MustCompile(`parameter \$(\d{1,5})`)
)

// argument is what a caller knows the n-th parameter as.
func (st *statement) argument(n int) string {
	if n < 1 || n > len(st.params) {
		return "a parameter"
	}
	return st.named(st.params[n-1])
}
