package command

import (
	"math"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// The options of DECLARE, as src/include/nodes/parsenodes.h numbers them. Further bits are the
// planner's.
const (
	cursorBinary      = 0x01
	cursorScroll      = 0x02
	cursorNoScroll    = 0x04
	cursorInsensitive = 0x08
	cursorAsensitive  = 0x10
	cursorHold        = 0x20
)

// declare reads DECLARE name … CURSOR … FOR query.
func (r *directions) declare(s *pg.DeclareCursorStmt) {
	r.command(Declare, s.Portalname)
	r.out.cursor = s.Options
	if s.Options&cursorBinary != 0 { // FETCH has the format of its own Bind, here
		r.fail(unsupported("BINARY cursors are not supported", "ask for binary rows in Bind, or leave BINARY out"))
		return
	}
	query := lex.Cursor{Source: r.tr, Pos: r.word(2, "for") + 1}
	r.stretch(query.Start(), len(r.tr.Text))
}

func (r *directions) fetch(s *pg.FetchStmt) {
	r.command(Fetch, s.Portalname)
	if s.Ismove {
		r.out.Verb = Move
	}
	r.out.direction = direction(s)
}

// direction spells which rows FETCH and MOVE mean.
func direction(s *pg.FetchStmt) string {
	count := strconv.FormatInt(s.HowMany, 10)
	if s.HowMany == math.MaxInt64 {
		count = "ALL"
	}
	return map[pg.FetchDirection]string{
		pg.FetchDirection_FETCH_FORWARD: "FORWARD ", pg.FetchDirection_FETCH_BACKWARD: "BACKWARD ",
		pg.FetchDirection_FETCH_ABSOLUTE: "ABSOLUTE ", pg.FetchDirection_FETCH_RELATIVE: "RELATIVE ",
	}[s.Direction] + count
}

// declaration spells DECLARE up to the query.
func (d *Directive) declaration() string {
	var b strings.Builder
	b.WriteString("DECLARE " + lex.Quote(d.Name))
	for _, o := range []struct {
		bit  int32
		word string
	}{{cursorInsensitive, " INSENSITIVE"}, {cursorAsensitive, " ASENSITIVE"}, {cursorScroll, " SCROLL"}, {cursorNoScroll, " NO SCROLL"}} {
		if d.cursor&o.bit != 0 {
			b.WriteString(o.word)
		}
	}
	return b.String() + " CURSOR FOR "
}
