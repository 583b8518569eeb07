package wire

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// A change whose end nobody knows is told as that when the service ends too: whoever is told to
// connect again repeats it.
func TestUnknownEndAtShutdown(t *testing.T) {
	w := greeted(t)
	w.link.before = func(context.Context, string) { w.cancel(errShutdown) }
	w.link.fails["content"] = &proxy.Error{Code: proxy.StatementTimeout, SQLState: "08007", Message: "whether it took effect is not known", Unsettled: true}
	w.is(w.query("SELECT content FROM messages"), "FATAL 08007 end")
}

// Whom the gate refuses keeps no connection and no lock of the transaction that he has open.
func TestRefusedHoldsNothing(t *testing.T) {
	for name, ask := range map[string]func(w *sitting, text string) string{
		"simple":   func(w *sitting, text string) string { return w.query(text) },
		"extended": func(w *sitting, text string) string { return w.pipe(&pgproto3.Parse{Query: text}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := greeted(t)
			w.query("BEGIN; SAVEPOINT a")
			w.query(all)
			w.link.did()
			w.gate.inactive = true
			w.is(ask(w, all), "ERROR 42501 E")
			w.is(w.link.did(), "rolled back")
			w.is(ask(w, "ROLLBACK"), "ERROR 42501 E")
			w.gate.inactive = false
			w.is(w.query("ROLLBACK TO a"), "ERROR 3B001 E")
			w.is(w.query("COMMIT"), "<ROLLBACK> I")
			w.is(w.query(all), "columns() row() <SELECT 1> I")
		})
	}
}

// A statement that is asked again with its constants counts once, and what is refused of it is
// told of the whole text.
func TestAskedAgainIsOne(t *testing.T) {
	w := greeted(t)
	const text = "SELECT content FROM messages WHERE id = 'a constant that is long' AND role = 'user'"
	w.link.fails["content"] = pgError("42703", "no")
	w.is(w.query(text), "ERROR 42703 I")
	if n := w.tally.of("statement select query_failed"); n != 1 {
		t.Errorf("counted %d times", n)
	}
	w.gate.says = func(asked string) error {
		if asked != text {
			return nil
		}
		return &proxy.Error{Code: policy.ColumnNotAllowed, Message: "no", Position: 70}
	}
	w.is(w.query(text), "ERROR 42501@70 I")
}

// Who has a place among the statements that run is waited for as in a transaction.
func TestPlaceIsNotKeptIdle(t *testing.T) {
	w := greeted(t)
	w.send(&pgproto3.Parse{Query: "SHOW timezone"}, &pgproto3.Flush{}) // needs no connection
	until(t, func() bool { return phase(w.client.phase.Load()) == transaction })
	w.send(&pgproto3.Sync{})
	w.is(w.answers(), "parsed I")
	until(t, func() bool { return phase(w.client.phase.Load()) == idle })
}
