package rest

import (
	"sync"

	"github.com/tenantgate/tenantgate/proxy"
)

// Room accounts for the memory in which a result is made. All servers share it.
type Room interface {
	// Have reserves so many bytes for the answer's buffer, until the client has read the answer. If there are not as many,
	// the statement must fail with the error and have no effect.
	Have(bytes int) error
}

// room bounds the memory of all answers, or of all requests' bodies, that are longer than keptBody. It is safe for
// concurrent use.
type room struct {
	what  string // the kind, for metrics
	full  proxy.Error
	short func(what, whose string)

	mu   sync.Mutex
	held *proxy.Holdings // bytes
}

// roomOfAnswers is for answers, until their clients have read them. The number of a server's places bounds them for that server
// alone, and a project may have many servers.
func roomOfAnswers(c Config) *room {
	return &room{what: "answers", short: c.Recorder.Short, held: proxy.NewHoldings(c.MaxAnswerBytes, c.ProjectShare), full: proxy.Error{
		Code: proxy.Overloaded, Retryable: true,
		Message: "large answers that their clients have not read yet use all the memory for such answers",
		Hint:    "read answers as they come, and ask for fewer rows or columns at a time",
	}}
}

// roomOfBodies is for requests' bodies, from when they come until they are answered.
func roomOfBodies(c Config) *room {
	return &room{what: "bodies", short: c.Recorder.Short, held: proxy.NewHoldings(c.MaxLongBytes, c.ProjectShare), full: proxy.Error{
		Code: proxy.Overloaded, Retryable: true,
		Message: "large requests that are not complete, or not answered yet, use all the memory for such requests",
		Hint:    "send fewer large requests at a time",
	}}
}

func (o *room) take(a proxy.Account, bytes int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := o.held.Take(a, bytes)
	if full == nil {
		return nil
	}
	o.short(o.what, proxy.Whose(full))
	told := o.full
	told.Cause = full
	return &told
}

func (o *room) give(a proxy.Account, bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held.Give(a, bytes)
}

// Have implements Room for the answer that is made on the connection.
func (c *conn) Have(bytes int) error {
	if bytes <= max(keptBody, c.roomy) {
		return nil
	}
	if err := c.opened.room.take(c.account, bytes-c.roomy); err != nil {
		return err
	}
	c.roomy = bytes
	return nil
}
