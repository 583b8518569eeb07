package wire

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

const all = "SELECT id FROM messages"

// A block is begun with its first statement, with all modes that it was given until then.
func TestBlock(t *testing.T) {
	w := greeted(t)
	w.is(w.query("BEGIN"), "<BEGIN> T")
	w.is(w.link.did(), "")
	w.is(w.query(all), "columns() row() <SELECT 1> T")
	w.is(w.link.did(), "{BEGIN} simple [] sync")
	w.is(w.query("COMMIT"), "<COMMIT> I")
	w.is(w.link.did(), "simple sync")
	w.is(w.query("START TRANSACTION ISOLATION LEVEL SERIALIZABLE"), "<START TRANSACTION> T")
	w.is(w.query("SET TRANSACTION READ ONLY"), "<SET> T")
	w.is(w.query("SHOW transaction_isolation"), "columns(transaction_isolation:25) row(serializable) <SHOW> T")
	w.is(w.query(all), "columns() row() <SELECT 1> T")
	w.is(w.link.did(), "{BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY} simple [] sync")
	w.is(w.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), "<SET> T")
	w.is(w.link.did(), "")
	w.is(w.query("ROLLBACK AND CHAIN"), "<ROLLBACK> T")
	w.is(w.link.did(), "simple sync")
	w.is(w.query(all), "columns() row() <SELECT 1> T")
	w.is(w.link.did(), "{BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY} simple [] sync")
	w.is(w.query("BEGIN"), "WARNING 25001 <BEGIN> T")
	w.is(w.query("END"), "<COMMIT> I")
	w.is(w.query("COMMIT"), "WARNING 25P01 <COMMIT> I")
	w.is(w.query("ROLLBACK"), "WARNING 25P01 <ROLLBACK> I")
	w.is(w.query("COMMIT AND CHAIN"), "ERROR 25P01 I")
	w.is(w.query("SET TRANSACTION READ ONLY"), "WARNING 25P01 <SET> I")
	w.link.did()
	w.is(w.query("BEGIN"), "<BEGIN> T")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	w.is(w.link.did(), "")
}

// Whoever fails the block, us or Postgres, nothing runs in it until it ends.
func TestFailedBlock(t *testing.T) {
	w := greeted(t)
	w.link.fails["content"] = pgError("22012", "division by zero")
	for text, code := range map[string]string{"SELECT 1 FROM secrets": "42501@15", "SELECT content FROM messages": "22012"} {
		w.query("BEGIN")
		w.query(all)
		w.is(w.query(text), "ERROR "+code+" E")
		w.link.did()
		w.is(w.query(all), "ERROR 25P02 E")
		w.is(w.query("SELECT version()"), "ERROR 25P02 E")
		w.is(w.query("SHOW TimeZone"), "ERROR 25P02 E")
		w.is(w.query(""), "empty E")
		w.is(w.pipe(step(all)...), "ERROR 25P02 E")
		w.is(w.link.did(), "")
		w.is(w.query("COMMIT"), "<ROLLBACK> I")
		w.is(w.link.did(), "rolled back")
		w.is(w.query(all), "columns() row() <SELECT 1> I")
	}
}

func TestSavepoints(t *testing.T) {
	w := greeted(t)
	w.is(w.query("SAVEPOINT a"), "ERROR 25P01 I")
	w.is(w.query("RELEASE a"), "ERROR 25P01 I")
	w.is(w.query("ROLLBACK TO a"), "ERROR 25P01 I")
	w.query("BEGIN")
	w.is(w.query("ROLLBACK TO a"), "ERROR 3B001 E")
	w.query("ROLLBACK")
	w.query("BEGIN")
	w.is(w.query("SAVEPOINT a"), "<SAVEPOINT> T")
	w.is(w.link.did(), "{BEGIN} simple sync")
	w.is(w.query("SET DateStyle = 'SQL, DMY'"), "<SET> DateStyle=SQL, DMY T")
	w.is(w.query("SELECT 1 FROM secrets"), "ERROR 42501@15 DateStyle=ISO, YMD E")
	w.is(w.query("SAVEPOINT b"), "ERROR 25P02 E")
	w.is(w.query("ROLLBACK TO a"), "<ROLLBACK> T")
	w.is(w.query("RELEASE a"), "<RELEASE> T")
	w.is(w.query("COMMIT"), "<COMMIT> I")
}

