package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// name gives entries of select lists the names that facts say. An entry ends before the next comma or clause.
func (r *rewriter) name() {
	for n, name := range r.facts.Named {
		if end, ok := r.targetEnd(n.GetResTarget()); ok {
			r.close(end.End(), " AS "+lex.Quote(name))
		}
	}
}

// behindList are the words that may follow a select list.
var behindList = []string{",", "from", "where", "group", "having", "window", "union", "intersect", "except", "order", "limit", "offset", "fetch", "for"}

// targetEnd finds the end of an entry. IS DISTINCT FROM and WITHIN GROUP have two of these words.
func (r *rewriter) targetEnd(t *pg.ResTarget) (lex.Cursor, bool) {
	c, ok := r.at(int(t.Location))
	for c.Seek(behindList...); c.Is("from") && c.Follows("distinct") || c.Is("group") && c.Follows("within"); c.Seek(behindList...) {
		c.Pos++
	}
	return c, ok
}
