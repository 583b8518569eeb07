package sqltree

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// reference qualifies a table's name with its schema and, in FROM, restricts it.
//
//	end_users e  →  ("public".end_users e JOIN (SELECT) AS "_tg1" ON "e"."server_id" = $1::…)
//
// The joined sub-select has no columns, so that *, whole rows, GROUP BY by the primary
// key, FOR UPDATE OF, USING and outer joins mean what they meant, and the plan is the
// same index scan. The target of a write can't be joined: its filter is restricted.
func (r *rewriter) reference(use *TableUse) {
	open := ""
	if use.node.Schemaname == "" {
		open = quote(use.Table.Schema) + "."
	}
	if use.target || use.Table.Scope == "" {
		if open != "" {
			r.open(use.Offset, open)
		}
		r.tableForm(use)
		return
	}
	end, ok := r.referenceEnd(use.node)
	if !ok {
		return
	}
	r.tableForm(use)
	r.aliases++
	r.open(use.Offset, "("+open)
	r.close(end, fmt.Sprintf(" JOIN (SELECT) AS %s ON %s)", quote(fmt.Sprintf("%s%d", r.alias, r.aliases)), r.restriction(use)))
}

// referenceEnd finds the end of a table's name, alias and column list.
func (r *rewriter) referenceEnd(v *pg.RangeVar) (int, bool) {
	t, ok := r.at(int(v.Location))
	if !ok {
		return 0, false
	}
	t.name()
	if t.is("*") {
		t.i++
	}
	if v.Alias == nil {
		return t.end(), true
	}
	if t.is("as") {
		t.i++
	}
	t.i++
	if len(v.Alias.Colnames) > 0 {
		t.group()
	}
	return t.end(), true
}

// tableForm spells TABLE t as SELECT * FROM t, which takes a join.
func (r *rewriter) tableForm(use *TableUse) {
	t, ok := r.at(use.Offset)
	if !ok || t.i == 0 {
		return
	}
	t.i--
	if !t.is("table") || t.tr.Tokens[t.i].Kind != Ident {
		return
	}
	list := "*"
	for _, s := range r.facts.stars {
		if s.offset == use.Offset {
			list = s.refs
			r.stars[s.offset] = s.count
		}
	}
	r.replace(t.start(), t.start()+len("table"), "SELECT "+list+" FROM")
}

// spellStars replaces each * that covers a column which must not be read.
func (r *rewriter) spellStars() {
	for _, s := range r.facts.stars {
		t, ok := r.at(s.offset)
		if !ok || r.isTableForm(s.offset) {
			continue
		}
		if t.i > 0 && t.before("(") { // (e.*) is e.*, but (e.a, e.b) is a row
			r.fail(construct(s.offset, "a * in brackets is not supported here"))
			return
		}
		for !t.done() && !t.is("*") {
			t.i++
		}
		if t.done() {
			r.fail(unplaced())
			return
		}
		r.stars[s.offset] = s.count
		r.replace(s.offset, t.start()+1, s.refs)
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
func (r *rewriter) filter(f *filter) {
	if f.use.Table.Scope == "" {
		return
	}
	t, ok := r.at(f.from)
	if !ok {
		return
	}
	if f.upsert {
		t.seek("do")
	}
	if f.where == nil {
		t.seek("returning")
		r.close(t.end(), " WHERE "+r.restriction(f.use))
		return
	}
	t.seek("where")
	if t.done() || !t.is("where") {
		r.fail(unplaced())
		return
	}
	t.i++
	r.open(t.start(), "(")
	t.seek("returning")
	r.close(t.end(), ") AND "+r.restriction(f.use))
}

// values replaces what the caller gave for scope columns; placeholders among them are
// replaced with the other placeholders.
func (r *rewriter) values() {
	for _, v := range r.scopeValues() {
		if v.Kind == ScopeParam {
			continue
		}
		t, ok := r.at(v.Offset)
		if !ok {
			return
		}
		start := t.start()
		if v.Kind == ScopeColumn {
			t.name()
		} else {
			t.i++
		}
		r.replace(start, t.end(), r.server(v.Table))
	}
}
