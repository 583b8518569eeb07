package upstream

import (
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// settingsSQL makes settings that end with the transaction.
const settingsSQL = `SELECT pg_catalog.set_config(name, value, true) FROM unnest($1::text[], $2::text[]) AS s(name, value)`

// open takes a connection, where the link has none, and opens a transaction: what a client
// has set and who it is must be there before its first statement.
func (e *exchange) open() error {
	l := e.link
	if !l.held {
		if err := l.acquire(e.ctx); err != nil {
			return err
		}
		e.attach()
		if e.s.conn.Frontend().ReadBufferLen() > 0 { // half a message, which nobody will ever read
			e.broken = true
			return frame.ErrMalformed
		}
		e.s.statements.renew(l.pool.descriptions.epoch.Load())
		e.s.statements.deallocate(&e.s.wire)
	}
	if e.of.Begin != nil && !l.explicit {
		e.s.wire.parse("", e.of.Begin.Rewritten())
		e.s.wire.execute(e.s.wire.bind("", 0))
		e.expect(answer{kind: ownRun})
		l.explicit = true
		l.wants(e.of.Begin)
	}
	if !l.opened || e.of.Resettle {
		e.s.writeLimits(e.time, l.server)
		e.expect(answer{kind: ownRun})
	}
	if len(e.of.Settings) > 0 {
		e.writeSettings(e.of.Settings)
		e.expect(answer{kind: ownRun, at: settling})
	}
	l.opened, e.pending = true, true
	return nil
}

// writeSettings writes the statement that makes settings.
func (e *exchange) writeSettings(settings []proxy.Setting) {
	w := &e.s.wire
	w.parse("", settingsSQL)
	at := w.bind("", 2)
	for _, of := range []func(proxy.Setting) string{
		func(s proxy.Setting) string { return s.Name }, func(s proxy.Setting) string { return s.Value },
	} {
		from := w.out.OpenValue()
		w.out.Byte('{')
		for i, s := range settings {
			w.separate(i)
			w.out.Byte('"')
			w.out.Buf = appendEscaped(w.out.Buf, of(s))
			w.out.Byte('"')
		}
		w.out.Byte('}')
		w.out.ShutValue(from)
	}
	w.execute(at)
}
