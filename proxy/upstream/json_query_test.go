package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure nothing of a statement stays with what runs the next one, which may be another server's: however it ended, and where
// its connection was lost, too.
func TestQueryKeepsNothing(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	q := newQuery()
	for _, c := range []struct {
		st   *statement
		code proxy.Code
	}{
		{st: sel("SELECT 1")},
		{st: write("insert", false, "INSERT INTO t VALUES ($1)", num("7"))},
		{st: write("insert", true, "INSERT INTO t VALUES (1/0) RETURNING a"), code: "query_failed"},
		{st: withLimits(write("insert", true, "INSERT INTO t VALUES (1) RETURNING a"), 0, 1<<20), code: proxy.ResultTooLarge},
		{st: write("insert", false, "INSERT INTO t SELECT 1 FROM pg_terminate_backend(pg_backend_pid())"), code: proxy.UpstreamUnavailable},
	} {
		_, err := q.run(t.Context(), b.pool, c.st, Encoding{}, nil)
		if c.code != "" {
			refusal(t, err, c.code, c.st.text())
		} else if err != nil {
			t.Errorf("%s: %v", c.st.text(), err)
		}
		if l := &q.link; l.held || l.opened || l.explicit || l.failed || l.changed || l.unsynced || l.settingsLost || len(l.settings) > 0 || l.inForce != "" || l.cursors != nil || l.portions.named != nil || l.records.texts != nil {
			t.Errorf("%s: the link keeps %+v", c.st.text(), l)
		}
		if q.json.st != nil || q.json.dst != nil || q.json.Body != nil || q.json.form != nil || len(q.out.Buf) > 0 {
			t.Errorf("%s: the result is kept", c.st.text())
		}
		for _, a := range q.link.exchange.answers[:cap(q.link.exchange.answers)] {
			if a != (answer{}) {
				t.Errorf("%s: an answer is kept: %+v", c.st.text(), a)
				break
			}
		}
	}
}
