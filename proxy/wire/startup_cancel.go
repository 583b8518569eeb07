package wire

import "github.com/tenantgate/tenantgate/proxy/frame"

// cancel ends the statement that runs for the client whose numbers are told, and answers
// nothing, whether or not there is one (PostgreSQL manual, "Canceling Requests in Progress").
// It starts nothing: so there are at most as many at a time as there may be clients.
//
// Who guesses secrets gets few tries, which are counted apart from those to log in: a burst of
// 100, then ten a second. For all 32 bits that takes 13 years, of a client whose process is
// known; that is one of 31 bits itself. Who asks for a client that is gone guesses nothing:
// applications do, when a statement's time is up as its connection ends.
func (c *client) cancel(body []byte) error {
	in := frame.NewScan(body)
	process, secret := int32(in.Int32()), int32(in.Int32()) //nolint:gosec // they were read as such
	if !in.Whole() {
		return errStrange
	}
	strays := c.server.strays
	if !strays.may(c.network) {
		return errCancel
	}
	target, guessed := c.server.clients.find(process, secret)
	switch {
	case guessed:
		strays.failed(c.network)
	case target != nil:
		target.cancelRunning()
	}
	return errCancel
}
