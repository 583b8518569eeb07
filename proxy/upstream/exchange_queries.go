package upstream

import (
	"slices"
	"strings"
)

// queries are the words that a statement on rows begins with. All else is kept from the
// connections, whatever the policy engine let through: a PREPARE, by itself or in a DO,
// would leave a statement of one server's in place of the prelude that the next one runs,
// and no wall in the database could tell. (So would a function that runs a text as SQL and
// that the role may execute; Postgres has none that does not run it read-only.) The text is
// read here once more: with the engine's own reading this would not be another wall.
var queries = []string{"select", "with", "values", "table", "insert", "update", "delete"}

// isQuery tells whether a text begins as a statement on rows does. The extended protocol
// takes one statement, so what it begins with is what it is.
func isQuery(text string) bool {
	text = afterSpace(text)
	if strings.HasPrefix(text, "(") { // that of a SELECT, or no statement
		return true
	}
	return beginsWith(text, queries)
}

func beginsWith(text string, words []string) bool {
	end := strings.IndexFunc(text, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '$' && r < 0x80
	})
	if end < 0 {
		end = len(text)
	}
	return slices.ContainsFunc(words, func(q string) bool { return len(q) == end && strings.EqualFold(q, text[:end]) })
}

// commands are the words that the commands begin with which reach the database. Their text is
// the engine's own.
var commands = []string{"begin", "commit", "rollback", "savepoint", "release", "declare", "fetch", "move", "close", "copy", "set"}

// isCommand tells whether a text begins as such a command does.
func isCommand(text string) bool { return beginsWith(text, commands) }

// afterSpace leaves out what Postgres takes for white space; comments nest. It gives ""
// where one does not end.
func afterSpace(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\n\r\f\v")
		switch {
		case strings.HasPrefix(text, "--"):
			end := strings.IndexAny(text, "\r\n")
			if end < 0 {
				return ""
			}
			text = text[end:]
		case strings.HasPrefix(text, "/*"):
			text = afterComment(text)
		default:
			return text
		}
	}
}

func afterComment(text string) string {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			if depth--; depth == 0 {
				return text[i+2:]
			}
			i++
		}
	}
	return ""
}
