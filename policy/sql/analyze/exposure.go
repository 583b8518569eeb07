package analyze

import pg "github.com/pganalyze/pg_query_go/v6"

// expose counts a reference to an exposed relation.
func (a *analyzer) expose(e exposure) {
	if e.exposed {
		a.exposures++
	}
	if e.exposed && !e.walled {
		a.unwalled++
	}
}

// counts are how many references to exposed relations there were at some point.
type counts struct{ exposures, unwalled int }

func (a *analyzer) exposed() counts { return counts{a.exposures, a.unwalled} }

// exposedBy is what a reference to a WITH query exposes. One to itself sees only rows
// that the query gave already, and forbids OFFSET in it.
func (a *analyzer) exposedBy(c *cte) exposure {
	if c.open {
		c.body = nil
		return exposure{}
	}
	a.expose(c.exposure)
	return c.exposure
}

// outerJoin notes which relations the join can make rows of NULLs of.
func outerJoin(kind pg.JoinType, left, right []*relation) {
	for _, r := range left {
		r.nullable = r.nullable || kind == pg.JoinType_JOIN_RIGHT || kind == pg.JoinType_JOIN_FULL
	}
	for _, r := range right {
		r.nullable = r.nullable || kind == pg.JoinType_JOIN_LEFT || kind == pg.JoinType_JOIN_FULL
	}
}

// exposedAs looks at the parts of a join that cannot be named any more; others stand
// beside their common name.
func (r *relation) exposedAs() (exposed, walled bool) {
	if !r.masked {
		return r.exposed, r.walled
	}
	walled = true
	for _, p := range r.parts {
		e, w := p.exposedAs()
		exposed, walled = exposed || e, walled && (w || !e)
	}
	return exposed, walled
}

// among tells whether the relation, or a name for it and others, is in the set.
func (r *relation) among(mentioned map[*relation]bool) bool {
	if mentioned[r] {
		return true
	}
	for m := range mentioned {
		for _, p := range m.parts {
			if p == r {
				return true
			}
		}
	}
	return false
}
