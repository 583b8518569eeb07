package rest

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// frontend is the name of this front end to the gate.
const frontend = "rest"

// statement is the body of 4.6.
type statement struct {
	of    *request // whose body it is
	given bool
	text  string
	args  []policy.Arg
	most  int // args that are kept; 0: maxArgs
	count int // args that there were
}

func (*statement) names() []string { return statementMembers }

var statementMembers = []string{"query", "args"}

func (s *statement) read(name string, decoder *jsontext.Decoder) (err error) {
	if name == "query" {
		s.given = true
		s.text, err = readString(decoder, name)
		return err
	}
	return s.readArgs(decoder)
}

// keptArgs is how many args a connection has memory for between its requests.
const keptArgs = 32

// emptied is a statement without anything but memory for args.
func (s *statement) emptied() statement {
	if cap(s.args) > keptArgs {
		return statement{}
	}
	clear(s.args)
	return statement{args: s.args[:0]}
}

// query answers 4.6.
func (s *Server) query(r *request) error {
	subject, err := r.subject()
	if err == nil {
		err = s.queryFor(r, subject)
	}
	if err != nil {
		kept := subject // only here it costs memory
		r.failed = &kept
	}
	return err
}

// queryFor runs the request's statement for a subject that may run some.
func (s *Server) queryFor(r *request, subject proxy.Subject) error {
	if err := r.negotiate(true); err != nil {
		return err
	}
	if err := r.parameters(); err != nil {
		return err
	}
	r.statement.of, r.statement.most = r, s.cfg.Gate.MaxArgs(subject)
	if err := r.readObject(&r.statement); err != nil {
		return err
	}
	if !r.statement.given {
		return invalid(`member "query" is required`)
	}
	// From here on the client is watched: when it leaves, what runs for it ends.
	ctx := s.watch.follow(s.base, r.conn)
	defer s.watch.leave(r.conn)
	if err := s.run(ctx, r, subject); err != nil {
		return causeOf(ctx, err)
	}
	return nil
}

// subject makes the checks before the body: credentials, reach, scope, activity. With an error it has what is known until then.
func (r *request) subject() (proxy.Subject, error) {
	ctx := r.storeContext()
	defer ctx.end()
	caller, server, err := r.reachServer(ctx)
	subject := proxy.Subject{Frontend: frontend, Server: server, Caller: caller}
	if err != nil {
		return subject, err
	}
	if err := r.need(caller, proxy.Read|proxy.Write); err != nil {
		return subject, err
	}
	return subject, needActive(server)
}

// run takes a place, has the statement checked and runs it: once more when the schema
// had changed under it.
func (s *Server) run(ctx context.Context, r *request, subject proxy.Subject) error {
	if err := r.admit(ctx, subject); err != nil {
		return err
	}
	began := time.Now()
	done, err := s.attempt(ctx, r, subject)
	if errors.Is(err, proxy.ErrSchemaChanged) {
		changed, refreshErr := s.cfg.Gate.Refresh(ctx, began)
		switch {
		case refreshErr != nil:
			return refreshErr
		case changed:
			done, err = s.attempt(ctx, r, subject)
		}
	}
	if err != nil {
		return err
	}
	body := strconv.AppendInt(append(done.body, `,"rowsAffected":`...), done.affected, 10)
	body = strconv.AppendInt(append(body, `,"executionTime":`...), done.took.Milliseconds(), 10)
	return r.send(append(body, `,"success":true}`...))
}

// outcome is a statement that ran: `{"columns":…,"rows":…`, the rows it changed, and
// how long it took from the moment it was handed over.
type outcome struct {
	body     []byte
	affected int64
	took     time.Duration
}

// attempt checks, binds and runs the statement once. What it counts is of the last attempt; ranOnce is of all.
func (s *Server) attempt(ctx context.Context, r *request, subject proxy.Subject) (outcome, error) {
	r.ran, r.kind, r.overridden = false, "", 0
	start := time.Now()
	approved, err := s.cfg.Gate.Check(ctx, subject, r.statement.text)
	r.apart(start) // the share of texts that are checked pays for it
	if err != nil {
		return outcome{}, err
	}
	if err := r.mayRun(subject.Caller, approved); err != nil {
		return outcome{}, err
	}
	if err := r.statement.tooMany(); err != nil {
		return outcome{}, err
	}
	bound, reason := approved.Bind(subject.Server.ID, r.statement.args)
	if reason != nil {
		return outcome{}, proxy.FromRefusal(*reason)
	}
	r.ran, r.ranOnce, r.kind, r.overridden = true, true, string(bound.Kind()), bound.Overridden()
	start = time.Now()
	body, affected, err := s.cfg.Query(ctx, subject.Server.ProjectID, bound, Form{r.int8AsString, r.conn}, append(r.resultBuffer(subject.Server.Account()), '{'))
	return outcome{body, affected, time.Since(start)}, err
}

// mayRun asks the scopes for everything that the statement does: what answers rows reads,
// whatever it does beside that.
func (r *request) mayRun(caller proxy.Caller, approved *policy.Approved) error {
	if approved.Returns() || !approved.Writes() {
		if err := r.need(caller, proxy.Read); err != nil {
			return err
		}
	}
	if approved.Writes() {
		return r.need(caller, proxy.Write)
	}
	return nil
}

// causeOf tells an error by what ended its context, if something did. What the database's
// side says of a statement that it can't call back is kept: nobody else knows.
func causeOf(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return err
	}
	gone := errors.Is(cause, errClientGone)
	var told *proxy.Error
	switch known := errors.As(err, &told); {
	case known && !told.Retryable && told.Code != policy.Internal:
		kept := *told
		if !gone && endedEarly(told) {
			kept.Code = proxy.ShuttingDown
		}
		kept.Cause = errors.Join(cause, told.Cause)
		return &kept
	case gone:
		// Only a client that closed its sending half alone can still read this.
		return &proxy.Error{Code: policy.QueryFailed, SQLState: canceled, Message: "the statement was cancelled because the client closed the connection", Cause: cause}
	}
	return refuseShutdown(err)
}

// canceled is the SQLSTATE of a statement that was cancelled.
const canceled = "57014"

// endedEarly tells errors of a statement that did not come to its own end.
func endedEarly(e *proxy.Error) bool {
	return e.SQLState == canceled || e.Unsettled || e.Code == proxy.UpstreamUnavailable || e.Code == proxy.StatementTimeout
}
