package upstream

import (
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// bind binds a statement to a portal.
func (e *exchange) bind(s *proxy.Step) error {
	if err := e.beginStatement(s); err != nil {
		return err
	}
	e.writeBind(s, s.Portal, s.Formats)
	e.expect(answer{kind: passBindComplete, step: s})
	e.checkShapes(s.Bound.Approved().Shapes(), s)
	return nil
}

// beginStatement makes the transaction ready for a step's bound statement.
func (e *exchange) beginStatement(s *proxy.Step) error {
	if !s.Bound.Valid() || s.Bound.Server() != e.link.server {
		return defect("a step without approval reached upstream")
	}
	if err := e.fillCommand(s); err != nil {
		return err
	}
	verb := verbOf(s)
	if verb == policy.NoCommand && !isQuery(s.Bound.SQL()) || verb != policy.NoCommand && !isCommand(s.Bound.SQL()) {
		return defect("what is no query reached upstream")
	}
	if err := e.catchUpBefore(boundBytes(s.Bound)); err != nil {
		return err
	}
	if err := e.need(verb); err != nil {
		return err
	}
	if verb == policy.NoCommand && e.resultChanged(s) {
		if e.prepares(s.Prepared) { // the client was not told yet: the whole exchange is tried once more
			e.dropStale(e.wantedFor(s), false)
		}
		return changedResult()
	}
	if !e.spellsZone(s) {
		return nil
	}
	return e.countZones()
}

// fillCommand gives a command what it needs to run. Where it holds a query with parameters that takes their types, as
// Postgres describes them.
func (e *exchange) fillCommand(s *proxy.Step) error {
	if !s.Bound.NeedsFill() {
		return nil
	}
	query := s.Bound.Approved().Query()
	if query == nil {
		return e.fill(s, nil)
	}
	w := &wanted{approved: query, prepared: &proxy.Prepared{Approved: query}}
	if err := e.need(policy.Declare); err != nil { // also for a known query: see waitAsUnknown
		return err
	}
	said, err := e.learn(w, &proxy.Step{Approved: query})
	if err != nil {
		return err
	}
	return e.fill(s, said.Params)
}

// fillWait is how long a command waits for a place in which it is filled.
const fillWait = time.Second

// fill puts its values into a command. What it parses takes as long as a decision does, each time anew.
func (e *exchange) fill(s *proxy.Step, types []uint32) error {
	places, of := e.link.pool.cfg.Parsing, e.link.account()
	if err := places.Take(e.ctx, of, fillWait); err != nil {
		if e.ctx.Err() != nil {
			return contextEnded(e.ctx)
		}
		e.link.pool.cfg.Recorder.Short("parsing", proxy.Whose(err))
		return overloaded("too many statements are being checked", "COPY (SELECT …) and DECLARE are checked each time they run; a plain SELECT is not", err)
	}
	defer places.Give(of)
	bound, reason := s.Bound.Fill(types)
	if reason != nil {
		return proxy.FromRefusal(*reason)
	}
	s.Bound = bound
	return nil
}

// resultChanged tells whether the connection knows a prepared statement by another result than the
// client was told of: somebody else had it prepared since.
func (e *exchange) resultChanged(s *proxy.Step) bool {
	if s.Prepared == nil {
		return false
	}
	w := e.wantedFor(s)
	p := e.planOf(w)
	return p != nil && w.expected() != nil && !w.expected().Equal(&p.description.Description)
}

// boundBytes is about how long the values are.
func boundBytes(b policy.Bound) (n int) {
	for i := range b.NumParams() {
		n += len(b.Param(i).Value.Text)
	}
	return n
}

// writeBind has the statement prepared and writes the Bind.
func (e *exchange) writeBind(s *proxy.Step, portal string, formats []int16) {
	w := &e.s.wire
	name := ""
	switch verb := verbOf(s); {
	case verb == policy.NoCommand:
		name = e.ensure(e.wantedFor(s), s)
	case e.link.failed && verb == policy.Commit:
		w.parse("", "ROLLBACK") // as COMMIT is there; Postgres may not know that we refused a result of it
		e.expect(answer{kind: skipParseComplete, step: s})
	default:
		e.s.growth.add(s.Bound.Approved().PlanBytes(), s.Bound.Approved().RecordBytes()) // of the query in it
		w.parse("", s.Bound.SQL(), s.Bound.Approved().Declared()...)
		e.expect(answer{kind: skipParseComplete, step: s})
	}
	at := w.out.Open(frame.Bind)
	w.out.Text(portal)
	w.out.Text(name)
	writeValues(&w.out, s.Bound)
	w.out.Int16(len(formats))
	for _, f := range formats {
		w.out.Int16(int(f))
	}
	w.out.Shut(at)
	e.pending = true
}

// wantedFor is the statement that a step runs; a Simple one has nothing prepared.
func (e *exchange) wantedFor(s *proxy.Step) *wanted {
	if s.Bound.Valid() {
		w := wantedOf(s.Bound)
		w.prepared = s.Prepared
		return &w
	}
	return &wanted{approved: approvedOf(s), prepared: s.Prepared}
}

// writeValues writes the values of a Bind, as the client gave them.
func writeValues(out *frame.Writer, b policy.Bound) {
	n, binary := b.NumParams(), false
	for i := range n {
		binary = binary || b.Param(i).Value.Kind == policy.Binary
	}
	if !binary {
		out.Int16(0)
	} else {
		out.Int16(n)
		for i := range n {
			format := 0
			if b.Param(i).Value.Kind == policy.Binary {
				format = 1
			}
			out.Int16(format)
		}
	}
	out.Int16(n)
	for i := range n {
		v := b.Param(i).Value
		if v.Kind == policy.Null {
			out.Null()
			continue
		}
		at := out.OpenValue()
		out.Buf = append(out.Buf, v.Text...)
		out.ShutValue(at)
	}
}

// checkShapes has the tables' shapes checked of which a statement relies on some. Bind has
// locked them, and nothing was read yet.
func (e *exchange) checkShapes(shapes []policy.Shape, s *proxy.Step) {
	if len(shapes) == 0 {
		return
	}
	name := shapesName
	if e.s.pooled() {
		name = ""
		e.s.wire.parse(name, shapesSQL)
	}
	bindShapes(&e.s.wire, name, e.s.ownPortal, shapes)
	e.s.wire.about(frame.Close, frame.Portal, e.s.ownPortal)
	e.expect(answer{kind: skipRun, step: s, at: checking})
	e.expect(answer{kind: skipCloseComplete, step: s})
}
