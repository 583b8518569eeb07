package wire

import (
	"bytes"
	"context"
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// What an AuthenticationRequest asks for, or tells.
const (
	authenticationOK    = 0
	authenticationSASL  = 10
	authenticationGoOn  = 11
	authenticationFinal = 12
)

// maxSASL is how long a message of SCRAM's is at most, in bytes. Real ones have 200.
const maxSASL = 1 << 10

var errTooManyFailures = &fatal{state: "53400", code: proxy.RateLimited, message: "too many failed attempts from this address",
	hint: "Wait some seconds, and correct the password if it is wrong."}

// authenticate has the client prove that it holds a key of the server that it named. Until it has, it
// is told what it would be told for any other name (RFC 5802 section 5). The time until then may tell
// whether somebody has asked for the name's verifier lately, so that it is in memory: timing is outside the promise.
func (c *client) authenticate(ctx context.Context) error {
	if !c.server.failures.may(c.network) {
		return errTooManyFailures
	}
	ctx, evict := context.WithCancelCause(ctx)
	defer evict(nil)
	c.running.Store(&evict)
	defer c.running.Store(nil)
	ctx, cancel := context.WithDeadline(ctx, c.reading.until)
	defer cancel()
	verifier, err := c.server.cfg.Gate.Verifier(ctx, proxy.AccountOf(c.network), c.serverID)
	if err != nil {
		return fatalOf(err)
	}
	if len(verifier.Salt) == 0 || verifier.Iterations <= 0 {
		return errInternal.because(errors.New("a verifier has no salt or no iterations"))
	}
	s := &scram{verifier: verifier, madeUp: c.server.madeUp, binding: c.binding(), mac: c.server.mac}
	if err := c.challenge(s); err != nil {
		return err
	}
	answer, err := c.proof(ctx, s)
	if err != nil {
		return err
	}
	c.request(authenticationFinal, answer)
	c.request(authenticationOK, nil)
	return nil // what the session has to say first goes with them
}

// challenge asks for a proof.
func (c *client) challenge(s *scram) error {
	offer := scramPlain + "\x00\x00"
	if s.binding != nil {
		offer = scramPlus + "\x00" + offer
	}
	c.request(authenticationSASL, []byte(offer))
	message, err := c.response()
	if err != nil {
		return err
	}
	first, plus, err := initial(message, s.binding != nil)
	if err != nil {
		return err
	}
	answer, err := s.first(first, plus)
	if err != nil {
		return err
	}
	c.request(authenticationGoOn, answer)
	return nil
}

// initial reads a SASLInitialResponse: the mechanism, and its first message.
func initial(message []byte, offered bool) (first []byte, plus bool, err error) {
	in := frame.NewScan(message)
	mechanism := in.Text()
	first = in.Value()
	plus = string(mechanism) == scramPlus
	switch {
	case !in.Whole() || first == nil:
		return nil, false, errScram
	case plus && !offered, !plus && string(mechanism) != scramPlain:
		return nil, false, &fatal{state: "08P01", code: "invalid_request", message: "client selected an invalid SASL authentication mechanism"}
	}
	return first, plus, nil
}

// proof takes the client's proof, finds the key and asks whether it is still one. The wait
// for it may be long, so who has failed meanwhile has failed for it, too.
func (c *client) proof(ctx context.Context, s *scram) (answer []byte, err error) {
	message, err := c.response()
	if err != nil {
		return nil, err
	}
	var key proxy.KeyID
	err = c.server.failures.try(c.network, func() (err error) {
		var proved bool
		if key, answer, proved, err = s.final(message); err == nil && !proved {
			err = c.wrongPassword()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, c.hold(ctx, key)
}

// hold asks for the server that the client has proved to be.
func (c *client) hold(ctx context.Context, key proxy.KeyID) error {
	holder, err := c.server.cfg.Gate.Recheck(ctx, c.serverID, key)
	if err != nil {
		e := fatalOf(err)
		if e.code == proxy.Unauthorized { // the key was taken away this moment
			return c.failed(c.wrongPassword())
		}
		return e
	}
	if !holder.Server.Active {
		return fatalOf(proxy.Deactivated())
	}
	c.key, c.projectID = key, holder.Server.ProjectID
	if full := c.server.clients.enter(c); full != nil {
		c.server.cfg.Recorder.Short("clients", proxy.Whose(full))
		return full
	}
	return nil
}

// failed counts a proof that was none.
func (c *client) failed(err error) error {
	c.server.failures.failed(c.network)
	return err
}

// wrongPassword says what the password has to be, to everybody: SCRAM never shows which one was given, so that a token in
// its place can't be told from any other text.
func (c *client) wrongPassword() error {
	return &fatal{state: "28P01", code: proxy.Unauthorized,
		message: `password authentication failed for user "` + printable(c.serverID) + `"`,
		hint:    "The user is a server's id, and the password one of that server's API keys (tg_srv_…); an access token (tg_dev_…) is for REST only."}
}

// request writes an AuthenticationRequest.
func (c *client) request(kind int, data []byte) {
	at := c.out.Open(frame.AuthenticationRequest)
	c.out.Int32(kind)
	c.out.Raw(data)
	c.out.Shut(at)
}

// response sends what was written and takes the client's answer to it.
func (c *client) response() ([]byte, error) {
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	kind, body, err := c.readMessage(maxSASL)
	switch {
	case err != nil:
		return nil, err
	case kind != frame.Password:
		return nil, &fatal{state: "08P01", code: "invalid_request", message: "expected SASL response"}
	}
	return bytes.Clone(body), nil
}
