package wire

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// logError writes the one line on a statement whose error the client is told. position is as the client is told it.
func (s *session) logError(e *proxy.Error, position int) {
	ctx, cfg, level := context.Background(), &s.c.server.cfg, levelOf(e)
	if !cfg.Logger.Enabled(ctx, level) || !s.mayLog(e, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("server", printable(s.c.serverID)), slog.String("project", s.c.projectID),
		slog.String("remote", s.c.socket.RemoteAddr().String()), slog.String("key", s.c.key.String()),
		slog.String("code", string(e.Code)),
	}
	policyName := ""
	if s.identity.Server.ID != "" { // else it is not known which policy the server has
		policyName = s.gate.PolicyName(s.subject)
	}
	attributes = append(attributes, e.LineAttrs(policyName, s.about.text, position)...)
	if level > slog.LevelInfo {
		attributes = append(attributes, slog.String("error", e.Error()))
	}
	if panicked := (*proxy.Panicked)(nil); errors.As(e, &panicked) {
		attributes = append(attributes, slog.String("stack", panicked.Stack))
	}
	cfg.Logger.LogAttrs(ctx, level, lineOf(e, level), attributes...)
}

// mayLog bounds the lines of each project, but for those that an operator must not miss.
func (s *session) mayLog(e *proxy.Error, level slog.Level) bool {
	switch {
	case level == slog.LevelError || e.Unsettled:
		return true
	case level == slog.LevelWarn:
		return s.c.server.causes.May(s.c.projectID)
	}
	return s.c.server.statements.May(s.c.projectID)
}

// levelOf is higher where the client is not told all: the line has the cause then.
func levelOf(e *proxy.Error) slog.Level {
	switch meaning, known := proxy.Codes[e.Code]; {
	case !known || e.Code == policy.Internal:
		return slog.LevelError
	case e.Unsettled:
		return slog.LevelWarn
	case meaning.Status < 500, e.Cause == nil, e.Code == proxy.StatementTimeout:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// lineOf is the line's message. What Postgres itself does not run, or would not, has failed.
func lineOf(e *proxy.Error, level slog.Level) string {
	switch e.Code {
	case policy.QueryFailed, policy.InvalidArgument, proxy.ConstraintViolation, proxy.SerializationFailure, proxy.StatementTimeout:
		return "statement failed"
	}
	if level > slog.LevelInfo {
		return "statement failed"
	}
	return "statement refused"
}
