package rest

import (
	"math"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// appendError appends the body of an error: what every one has, then what applies.
func (r *request) appendError(dst []byte, e *proxy.Error) []byte {
	dst = appendString(append(dst, `{"error":{"code":`...), string(e.Code))
	dst = appendString(append(dst, `,"message":`...), e.Message)
	dst = appendString(append(dst, `,"requestId":`...), r.id)
	if e.SQLState != "" {
		dst = appendString(append(dst, `,"sqlState":`...), e.SQLState)
	}
	if e.Position > 0 {
		dst = strconv.AppendInt(append(dst, `,"position":`...), int64(e.Position), 10)
	}
	if e.Constraint != "" {
		dst = appendString(append(dst, `,"constraint":`...), e.Constraint)
	}
	if e.Retryable {
		dst = append(dst, `,"retryable":true`...)
	}
	if e.Hint != "" {
		dst = appendString(append(dst, `,"hint":`...), e.Hint)
	}
	return append(dst, "}}"...)
}

// failureHeaders tell a client's library what the body tells its author.
func (r *request) failureHeaders(e *proxy.Error) {
	switch e.Code {
	case proxy.RateLimited, proxy.UpstreamUnavailable, proxy.Overloaded, proxy.ShuttingDown:
		r.set("Retry-After", strconv.Itoa(seconds(max(e.RetryAfter, time.Second))))
	case proxy.Unauthorized, proxy.InsufficientScope:
		r.set("WWW-Authenticate", r.challenge)
	}
}

// rateHeaders tell the state of the server's budget as draft-ietf-httpapi-ratelimit-headers
// has it since its version 08: a quota of burst requests per the window that refills it,
// what remains of it, and the seconds until it is whole.
func (r *request) rateHeaders(rate proxy.Rate) {
	if rate.Limit <= 0 {
		return
	}
	quota := max(rate.Burst, rate.Limit)
	window := (quota + rate.Limit - 1) / rate.Limit
	r.setPair("RateLimit-Policy", `"server";q=`, quota, `;w=`, window)
	r.setPair("RateLimit", `"server";r=`, max(rate.Remaining, 0), `;t=`, seconds(rate.Reset))
}

// setPair puts a header of two numbers.
func (r *request) setPair(name, before string, first int, between string, second int) {
	var room [64]byte
	text := strconv.AppendInt(append(room[:0], before...), int64(first), 10)
	text = strconv.AppendInt(append(text, between...), int64(second), 10)
	r.set(name, string(text))
}

// seconds rounds up to whole ones.
func seconds(d time.Duration) int {
	return int(math.Ceil(max(d, 0).Seconds()))
}
