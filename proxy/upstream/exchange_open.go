package upstream

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// settingsSQL makes settings that end with the transaction.
const settingsSQL = `SELECT pg_catalog.set_config(name, value, true) FROM unnest($1::text[], $2::text[]) AS s(name, value)`

// open takes a connection, where the link has none, and opens a transaction: what a client
// has set and who it is must be there before its first statement.
func (e *exchange) open() error {
	l := e.link
	if !l.held {
		if err := l.acquire(e.ctx, e.replacesConnection()); err != nil {
			return err
		}
		l.lease.session.statements.renew(l.pool.descriptions)
		e.attach()
		if e.s.conn.Frontend().ReadBufferLen() > 0 { // half a message, which nobody will ever read
			e.broken = true
			return frame.ErrMalformed
		}
	}
	portal := ""
	if l.opened { // the client may have an unnamed one
		portal = e.s.ownPortal
	}
	if e.request.Begin.Valid() && !l.explicit {
		e.s.wire.parse("", e.request.Begin.SQL())
		e.s.wire.run(e.s.wire.bindPortal(portal, "", 0), portal)
		e.skipStatement(portal, running)
		l.explicit = true
	}
	if !l.opened || l.settingsLost {
		e.s.writeLimits(portal, e.timeLimit, l.server)
		e.skipStatement(portal, running)
		if len(l.settings) > 0 {
			e.mayMakeZones = e.mayMakeZones || zonedSettings(l.settings)
			e.writeSettings(portal, l.settings)
			e.skipStatement(portal, settling)
		}
		l.inForce = settingsKey(l.settings)
	}
	l.opened, l.settingsLost, e.pending = true, false, true
	return nil
}

// settings takes in what the client has set now.
func (e *exchange) settings() {
	l := e.link
	if l.held && !e.request.Resettle && e.request.Settings == nil {
		return
	}
	l.settingsLost = l.settingsLost || e.request.Resettle
	l.settings = l.settings[:0]
	l.settings = append(l.settings, e.request.Settings...)
}

// skipStatement notes a statement that the client knows nothing of, and closes its portal.
func (e *exchange) skipStatement(portal string, at phase) {
	e.expect(answer{kind: skipRun, at: at})
	if portal != "" {
		e.s.wire.about(frame.Close, frame.Portal, portal)
		e.expect(answer{kind: skipCloseComplete})
	}
}

// settingsKey tells settings from others; no text of a statement holds a NUL.
func settingsKey(settings []policy.Setting) string {
	var key strings.Builder
	for _, s := range settings {
		if s.Name() != lockTimeout {
			key.WriteString("\x00" + s.Name() + "=" + s.Value())
		}
	}
	return key.String()
}

// writeSettings writes the statement that makes settings.
func (e *exchange) writeSettings(portal string, settings []policy.Setting) {
	w := &e.s.wire
	w.parse("", settingsSQL)
	at := w.bindPortal(portal, "", 2)
	for _, of := range []func(policy.Setting) string{policy.Setting.Name, policy.Setting.Value} {
		w.array(len(settings), func(dst []byte, i int) []byte {
			return append(appendEscaped(append(dst, '"'), of(settings[i])), '"')
		})
	}
	w.run(at, portal)
}
