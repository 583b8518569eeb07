package command

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Directive is a Command with what runs in its place.
type Directive struct {
	Command
	Text       string      // made from the command alone; "" where nothing is to be run, or a query
	Start, End int         // where the query of DECLARE and COPY stands in the text; 0 where it has none
	Made       string      // the statement on rows that stands for COPY of a table
	At         int         // where the text names what Made is about; -1 where it does not
	Shape      *tree.Table // on whose columns Made relies; nil for none

	query     *pg.Node
	cursor    int32  // options of DECLARE
	direction string // of FETCH and MOVE
	options   copyOptions
}

// Read tells what a statement asks for that is none on rows; nil for one on rows, and
// for what nobody knows, which is Analyze's to refuse. inject is as in Rewrite.
func Read(stmt *pg.RawStmt, tr *lex.Translation, c *tree.Catalog, inject bool) (*Directive, *refusal.Refusal) {
	r := &directions{catalog: c, tr: tr, inject: inject, out: &Directive{At: -1}}
	read, query := r.reader(stmt.Stmt)
	if read == nil {
		return nil, r.fault
	}
	if f := unavailable(stmt.Stmt); f != nil {
		return nil, f
	}
	g := &tree.Grammar{Kinds: c.Commands, Limit: c.Limit}
	if f := g.AdmitBeside(stmt, query, 0, 0); f != nil {
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
	catalog *tree.Catalog
	tr      *lex.Translation
	inject  bool
	out     *Directive
	fault   *refusal.Refusal
}

func (r *directions) fail(f *refusal.Refusal) {
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

// Holds tells whether a tree is that of the directive's query.
func (d *Directive) Holds(stmt *pg.RawStmt) bool {
	return d.query != nil && stmt.GetStmt() != nil && tree.Equal(d.query, stmt.Stmt)
}

// stretch notes where the query stands: from the cursor up to an offset.
func (r *directions) stretch(start, end int) {
	if start <= 0 || start >= end || end > len(r.tr.Text) {
		r.fail(refusal.Unplaced())
		return
	}
	r.out.Start, r.out.End = start, end
}

// word gives the index of the first token that is one of some words, from an index on; the
// number of tokens where none is.
func (r *directions) word(from int, words ...string) int {
	t := lex.Cursor{Source: r.tr, Pos: from}
	for !t.Done() && !slices.ContainsFunc(words, t.Is) {
		t.Pos++
	}
	return t.Pos
}
