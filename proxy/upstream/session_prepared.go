package upstream

import (
	"cmp"
	"container/list"
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/proxy"
)

// plan is a statement as a connection knows it.
type plan struct {
	sql         string        // with the types of parameters where such were given; see wanted
	name        string        // "": the unnamed statement
	owner       proxy.Account // who had it prepared
	bytes       int           // about what it takes in the backend
	at          int           // of the unnamed statement: its number in the exchange
	description described
	form        *form // for results in JSON; nil: to be found
}

// statements are the prepared statements of one connection, within the limit; see victim. It belongs to the connection's holder.
type statements struct {
	limit  int
	most   int // bytes of them, in the backend
	bytes  int
	order  *list.List // of *plan, the last used first
	byText map[string]*list.Element

	projects map[string]int        // what each has prepared: bytes, and one for each plan
	servers  map[proxy.Account]int // of those

	stale  []string // names to close on the server
	closes int      // those of stale whose closing was written
	made   uint64
	epoch  uint64 // of the descriptions when renew was called last
}

func newStatements(limit, most int) *statements {
	return &statements{limit: limit, most: most, order: list.New(), byText: map[string]*list.Element{},
		projects: map[string]int{}, servers: map[proxy.Account]int{}}
}

// renew drops what was prepared of tables that have changed since it was called last.
func (s *statements) renew(d *descriptions) {
	if s == nil || s.epoch == d.epoch.Load() {
		return
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, e := range s.byText {
		if p := e.Value.(*plan); d.outdated(p.description, s.epoch) {
			s.drop(p.sql)
		}
	}
	s.epoch = d.epoch.Load()
}

// get gives the plan of a text; nil when there is none.
func (s *statements) get(sql string) *plan {
	if s == nil {
		return nil
	}
	e, ok := s.byText[sql]
	if !ok {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*plan)
}

// name gives a name that the connection never used, so that a statement which the server
// may still hold is never taken for another. It is empty where nothing may be named.
func (s *statements) name() string {
	if s == nil {
		return ""
	}
	s.made++
	return "tg_" + strconv.FormatUint(s.made, 10)
}

// put keeps a plan and drops others where there are too many, or they are too large.
func (s *statements) put(p *plan) {
	if s == nil {
		return
	}
	s.drop(p.sql) // one that was prepared a moment ago, or what is over the limit would never be found
	s.byText[p.sql] = s.order.PushFront(p)
	s.count(p, 1)
	for s.order.Len() > s.limit || s.bytes > s.most {
		s.drop(s.victim().sql)
	}
}

// count notes that there is a plan more, or one fewer for n of -1.
func (s *statements) count(p *plan, n int) {
	s.bytes += n * p.bytes
	size := n * (1 + p.bytes)
	if s.projects[p.owner.Project] += size; s.projects[p.owner.Project] == 0 {
		delete(s.projects, p.owner.Project)
	}
	if s.servers[p.owner] += size; s.servers[p.owner] == 0 {
		delete(s.servers, p.owner)
	}
}

// victim is what goes where there are too many: of the project that has the most prepared, and there
// of the server that has, the least recently used one. So whoever has texts prepared that
// nobody sends again loses its own. There must be one.
func (s *statements) victim() *plan {
	project, server := 0, 0
	for of, size := range s.servers {
		if cmp.Or(cmp.Compare(s.projects[of.Project], project), cmp.Compare(size, server)) > 0 {
			project, server = s.projects[of.Project], size
		}
	}
	for e := s.order.Back(); ; e = e.Prev() {
		p := e.Value.(*plan)
		if s.projects[p.owner.Project] == project && s.servers[p.owner] == server {
			return p
		}
	}
}

// drop forgets the plan of a text and has it closed on the server.
func (s *statements) drop(sql string) {
	if s == nil {
		return
	}
	e, ok := s.byText[sql]
	if !ok {
		return
	}
	delete(s.byText, sql)
	p := s.order.Remove(e).(*plan)
	s.count(p, -1)
	s.close(p.name)
}

// close has the named statement closed with the next statement; closing what does not
// exist is no error to Postgres.
func (s *statements) close(name string) {
	if s != nil && name != "" {
		s.stale = append(s.stale, name)
	}
}

// deallocate writes the closing of what was dropped, and tells of how many statements.
func (s *statements) deallocate(w *wire) int {
	if s == nil {
		return 0
	}
	for _, name := range s.stale {
		w.deallocate(name)
	}
	s.closes = len(s.stale)
	return s.closes
}

// deallocated forgets those whose closing was written: it was sent.
func (s *statements) deallocated() {
	if s != nil {
		s.stale, s.closes = slices.Delete(s.stale, 0, s.closes), 0
	}
}
