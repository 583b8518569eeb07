package tree

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// maxTreeDepth bounds the tree that is taken over from C, in messages inside each
// other; an operator inside another's operand is two of them. Postgres' own regression
// tests stay below 26 but for one in a thousand.
const maxTreeDepth = 400

// maxMessage bounds the parser's message, which quotes whole constants, in bytes.
const maxMessage = 200

// ParseGuard bounds what reaches the parser, whoever calls. A caller's 10,240 bytes
// become up to 41 KB through their placeholders, and more through the rewrite; at
// 64 KiB the worst of the texts that pass takes the parser about an eighth of a second.
// The size alone is no safety: 47 KB of 1+1+… overflow its stack. MaxChain is.
// The rewrite adds brackets around what may stand in a hundred of the caller's.
func ParseGuard() lex.Guard { return lex.Guard{MaxBytes: 64 << 10, MaxDepth: 200} }

// Statement is the tree of one statement.
type Statement = *pg.RawStmt

// Parse gives the tree of the one statement that a text holds, with Postgres' own
// grammar (release 17). Placeholders are $n. Offsets in the tree and in the faults are
// in bytes of text. Whatever text it is given, Parse neither crashes nor takes long.
func Parse(text string) (*pg.RawStmt, *refusal.Refusal) {
	if _, f := lex.Scan(text, ParseGuard(), false); f != nil {
		return nil, f
	}
	wire, err := parser.ParseToProtobuf(text)
	if err != nil {
		return nil, parseFault(text, err)
	}
	var tree pg.ParseResult
	if err := (proto.UnmarshalOptions{RecursionLimit: maxTreeDepth}).Unmarshal(wire, &tree); err != nil {
		return nil, treeFault(err)
	}
	switch {
	case len(tree.Stmts) == 0:
		return nil, &refusal.Refusal{Code: refusal.EmptyQuery, Message: "the text holds no statement", Offset: -1}
	case len(tree.Stmts) > 1:
		return nil, &refusal.Refusal{Code: refusal.MultipleStatements, Message: "only one statement is allowed", Offset: int(tree.Stmts[1].StmtLocation)}
	}
	return tree.Stmts[0], nil
}

// parseFault tells what the parser said. Its messages hold Postgres' words and, after
// "at or near", a token of the text.
func parseFault(text string, err error) *refusal.Refusal {
	var e *parser.Error
	if !errors.As(err, &e) {
		return &refusal.Refusal{Code: refusal.Internal, Message: "the statement could not be parsed", Offset: -1}
	}
	fault := lex.SyntaxError(charOffset(text, e.Cursorpos), shorten(e.Message))
	switch { // which are no errors of syntax to Postgres, and the parser does not tell its SQLSTATE
	case e.Message == "invalid Unicode escape" && e.Funcname != "str_udeescape": // of E'…', not of U&'…'
		fault.SQLState = "22025"
	case strings.HasPrefix(e.Message, "invalid byte sequence for encoding"):
		fault.SQLState = "22021"
	}
	return fault
}

// treeFault tells why a tree could not be read.
func treeFault(err error) *refusal.Refusal {
	if strings.Contains(err.Error(), "recursion") {
		return refusal.Unsupported(-1, "the statement is nested too deeply")
	}
	return &refusal.Refusal{Code: refusal.Internal, Message: "the statement's tree could not be read", Offset: -1}
}

// charOffset gives the byte offset of a character, counted from 1; -1 for 0, which is
// how the parser says that it knows no place.
func charOffset(text string, position int) int {
	if position < 1 {
		return -1
	}
	at := 0
	for ; position > 1 && at < len(text); position-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// shorten cuts a message to maxMessage bytes, between characters.
func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}

// TooLarge tells a text that outgrew the parser's guard from one that is a defect.
func TooLarge(f, otherwise *refusal.Refusal) *refusal.Refusal {
	if f.Code == refusal.QueryTooLong || f.Code == refusal.ConstructNotAllowed {
		return refusal.Unsupported(-1, "the statement grows too large when it is restricted: use fewer tables or placeholders")
	}
	return otherwise
}
