package command

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// copyOptions are those of a COPY that were given, so that nothing else is sent.
type copyOptions struct {
	style CopyStyle
	given [8]bool // by copyOption
	force []string
}

// copyOption is an option of COPY.
type copyOption uint8

const (
	noOption copyOption = iota
	formatOption
	delimiterOption
	nullOption
	headerOption
	quoteOption
	escapeOption
	forceOption // the columns in force, or all for none
)

// copyNames are the options as the grammar names them; those of both syntaxes are one there.
var copyNames = map[string]copyOption{
	"format": formatOption, "delimiter": delimiterOption, "null": nullOption, "header": headerOption,
	"quote": quoteOption, "escape": escapeOption, "force_quote": forceOption,
}

// copyOptions reads the options, by Postgres' rules.
func (r *directions) copyOptions(s *pg.CopyStmt) {
	o := &r.out.options
	for _, n := range s.Options {
		e := n.GetDefElem()
		if name := e.GetDefname(); name == "encoding" {
			if !isUTF8(e.GetArg().GetString_().GetSval()) {
				r.fail(at(e, unsupported("COPY writes and reads UTF8 only", "leave ENCODING out")))
			}
			continue
		}
		which := copyNames[e.GetDefname()]
		switch {
		case which == noOption || which == forceOption && s.IsFrom:
			r.fail(at(e, unsupported("the option "+strings.ToUpper(e.GetDefname())+" of COPY is not supported", "")))
			return
		case o.given[which]:
			r.fail(at(e, copyError("42601", "conflicting or redundant options")))
			return
		}
		o.given[which] = true
		r.fail(at(e, o.take(which, e.Arg)))
	}
	o.defaults()
	r.fail(o.check())
	r.out.Copy = o.style
}

// at gives a fault the place of an option.
func at(e *pg.DefElem, f *refusal.Refusal) *refusal.Refusal {
	if f != nil {
		f.Offset = int(e.GetLocation())
	}
	return f
}

// copyError is what Postgres itself would say.
func copyError(state, message string) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.QueryFailed, SQLState: state, Message: message, Offset: -1}
}

// isUTF8 tells the names that Postgres has for UTF8: it looks at letters and digits only.
func isUTF8(name string) bool {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, lower(name))
	return name == "utf8" || name == "unicode"
}

// take reads one option.
func (o *copyOptions) take(which copyOption, arg *pg.Node) *refusal.Refusal {
	text, ok := arg.GetString_().GetSval(), arg.GetString_() != nil
	switch which {
	case headerOption:
		return o.header(arg)
	case forceOption:
		return o.forced(arg)
	case formatOption:
		format, known := map[string]CopyFormat{"text": CopyText, "csv": CopyCSV, "binary": CopyBinary}[text]
		if o.style.Format = format; !known {
			return copyError("22023", "COPY format not recognized")
		}
		return nil
	case nullOption:
		if o.style.Null = text; !ok {
			return copyError("42601", "the option NULL of COPY requires a text")
		}
		return nil
	}
	if len(text) != 1 {
		return copyError("0A000", "the delimiter, quote and escape of COPY must each be a single one-byte character")
	}
	*map[copyOption]*byte{delimiterOption: &o.style.Delimiter, quoteOption: &o.style.Quote, escapeOption: &o.style.Escape}[which] = text[0]
	return nil
}

// header reads HEADER, whose value may be left out.
func (o *copyOptions) header(arg *pg.Node) *refusal.Refusal {
	if arg == nil || arg.Node == nil {
		o.style.Header = true
		return nil
	}
	word := lower(arg.GetString_().GetSval())
	switch {
	case arg.GetBoolean() != nil:
		o.style.Header = arg.GetBoolean().Boolval
	case arg.GetInteger() != nil && arg.GetInteger().Ival&^1 == 0:
		o.style.Header = arg.GetInteger().Ival == 1
	case word == "true", word == "on":
		o.style.Header = true
	case word == "false", word == "off":
	case word == "match":
		return unsupported("HEADER MATCH is not supported", "use HEADER, which leaves the first line out")
	default:
		return copyError("42601", "header requires a Boolean value")
	}
	return nil
}

