package rewrite

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// reference qualifies a table's name with its schema and, in FROM, restricts it.
//
//	end_users e  →  ("public".end_users e JOIN (SELECT) AS "_tg1" ON "e"."server_id" = $1::…)
//
// The joined sub-select has no columns, so that *, whole rows, GROUP BY by the primary
// key, FOR UPDATE OF, USING and outer joins mean what they meant, and the plan is the
// same index scan. The target of a write can't be joined: its filter is restricted. The name of the join is the same in
// equal sub-queries, since Postgres finds an expression that a query repeats only if its trees are equal.
func (r *rewriter) reference(use *facts.TableUse) {
	open := ""
	if use.Node.Schemaname == "" {
		open = lex.Quote(use.Table.Schema) + "."
	}
	if use.Target || use.Table.Scope == "" {
		if open != "" {
			r.open(use.Offset, open)
		}
		r.tableForm(use)
		return
	}
	end, ok := r.referenceEnd(use.Node)
	if !ok {
		return
	}
	r.tableForm(use)
	r.open(use.Offset, "("+open)
	r.close(end, fmt.Sprintf(" JOIN (SELECT) AS %s ON %s)", lex.Quote(fmt.Sprintf("%s%d", r.alias, r.places[use])), r.restriction(use)))
}

// referenceEnd finds the end of a table's name, alias and column list.
func (r *rewriter) referenceEnd(v *pg.RangeVar) (int, bool) {
	t, ok := r.at(int(v.Location))
	if !ok {
		return 0, false
	}
	t.SkipName()
	if t.Is("*") {
		t.Pos++
	}
	if v.Alias == nil {
		return t.End(), true
	}
	if t.Is("as") {
		t.Pos++
	}
	t.Pos++
	if len(v.Alias.Colnames) > 0 {
		t.SkipGroup()
	}
	return t.End(), true
}

// tableForm spells TABLE t as SELECT * FROM t, which takes a join.
func (r *rewriter) tableForm(use *facts.TableUse) {
	t, ok := r.at(use.Offset)
	if !ok || t.Pos == 0 {
		return
	}
	t.Pos--
	if !t.Is("table") || t.Source.Tokens[t.Pos].Kind != lex.Ident {
		return
	}
	list := "*"
	for _, s := range r.facts.Stars {
		if s.Offset == use.Offset {
			list = s.Refs
			r.stars[s.Offset] = s.Count
		}
	}
	r.replace(t.Start(), t.Start()+len("table"), "SELECT "+list+" FROM")
}

// spellStars replaces each * that covers a column which must not be read.
func (r *rewriter) spellStars() {
	for _, s := range r.facts.Stars {
		t, ok := r.at(s.Offset)
		if !ok || r.isTableForm(s.Offset) {
			continue
		}
		if t.Pos > 0 && t.Follows("(") { // (e.*) is e.*, but (e.a, e.b) is a row
			r.fail(refusal.Unsupported(s.Offset, "a * in brackets is not supported here"))
			return
		}
		for !t.Done() && !t.Is("*") {
			t.Pos++
		}
		if t.Done() {
			r.fail(refusal.Unplaced())
			return
		}
		r.stars[s.Offset] = s.Count
		r.replace(s.Offset, t.Start()+1, s.Refs)
	}
}

func (r *rewriter) isTableForm(offset int) bool {
	for _, use := range r.facts.Tables {
		if use.Offset == offset {
			return true
		}
	}
	return false
}

// filter restricts the WHERE of a write to the server's rows.
func (r *rewriter) filter(f *facts.Filter) {
	if f.Use.Table.Scope == "" {
		return
	}
	t, ok := r.at(f.From)
	if !ok {
		return
	}
	if f.Upsert {
		t.Seek("do")
	}
	if f.Where == nil {
		t.Seek("returning")
		r.close(t.End(), " WHERE "+r.restriction(f.Use))
		return
	}
	t.Seek("where")
	if t.Done() || !t.Is("where") {
		r.fail(refusal.Unplaced())
		return
	}
	t.Pos++
	r.open(t.Start(), "(")
	t.Seek("returning")
	r.close(t.End(), ") AND "+r.restriction(f.Use))
}

// values replaces what the caller gave for scope columns; placeholders among them are
// replaced with the other placeholders.
func (r *rewriter) values() {
	for _, v := range r.scopeValues() {
		if v.Kind == facts.ScopeParam {
			continue
		}
		t, ok := r.at(v.Offset)
		if !ok {
			return
		}
		start := t.Start()
		if v.Kind == facts.ScopeColumn {
			t.SkipName()
		} else {
			t.Pos++
		}
		r.replace(start, t.End(), r.server(v.Table))
	}
}
