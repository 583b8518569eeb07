package policy

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// maxScript bounds a file of statements, in bytes.
const maxScript = 16 << 20

// Piece is one statement of a script, without its semicolon. Line counts from 1.
type Piece struct {
	Text string
	Line int
}

// Split cuts a script of a dialect at its semicolons, as Postgres' lexer sees them: one in a string,
// a quoted name or a comment is none. A piece that holds nothing is left out; where the
// lexer gives up, the rest is one piece, for Decide to refuse.
func Split(script string, d Dialect) []Piece {
	var pieces []Piece
	line := 1
	for script != "" {
		end, next := len(script), len(script)
		if at := lex.Semicolon(script); at >= 0 {
			end, next = at, at+1
		}
		text := strings.TrimSpace(script[:end])
		if _, fault := d.read(text, lex.Guard{MaxBytes: maxScript}); fault == nil || fault.Code != refusal.EmptyQuery {
			lead := len(script[:end]) - len(strings.TrimLeft(script[:end], " \t\r\n"))
			pieces = append(pieces, Piece{Text: text, Line: line + strings.Count(script[:lead], "\n")})
		}
		line += strings.Count(script[:next], "\n")
		script = script[next:]
	}
	return pieces
}
