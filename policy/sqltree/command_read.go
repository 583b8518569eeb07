package sqltree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// commanded is the allow-list for what is no statement on rows; see understood for its form.
// The query of DECLARE and COPY is judged apart, as a text of its own.
const commanded = `
RawStmt           stmt stmt_location stmt_len
Node              *
List              items
TransactionStmt   kind=TRANS_STMT_BEGIN|TRANS_STMT_START|TRANS_STMT_COMMIT|TRANS_STMT_ROLLBACK
                  kind=TRANS_STMT_SAVEPOINT|TRANS_STMT_RELEASE|TRANS_STMT_ROLLBACK_TO options savepoint_name chain location
VariableSetStmt   kind=VAR_SET_VALUE|VAR_SET_DEFAULT|VAR_SET_MULTI|VAR_RESET|VAR_RESET_ALL name args is_local
VariableShowStmt  name
DiscardStmt       target=DISCARD_ALL|DISCARD_PLANS|DISCARD_SEQUENCES|DISCARD_TEMP
DeallocateStmt    name isall location
UnlistenStmt      conditionname
DeclareCursorStmt portalname options&0x11f query
FetchStmt         direction=FETCH_FORWARD|FETCH_BACKWARD|FETCH_ABSOLUTE|FETCH_RELATIVE how_many portalname ismove
ClosePortalStmt   portalname
CopyStmt          relation query attlist is_from options
DefElem           defname arg defaction=DEFELEM_UNSPEC location arg_location
RangeVar          schemaname relname inh=true relpersistence=p location
A_Const           ival fval boolval sval location
A_Star
Integer           ival
Float             fval
Boolean           boolval
String            sval
`

// Directive is a Command with what runs in its place.
type Directive struct {
	Command
	Text       string // made from the command alone; "" where nothing is to be run, or a query
	Start, End int    // where the query of DECLARE and COPY stands in the text; 0 where it has none
	Made       string // the statement on rows that stands for COPY of a table
	At         int    // where the text names what Made is about; -1 where it does not
	Shape      *Table // on whose columns Made relies; nil for none

	query     *pg.Node
	cursor    int32  // options of DECLARE
	direction string // of FETCH and MOVE
	options   copyOptions
}

// ReadCommand tells what a statement asks for that is none on rows; nil for one on rows, and
// for what nobody knows, which is Analyze's to refuse. inject is as in Rewrite.
func ReadCommand(stmt *pg.RawStmt, tr *Translation, c *Catalog, inject bool) (*Directive, *Fault) {
	r := &directions{catalog: c, tr: tr, inject: inject, out: &Directive{At: -1}}
	read, query := r.reader(stmt.Stmt)
	if read == nil {
		return nil, r.fault
	}
	if f := unavailable(stmt.Stmt); f != nil {
		return nil, f
	}
	g := &grammar{kinds: c.commands, limit: c.limit}
	if f := g.admitBeside(stmt, query, 0, 0); f != nil {
		return nil, f
	}
	r.out.query = query
	read()
	if r.fault != nil {
		return nil, r.fault
	}
	r.out.Text = r.out.text()
	return r.out, nil
}

// directions reads one command. The first fault stays.
type directions struct {
	catalog *Catalog
	tr      *Translation
	inject  bool
	out     *Directive
	fault   *Fault
}

func (r *directions) fail(f *Fault) {
	if r.fault == nil {
		r.fault = f
	}
}

// reader gives what reads a command, and the query in it.
func (r *directions) reader(n *pg.Node) (read func(), query *pg.Node) {
	switch s := n.GetNode().(type) {
	case *pg.Node_TransactionStmt:
		return func() { r.transaction(s.TransactionStmt) }, nil
	case *pg.Node_VariableSetStmt:
		return func() { r.set(s.VariableSetStmt) }, nil
	case *pg.Node_VariableShowStmt:
		return func() { r.command(Show, lower(s.VariableShowStmt.Name)) }, nil
	case *pg.Node_DiscardStmt:
		return func() { r.command(Discard, discarded[s.DiscardStmt.Target]) }, nil
	case *pg.Node_DeallocateStmt:
		return func() { r.command(Deallocate, s.DeallocateStmt.Name) }, nil
	case *pg.Node_UnlistenStmt:
		return func() { r.command(Unlisten, "") }, nil
	case *pg.Node_DeclareCursorStmt:
		return func() { r.declare(s.DeclareCursorStmt) }, s.DeclareCursorStmt.Query
	case *pg.Node_FetchStmt:
		return func() { r.fetch(s.FetchStmt) }, nil
	case *pg.Node_ClosePortalStmt:
		return func() { r.command(CloseCursor, s.ClosePortalStmt.Portalname) }, nil
	case *pg.Node_CopyStmt:
		return func() { r.copy(s.CopyStmt) }, s.CopyStmt.Query
	}
	r.fault = refused(n)
	return nil, nil
}

func (r *directions) command(v Verb, name string) { r.out.Command = Command{Verb: v, Name: name} }

// discarded are the names of what DISCARD takes.
var discarded = map[pg.DiscardMode]string{
	pg.DiscardMode_DISCARD_ALL: "all", pg.DiscardMode_DISCARD_PLANS: "plans",
	pg.DiscardMode_DISCARD_SEQUENCES: "sequences", pg.DiscardMode_DISCARD_TEMP: "temp",
}

// admitBeside is admit for all but what stands beneath one message.
func (g *grammar) admitBeside(m proto.Message, apart *pg.Node, depth, at int) *Fault {
	if g.nodes++; g.nodes > g.limit.MaxNodes || depth > g.limit.MaxDepth {
		return construct(at, "the statement is too complex")
	}
	at = offsetOf(m, at)
	if f := g.check(m, at); f != nil {
		return f
	}
	var fault *Fault
	children(m, func(c proto.Message) bool {
		if n, ok := c.(*pg.Node); !ok || apart == nil || n != apart {
			fault = g.admitBeside(c, apart, depth+1, at)
		}
		return fault == nil
	})
	return fault
}

// Holds tells whether a tree is that of the directive's query.
func (d *Directive) Holds(stmt *pg.RawStmt) bool {
	return d.query != nil && stmt.GetStmt() != nil && equal(d.query, stmt.Stmt)
}

// stretch notes where the query stands: from the cursor up to an offset.
func (r *directions) stretch(start, end int) {
	if start <= 0 || start >= end || end > len(r.tr.Text) {
		r.fail(unplaced())
		return
	}
	r.out.Start, r.out.End = start, end
}

// word gives the index of the first token that is one of some words, from an index on; the
// number of tokens where none is.
func (r *directions) word(from int, words ...string) int {
	t := tokens{r.tr, from}
	for !t.done() && !slices.ContainsFunc(words, t.is) {
		t.i++
	}
	return t.i
}
