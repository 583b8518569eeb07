package upstream

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy"
)

// lack is the cause of an error for what the database lacks.
type lack struct {
	logged
	words string // Postgres' message; "" where it may hold a value
	place string // the function, and where in it; "" where that is not certain
}

func lackOf(pg *pgconn.PgError) lack { return lack{logged{pg.Code, pg.Routine}, words(pg), place(pg)} }

// words gives the message of an error that certainly holds names alone.
//
// A right is refused on an object that exists. What does not exist is named as somebody spelled it: a function can
// make that of a value (EXECUTE, a cast to regclass, query_to_xml). So there the error must have a position, which
// only the analysis of a text gives, and Postgres must have met it in the text of a PL/pgSQL statement that is none
// of EXECUTE: around all that such a statement runs Postgres puts a line of its own, 'SQL statement "…"', so that the
// function's line is the first one only where the statement's own text was analysed. Around expressions, as in an
// assignment, there is no such line.
func words(pg *pgconn.PgError) string {
	switch {
	case pg.Code == insufficientRights && slices.Contains(rightsRoutines, pg.Routine):
	case pg.InternalPosition > 0 && ownText.MatchString(firstLine(pg.Where)):
	default:
		return ""
	}
	return shorten(pg.Message)
}

var (
	ownText = regexp.MustCompile(`^PL/pgSQL function .+\) line \d{1,9} at (?:SQL statement|PERFORM)$`)
	// Of a function the name and a place: the name is the database's.
	functionLine = regexp.MustCompile(`^(?:PL/pgSQL function .+\) (?:line \d{1,9} )?(?:at|during) [A-Za-z ]{1,60}|SQL function ".+" (?:statement \d{1,9}|during (?:inlining|startup)))$`)
)

// place gives the function in which an error came up, or else that which the statement came to first. The lines
// between those two are not asked: the texts that they quote can hold such a line. The first one is Postgres'
// whatever follows, and the last one is if it has this form: a text or a value would end in a quotation mark, or NULL.
func place(pg *pgconn.PgError) string {
	for _, line := range []string{firstLine(pg.Where), pg.Where[strings.LastIndexByte(pg.Where, '\n')+1:]} {
		if functionLine.MatchString(line) {
			return shorten(line)
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// logLack writes what the operator has to mend, in the bounds of the project's lines.
func (p *Pool) logLack(ctx context.Context, a proxy.Account, st *statement, e *proxy.Error) {
	var l lack
	if !errors.As(e, &l) || !p.lacks.May(a.Project) {
		return
	}
	var tables []string
	for _, t := range st.tables() {
		tables = append(tables, t.Schema+"."+t.Name)
	}
	attrs := []slog.Attr{
		slog.String("server", a.Server), slog.String("project", a.Project), slog.String("kind", string(st.kind)),
		slog.String("tables", shorten(strings.Join(tables, ","))), slog.String("sqlstate", l.state),
	}
	for _, told := range []slog.Attr{slog.String("error", l.words), slog.String("context", l.place)} {
		if told.Value.String() != "" {
			attrs = append(attrs, told)
		}
	}
	p.log.LogAttrs(ctx, slog.LevelWarn, "a statement failed for what the database lacks", attrs...)
}
