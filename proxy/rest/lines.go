package rest

import (
	"log/slog"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// lines bound those of the log that cost who causes them nothing.
type lines struct {
	strangers *proxy.LinesLog
	refusals  *proxy.LinesLog // of those who are known
}

func linesOf(log *slog.Logger, what string) lines {
	return lines{proxy.NewStrangersLog(log, what), proxy.NewRefusalsLog(log, what)}
}

// may tells whether a line on the request may be written. What succeeded or was taken out of a budget
// always has one, and so has each fault of the service's own, whoever met it.
func (l lines) may(r *request) bool {
	switch {
	case r.code == string(policy.Internal):
		return true
	case !r.known:
		return l.strangers.May("")
	case r.code != codeOK && !r.admitted:
		return l.refusals.May(r.logProject)
	}
	return true
}
