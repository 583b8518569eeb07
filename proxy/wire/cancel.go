package wire

import "github.com/tenantgate/tenantgate/proxy/frame"

// cancel ends the statement that runs for the client whose numbers are told, and answers
// nothing, whether or not there is one (PostgreSQL manual, "Canceling Requests in Progress").
// It starts nothing: so there are at most as many at a time as there may be clients.
//
// Who guesses numbers gets few tries: see Server.strays.
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
	target := c.server.clients.find(process, secret)
	if target == nil {
		strays.failed(c.network)
		return errCancel
	}
	target.cancelRunning()
	return errCancel
}
