package upstream

import (
	"context"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// query is what runs one statement whose rows become JSON: an exchange of its own, on a link of its own.
type query struct {
	link   Link
	json   jsonResult
	of     proxy.Exchange
	out    frame.Writer // nothing is written to it
	loaded *statement   // of Query
}

// Encoding is how a caller wants values.
type Encoding struct {
	// Int8AsString asks for int8 and numeric as JSON strings, inside arrays too.
	Int8AsString bool
	// Room is where the result is made; nil: it may be as large as the limits allow.
	Room Room
}

// Room bounds the memory of results.
type Room interface {
	// Have makes sure that there is room for a buffer of so many bytes. Its error ends the statement,
	// which then has no effect, and is the caller's.
	Have(bytes int) error
}

func newQuery() *query {
	q := &query{loaded: newStatement()}
	q.link.json = &q.json
	return q
}

// Query runs b, of a server of the project, and appends to dst its result as the members "columns" and "rows" of a
// JSON object, without braces. On an error dst's content is as it was, and nothing that
// the statement did remains, unless the message says that this is not known. The error is
// an *proxy.Error. When ctx ends, the statement is cancelled on the server; a cause of ctx
// that is an *proxy.Error is what Query returns then. Of a write that may have taken effect
// all the same it keeps the code only: the message tells, and Retryable is false.
func (p *Pool) Query(ctx context.Context, project string, b policy.Bound, enc Encoding, dst []byte) (Result, error) {
	if !b.Valid() {
		return Result{Body: dst}, defect("a statement without approval reached upstream")
	}
	q := p.queries.Get().(*query)
	defer func() { q.loaded.reset(); p.queries.Put(q) }()
	q.loaded.load(b)
	q.loaded.project = project
	return q.run(ctx, p, q.loaded, enc, dst)
}

// run runs st.
func (q *query) run(ctx context.Context, p *Pool, st *statement, enc Encoding, dst []byte) (Result, error) {
	if st.limits.StatementTimeout <= 0 {
		return Result{Body: dst}, defect("a statement without a time limit reached upstream")
	}
	if !isQuery(st.text()) {
		return Result{Body: dst}, defect("what is no query reached upstream")
	}
	q.link.pool, q.link.server, q.link.project = p, st.server, st.project
	q.of = proxy.Exchange{Commit: true}
	q.json = jsonResult{st: st, enc: values.Encoder{Int8AsString: enc.Int8AsString}, room: enc.Room, dst: dst}
	defer func() { q.json = jsonResult{} }() // nothing of a server's stays
	if _, err := q.link.Run(ctx, &q.of, &q.out); err != nil {
		return Result{Body: dst}, err
	}
	return q.json.Result, nil
}