// In the extended protocol, too; and what is piped is run in as few exchanges as can be.
func TestPipedBlock(t *testing.T) {
	w := greeted(t)
	w.is(w.pipe(slices.Concat(step("BEGIN"), step(all), step("COMMIT"))...), "parsed bound <BEGIN> parsed bound row() <SELECT 1> parsed bound <COMMIT> I")
	w.is(w.link.did(), "{BEGIN} parse bind [] execute say say simple sync")
	w.is(w.pipe(slices.Concat(step("BEGIN"), step(all), step("COMMIT"), step("BEGIN"), step(all), step("ROLLBACK"))...),
		"parsed bound <BEGIN> parsed bound row() <SELECT 1> parsed bound <COMMIT> parsed bound <BEGIN> parsed bound row() <SELECT 1> parsed bound <ROLLBACK> I")
	w.link.fails["content"] = pgError("22012", "division by zero")
	w.is(w.pipe(slices.Concat(step("BEGIN"), step("SELECT content FROM messages"), step("COMMIT"))...), "parsed bound <BEGIN> ERROR 22012 E")
	w.is(w.pipe(step("ROLLBACK")...), "parsed bound <ROLLBACK> I")
	w.link.did()
	w.is(w.pipe(slices.Concat(step(all), step("BEGIN"))...), "parsed bound row() <SELECT 1> parsed bound <BEGIN> T")
	w.is(w.link.did(), "parse bind [] execute say say; {BEGIN} BEGIN WITHIN ONE; sync")
	w.is(w.pipe(step("ROLLBACK")...), "parsed bound <ROLLBACK> I")
	w.is(w.pipe(&pgproto3.Parse{Query: "SHOW TimeZone"}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}),
		"parsed params[] columns(TimeZone:25) bound columns(TimeZone:25) row(UTC) <SHOW> I")
	w.is(w.pipe(&pgproto3.Parse{Query: "BEGIN"}, &pgproto3.Describe{ObjectType: 'S'}), "parsed params[] nodata I")
}

// A failed COMMIT ends the block; a connection that is lost under another statement does not, for the
// client does not know.
func TestFailedCommit(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	w.query(all)
	w.link.fails["COMMIT"] = pgError("23503", "deferred")
	w.link.named = false
	w.is(w.query("COMMIT"), "ERROR 23503 I")
	w.query("BEGIN")
	w.query(all)
	w.link.named = false
	w.link.fails["content"] = pgError("08006", "lost")
	w.is(w.query("SELECT content FROM messages"), "ERROR 08006 E")
	w.is(w.query(all), "ERROR 25P02 E")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
}

// BEGIN and COMMIT among the statements of one text.
func TestBlockInText(t *testing.T) {
	w := greeted(t)
	w.is(w.query("BEGIN; "+all+"; COMMIT"), "<BEGIN> columns() row() <SELECT 1> <COMMIT> I")
	w.is(w.link.did(), "{BEGIN} simple [] simple sync")
	w.is(w.query(all+"; BEGIN; "+all), "columns() row() <SELECT 1> <BEGIN> columns() row() <SELECT 1> T")
	w.is(w.link.did(), "{BEGIN} simple []; simple [] sync")
	w.is(w.query("COMMIT"), "<COMMIT> I")
	w.is(w.query(all+"; COMMIT; "+all), "columns() row() <SELECT 1> WARNING 25P01 <COMMIT> columns() row() <SELECT 1> I")
}

// The modes of transactions to come are those of implicit ones, too.
func TestSessionModes(t *testing.T) {
	w := greeted(t)
	w.is(w.query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"), "<SET> default_transaction_read_only=on I")
	w.link.did()
	w.is(w.query(all), "columns() row() <SELECT 1> I")
	w.is(w.link.did(), "{BEGIN READ ONLY} simple [] quiet sync")
	w.query("BEGIN ISOLATION LEVEL SERIALIZABLE")
	w.query(all)
	w.is(w.link.did(), "{BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY} simple [] sync")
	w.query("COMMIT")
	w.is(w.query("SET default_transaction_read_only = off"), "<SET> default_transaction_read_only=off I")
}