// forced reads FORCE_QUOTE.
func (o *copyOptions) forced(arg *pg.Node) *refusal.Refusal {
	if arg.GetAStar() != nil {
		return nil
	}
	names, ok := tree.Strings(arg.GetList().GetItems())
	if o.force = names; !ok || len(names) == 0 {
		return copyError("22023", `argument to option "force_quote" must be a list of column names`)
	}
	return nil
}

// defaults sets what was not given.
func (o *copyOptions) defaults() {
	s := &o.style
	csv := s.Format == CopyCSV
	if s.Format == CopyBinary {
		return
	}
	if !o.given[delimiterOption] {
		s.Delimiter = map[bool]byte{false: '\t', true: ','}[csv]
	}
	if !o.given[nullOption] {
		s.Null = map[bool]string{false: `\N`, true: ""}[csv]
	}
	if csv && !o.given[quoteOption] {
		s.Quote = '"'
	}
	if csv && !o.given[escapeOption] {
		s.Escape = s.Quote
	}
}

// check refuses what Postgres refuses, of options that each are right.
func (o *copyOptions) check() *refusal.Refusal {
	s, has := o.style, o.given
	csv := s.Format == CopyCSV
	switch {
	case s.Format == CopyBinary && (has[delimiterOption] || has[nullOption]):
		return copyError("42601", "cannot specify DELIMITER or NULL in BINARY mode")
	case s.Format == CopyBinary && s.Header:
		return copyError("0A000", "cannot specify HEADER in BINARY mode")
	case !csv && (has[quoteOption] || has[escapeOption] || has[forceOption]):
		return copyError("0A000", "COPY quote, escape and force quote are available only in CSV mode")
	case s.Format == CopyBinary:
		return nil
	case s.Delimiter == '\n' || s.Delimiter == '\r':
		return copyError("22023", "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(s.Null, "\r\n"):
		return copyError("22023", "COPY null representation cannot use newline or carriage return")
	case !csv && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, s.Delimiter) >= 0:
		return copyError("22023", "COPY delimiter cannot be a backslash, a dot, a letter or a digit")
	case csv && s.Delimiter == s.Quote:
		return copyError("22023", "COPY delimiter and quote must be different")
	case strings.IndexByte(s.Null, s.Delimiter) >= 0:
		return copyError("22023", "COPY delimiter character must not appear in the NULL specification")
	case csv && strings.IndexByte(s.Null, s.Quote) >= 0:
		return copyError("22023", "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// text spells the options that were given.
func (o *copyOptions) text() string {
	var words []string
	add := func(which copyOption, word string) {
		if o.given[which] {
			words = append(words, word)
		}
	}
	s := o.style
	add(formatOption, "FORMAT "+map[CopyFormat]string{CopyText: "text", CopyCSV: "csv", CopyBinary: "binary"}[s.Format])
	add(delimiterOption, "DELIMITER "+lex.Literal(string([]byte{s.Delimiter})))
	add(nullOption, "NULL "+lex.Literal(s.Null))
	add(headerOption, "HEADER "+map[bool]string{true: "true", false: "false"}[s.Header])
	add(quoteOption, "QUOTE "+lex.Literal(string([]byte{s.Quote})))
	add(escapeOption, "ESCAPE "+lex.Literal(string([]byte{s.Escape})))
	if force := "*"; o.given[forceOption] {
		if len(o.force) > 0 {
			force = "(" + strings.Join(lex.QuoteAll(o.force), ", ") + ")"
		}
		words = append(words, "FORCE_QUOTE "+force)
	}
	if len(words) == 0 {
		return ""
	}
	return " WITH (" + strings.Join(words, ", ") + ")"
}
