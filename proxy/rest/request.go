package rest

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/fasthttp/router"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/proxy"
)

// request is one request and what is known of it so far. It lives as long as its
// handler; nothing of it may be kept: its connection's next request is made in its place.
type request struct {
	server *Server
	http   *fasthttp.RequestCtx
	conn   *conn
	start  time.Time

	head     head
	fault    error  // of the head; told when its turn comes
	err      error  // of the handler, as the router's return none
	id       string // X-Request-ID
	verb     string
	endpoint string // the label in logs and metrics
	path     string // as sent, without the query
	rawQuery string

	projectID, serverID string        // from the path, decoded
	known               bool          // valid credentials came with it
	reached             string        // the server's id once credentials reach it: for the log
	sender              proxy.Account // whose the request is, by its credentials
	logProject          string        // whose share of lines on refusals it has: the project that it reached, or else its sender's
	challenge           string        // for WWW-Authenticate, as far as the credentials were read
	int8AsString        bool
	ofBody, ofArgs      int    // bytes of long that its body takes, and its args
	headSize            int    // bytes of the header block
	bodySize            int    // bytes that were read for the body
	bodyRead            bool   // nothing of this request is left on the connection
	asking              bool   // the client waits to be told whether to send its body: see expect
	toBeContinued       bool   // and it shall: nothing is answered yet
	code                string // of the answer: "ok" or a code of the interface

	statement statement // the body of 4.6

	failure *proxy.Error   // that was answered; nil: none
	failed  *proxy.Subject // for whom its statement was to run; nil: it is not a statement's

	admitted   bool          // it was taken out of the server's budget
	ran        bool          // the look-up was handed over, or the statement in its last attempt
	ranOnce    bool          // or in an earlier one: nothing takes that back
	kind       string        // of the statement that was; "" for none
	overridden int           // values for a scope column that were replaced in it
	waited     time.Duration // see apart
}

// newRequest makes the connection's request anew, of which there is one at a time, and
// reads the head. It is nil where the connection was evicted.
func (s *Server) newRequest(ctx *fasthttp.RequestCtx) *request {
	c := streamOf(ctx.Conn()).socket
	if !c.begin() {
		return nil
	}
	r := &c.request
	r.forget()
	r.server, r.http, r.conn, r.start = s, ctx, c, time.Now()
	c.asked.Store(r.start.UnixNano())
	c.lookedUp.Store(false)
	r.verb, r.endpoint, r.code = verbOf(ctx.Method()), otherEndpoint, codeOK
	lines := ctx.Request.Header.RawHeaders()
	r.headSize = len(lines)
	r.head, r.fault = readHead(lines)
	r.id = requestID(r.head.value[fieldRequestID])
	r.path, r.rawQuery = splitTarget(ctx.Request.Header.RequestURI())
	return r
}

// forget leaves nothing of the request but some memory for the next one.
func (r *request) forget() { *r = request{statement: r.statement.emptied()} }

// codeOK is the code of a success in logs and metrics.
const codeOK = "ok"

// verbOf gives the method by its name in the router, without a copy: one that paths have, or MethodWild for all others,
// as Lookup finds nothing for a method that it was never given.
func verbOf(method []byte) string {
	for _, known := range [...]string{"GET", "POST", "PUT", "HEAD", "OPTIONS"} {
		if string(method) == known {
			return known
		}
	}
	return router.MethodWild
}

// requestID takes the client's id when it is 1 to 128 printable characters, else makes one.
func requestID(given []byte) string {
	if len(given) >= 1 && len(given) <= 128 && isPrintableASCII(given) {
		return string(given)
	}
	return newID()
}

// newID makes a UUID of version 7, RFC 9562 section 5.7.
func newID() string { return uuid.Must(uuid.NewV7FromReader(chance{})).String() }

// chance gives bytes that may be guessed: an id only has to be another one each time. The operating system's bytes
// would take longer than all else of an id.
type chance struct{}

func (chance) Read(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		var eight [8]byte
		binary.LittleEndian.PutUint64(eight[:], rand.Uint64()) //nolint:gosec // see above
		rest = rest[copy(rest, eight[:]):]
	}
	return len(p), nil
}

func isPrintableASCII(text []byte) bool {
	for _, b := range text {
		if b < 0x20 || b > 0x7e {
			return false
		}
	}
	return true
}

// storeContext bounds a request's look-ups; it also ends when the service gives up draining. As long as
// it is not known who asks, it ends with the connection, too: when that is evicted or breaks.
func (r *request) storeContext() *patience {
	p := &patience{parent: r.server.base, lookedUp: &r.conn.lookedUp, until: time.Now().Add(r.server.cfg.StoreTimeout)}
	if !r.conn.known.Load() {
		p.watch = r.server.watch
		r.conn.looking.Store(p)
	}
	return p
}

// admit takes a place for the request, which is held until its answer is written.
func (r *request) admit(ctx context.Context, subject proxy.Subject) error {
	defer r.apart(time.Now())
	place, err := r.server.cfg.Gate.Admit(ctx, subject)
	r.rateHeaders(place.Rate)
	if err == nil {
		r.admitted = true
		r.conn.hold(place)
	}
	return err
}

// stage records how long a stage took that began at start.
func (r *request) stage(name string, start time.Time) {
	r.server.cfg.Recorder.Stage(name, time.Since(start).Seconds())
}
