package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure COPY doesn't write an interval whose fields say what a bare number is, for its values go as parameters, and writes those that
// don't, and a domain over one, as Postgres does.
func TestRealCopyOfIntervals(t *testing.T) {
	w, _ := onPostgres(t)
	w.is(w.query("COPY spans (id, one) FROM STDIN"), "ERROR 0A000 I")
	w.is(w.query("COPY spans (many, id) FROM STDIN"), "ERROR 0A000 I")
	w.is(w.query("COPY spans FROM STDIN"), "ERROR 0A000 I")
	w.send(&pgproto3.Query{String: "COPY spans (id, loose, own) FROM STDIN"}, &pgproto3.CopyData{Data: []byte("1\t2\t2\n")}, &pgproto3.CopyDone{})
	w.is(w.answers(), "copyin0 [0 0 0] <COPY 1> I")
	w.is(w.query("SELECT loose, own FROM spans"), "columns(loose:1186,own:1186) row(00:00:02,2 days) <SELECT 1> I")
}

// Ensure a value of a domain is read as by the domain, wherever the text of a command holds it, and that one which is too long is cut
// where it is a constant.
func TestRealDomains(t *testing.T) {
	w, _ := onPostgres(t)
	w.query("INSERT INTO spans (id, own, code) VALUES (1, '2', 'abc')")
	for _, where := range []string{"own = '2'::days", "code = 'abcdef'::code", "code = CAST('abcdef' AS public.code)", "code = code 'abcdef'"} {
		w.is(w.query("SELECT id FROM spans WHERE "+where), "columns(id:23) row(1) <SELECT 1> I")
		w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM spans WHERE "+where+"; FETCH c; ROLLBACK"), "<BEGIN> <DECLARE CURSOR> columns(id:23) row(1) <FETCH 1> <ROLLBACK> I")
	}
	w.query("BEGIN")
	w.is(w.pipe(step("DECLARE c CURSOR FOR SELECT id FROM spans WHERE own = $1::days", "2")...), "parsed bound <DECLARE CURSOR> T")
	w.is(w.query("FETCH c"), "columns(id:23) row(1) <FETCH 1> T")
	w.query("ROLLBACK")
	w.is(w.query("COPY (SELECT id FROM spans WHERE own = '2'::days) TO STDOUT"), "*pgproto3.CopyOutResponse *pgproto3.CopyData *pgproto3.CopyDone <COPY 1> I")
}
