package upstream

import (
	"container/list"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// plan is a statement as a connection knows it: how to bind its parameters and how to
// encode its rows.
type plan struct {
	sql     string
	desc    *pgconn.StatementDescription
	params  []valueType
	columns []valueType
	head    []byte // the JSON up to the first row
}

func newPlan(sql string, desc *pgconn.StatementDescription, t *types) *plan {
	p := &plan{sql: sql, desc: desc, head: appendHead(nil, desc.Fields)}
	for _, oid := range desc.ParamOIDs {
		known, _ := t.get(oid)
		p.params = append(p.params, known)
	}
	for _, f := range desc.Fields {
		known, _ := t.get(f.DataTypeOID)
		p.columns = append(p.columns, known)
	}
	return p
}

// statements are the prepared statements of one connection, the least recently used
// ones dropped beyond the limit. It belongs to the connection's holder.
type statements struct {
	limit  int
	order  *list.List // of *plan, the last used first
	byText map[string]*list.Element
	stale  []string // names to close on the server
	made   uint64
}

func newStatements(limit int) *statements {
	return &statements{limit: limit, order: list.New(), byText: map[string]*list.Element{}}
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

// put keeps a plan and drops the least recently used one when there are too many.
func (s *statements) put(p *plan) {
	if s == nil {
		return
	}
	s.byText[p.sql] = s.order.PushFront(p)
	if s.order.Len() > s.limit {
		s.drop(s.order.Back().Value.(*plan).sql)
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
	s.close(s.order.Remove(e).(*plan).desc.Name)
}

// close has the named statement closed with the next statement; closing what does not
// exist is no error to Postgres.
func (s *statements) close(name string) {
	if s != nil && name != "" {
		s.stale = append(s.stale, name)
	}
}

// sendStale queues the closing of what was dropped and tells how many answers follow.
func (s *statements) sendStale(pl *pgconn.Pipeline) int {
	if s == nil {
		return 0
	}
	n := len(s.stale)
	for _, name := range s.stale {
		pl.SendDeallocate(name)
	}
	s.stale = s.stale[:0]
	return n
}
