package proxy

import (
	"log/slog"

	"github.com/tenantgate/tenantgate/policy"
)

// LineAttrs are what a line of the log says of a statement that was refused or has failed, beside its code: who reads
// the line finds the policy's list, the place in the text, and other lines on the same statement. policyName is "" where
// no policy is known, text where no statement is, and position, in characters of what the caller sent, 0 where there is
// none: these are left out then.
//
// The message and the hint are not among them. Postgres quotes values in its own; ours quote names of the
// caller's text, and whoever confuses quotation marks writes a value as a name.
func (e *Error) LineAttrs(policyName, text string, position int) []slog.Attr {
	attrs := make([]slog.Attr, 0, 5)
	for _, a := range [...]slog.Attr{
		slog.String("policy", policyName), slog.String("rule", Codes[e.Code].Rule),
		slog.String("sqlstate", e.State()), slog.String("fingerprint", policy.Fingerprint(text)),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if position > 0 {
		attrs = append(attrs, slog.Int("position", position))
	}
	return attrs
}
