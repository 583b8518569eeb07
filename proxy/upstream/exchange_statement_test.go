package upstream

import (
	"reflect"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure nothing of one server's statement is left for the next one that takes its place.
func TestStatementsForget(t *testing.T) {
	b := setup(t, Config{}, "CREATE TABLE notes (server_id text, id int, secret text)")
	st := newStatement()
	st.load(boundTo(t, b, "mine", "SELECT * FROM notes WHERE server_id = ? AND id = ?", num("1")))
	if st.server != "mine" || len(st.params) != 2 || len(st.shapes) == 0 {
		t.Fatalf("got %+v", st)
	}
	st.reset()
	for _, p := range st.params[:cap(st.params)] {
		if p != (policy.Param{}) {
			t.Errorf("left: %+v", p)
		}
	}
	st.params, st.position = nil, nil
	if !reflect.DeepEqual(st, &statement{}) {
		t.Errorf("left: %+v", st)
	}
}

// Ensure a time that Postgres reads off the clock while it parses is not kept.
func TestFleeting(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	st := sel("SELECT 'now'::timestamptz::text AS at")
	st.unapproved().fleeting = true
	if first := b.must(st); first == b.must(st) {
		t.Errorf("time stands still: %s", first)
	}
}
