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
	text string
	args []policy.Arg
}

// query answers 4.6.
func (s *Server) query(r *request) error {
	subject, err := r.subject()
	if err != nil {
		return err
	}
	if err := r.negotiate(true); err != nil {
		return err
	}
	if _, err := r.parameters(); err != nil {
		return err
	}
	statement, err := r.readStatement()
	if err != nil {
		return err
	}
	// From here on the client is watched: when it leaves, what runs for it ends.
	ctx, stop := s.watch.follow(s.base, r.conn)
	defer stop()
	if err := s.run(ctx, r, subject, statement); err != nil {
		return causeOf(ctx, err)
	}
	return nil
}

// subject makes the checks before the body: credentials, reach, scope, activity.
func (r *request) subject() (proxy.Subject, error) {
	ctx, cancel := r.storeContext()
	defer cancel()
	caller, server, err := r.reachServer(ctx)
	if err != nil {
		return proxy.Subject{}, err
	}
	if err := r.need(caller, proxy.Read|proxy.Write); err != nil {
		return proxy.Subject{}, err
	}
	return proxy.Subject{Frontend: frontend, Server: server, Caller: caller}, needActive(server)
}

func (r *request) readStatement() (statement, error) {
	body, err := r.readBody()
	if err != nil {
		return statement{}, err
	}
	var result statement
	given := false
	err = readObject(body,
		member{"query", func(decoder *jsontext.Decoder) (err error) {
			given = true
			result.text, err = readString(decoder, "query")
			return err
		}},
		member{"args", func(decoder *jsontext.Decoder) (err error) {
			result.args, err = readArgs(decoder)
			return err
		}})
	if err == nil && !given {
		err = invalid(`member "query" is required`)
	}
	return result, err
}

// run takes a place, has the statement checked and runs it.
func (s *Server) run(ctx context.Context, r *request, subject proxy.Subject, statement statement) error {
	place, err := s.cfg.Gate.Admit(ctx, subject)
	r.rateHeaders(place.Rate)
	if err != nil {
		return err
	}
	defer place.Release()
	done, err := s.attempt(ctx, r, subject, statement)
	if errors.Is(err, proxy.ErrSchemaChanged) {
		if err := s.cfg.Gate.Refresh(ctx); err != nil {
			return err
		}
		done, err = s.attempt(ctx, r, subject, statement)
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

// attempt checks, binds and runs the statement once.
func (s *Server) attempt(ctx context.Context, r *request, subject proxy.Subject, statement statement) (outcome, error) {
	approved, err := s.cfg.Gate.Check(ctx, subject, statement.text)
	if err != nil {
		return outcome{}, err
	}
	needed := proxy.Read
	if approved.Writes() {
		needed = proxy.Write
	}
	if err := r.need(subject.Caller, needed); err != nil {
		s.cfg.Gate.Rejected(proxy.InsufficientScope, frontend)
		return outcome{}, err
	}
	bound, reason := approved.Bind(subject.Server.ID, statement.args)
	if reason != nil {
		s.cfg.Gate.Rejected(reason.Code, frontend)
		return outcome{}, proxy.FromReason(*reason)
	}
	start := time.Now()
	body, affected, err := s.cfg.Query(ctx, bound, r.int8AsString, append(r.buffer(), '{'))
	return outcome{body, affected, time.Since(start)}, err
}

// causeOf tells an error by what ended its context, if something did.
func causeOf(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errClientGone):
		// Only a client that closed its sending half alone can still read this.
		return &proxy.Error{Code: policy.QueryFailed, SQLState: "57014", Message: "the statement was cancelled because the client closed the connection", Cause: cause}
	case cause != nil:
		return refuseShutdown(err)
	}
	return err
}
