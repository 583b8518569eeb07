package rest

import (
	"sync"

	"github.com/tenantgate/tenantgate/proxy"
)

// Room is where a result is made: in memory that all servers share.
type Room interface {
	// Have makes sure that there is room for a buffer of so many bytes, until its answer was
	// taken. Where there is none the error is to be told, and the statement must not take effect.
	Have(bytes int) error
}

// room bounds what all answers take together that are longer than keptBody, from their making
// until the client has taken them: a server's places bound how many they are, and whoever may make
// servers has as many places as they like. It is safe for concurrent use.
type room struct {
	short func(what, whose string)

	mu   sync.Mutex
	held *proxy.Holdings // bytes
}

func newRoom(bytes, projectShare int, short func(what, whose string)) *room {
	return &room{short: short, held: proxy.NewHoldings(bytes, projectShare)}
}

func (o *room) take(a proxy.Account, bytes int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := o.held.Take(a, bytes)
	if full == nil {
		return nil
	}
	o.short("answers", proxy.Whose(full))
	return &proxy.Error{
		Code: proxy.Overloaded, Retryable: true, Cause: full,
		Message: "large answers that their clients have not read yet take all the memory that there is for them",
		Hint:    "read answers as they come, and ask for fewer rows or columns at a time",
	}
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
