package wire

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

const insertTwo = "INSERT INTO notes (id) VALUES (2)"

// Ensure a block whose backend is gone can be ended as in Postgres: ROLLBACK is done, and a COMMIT
// that fails has ended it.
func TestRealEndOfLostBlock(t *testing.T) {
	const (
		selected   = "columns(?column?:23) row(1) <SELECT 1> "
		rolledBack = "<ROLLBACK> I"
		unknown    = "ERROR 08007 I"
		lost       = "ERROR 08006 E"
		nothing    = "WARNING 25P01 <ROLLBACK> I"
		off        = "columns(transaction_read_only:25) row(off) <SHOW> "
	)
	for name, script := range map[string][]saidTo{
		"rollback":                 {{"ROLLBACK", rolledBack}, {"SELECT 1", selected + "I"}},
		"abort":                    {{"ABORT", rolledBack}},
		"rollback and more":        {{"ROLLBACK; SELECT 1", "<ROLLBACK> " + selected + "I"}},
		"rollback behind an item":  {{"SHOW transaction_read_only; ROLLBACK", off + rolledBack}},
		"rollback and chain":       {{"ROLLBACK AND CHAIN", "<ROLLBACK> T"}, {insertTwo, "<INSERT 0 1> T"}, {"ROLLBACK", rolledBack}},
		"rollback of a setting":    {{"SET DateStyle = 'German'", "<SET> DateStyle=German, DMY T"}, {"ROLLBACK", "<ROLLBACK> DateStyle=ISO, YMD I"}},
		"rollback twice":           {{"ROLLBACK", rolledBack}, {"ROLLBACK", nothing}},
		"commit":                   {{"COMMIT", unknown}, {"SELECT 1", selected + "I"}, {"ROLLBACK", nothing}},
		"end":                      {{"END", unknown}},
		"commit and more":          {{"COMMIT; SELECT 1", unknown}, {"SELECT 1", selected + "I"}},
		"commit and chain":         {{"COMMIT AND CHAIN", unknown}, {"SELECT 1", selected + "I"}},
		"commit and a new one":     {{"COMMIT; BEGIN", unknown}, {"BEGIN; SELECT 1", "<BEGIN> " + selected + "T"}, {"COMMIT", "<COMMIT> I"}},
		"commit of a setting":      {{"SET DateStyle = 'German'", "<SET> DateStyle=German, DMY T"}, {"COMMIT", "ERROR 08007 DateStyle=ISO, YMD I"}},
		"a write and its commit":   {{insertTwo + "; COMMIT", unknown}, {"SELECT 1", selected + "I"}, {"ROLLBACK", nothing}},
		"a write and its rollback": {{insertTwo + "; ROLLBACK", lost}, {"SELECT 1", "ERROR 25P02 E"}, {"ROLLBACK", rolledBack}},
		"noticed before":           {{insertTwo, lost}, {"SELECT 1", "ERROR 25P02 E"}, {"COMMIT", rolledBack}, {"SELECT 1", selected + "I"}},
		"noticed before, rollback": {{"SELECT 1", lost}, {"ROLLBACK AND CHAIN", "<ROLLBACK> T"}, {"COMMIT", "<COMMIT> I"}},
		"to a savepoint":           {{"ROLLBACK TO a", lost}, {"ROLLBACK TO a", lost}, {"SELECT 1", "ERROR 25P02 E"}, {"ROLLBACK", rolledBack}},
		"release and rollback":     {{"RELEASE a; ROLLBACK", lost}, {"ROLLBACK", rolledBack}},
	} {
		t.Run(name, func(t *testing.T) {
			w, admin := onPostgres(t)
			w.query("BEGIN; SAVEPOINT a")
			w.is(w.query(insertTwo), "<INSERT 0 1> T")
			endBackends(t, admin)
			for _, s := range script {
				if got := w.query(s.text); got != s.want {
					t.Errorf("%s\ngot  %s\nwant %s", s.text, got, s.want)
				}
			}
			w.is(w.query("SELECT count(*) FROM notes WHERE id = 2"), "columns(count:20) row(0) <SELECT 1> I")
		})
	}
}

// Ensure the same of the extended protocol, where what follows a failure is left out up to the Sync.
func TestRealPipedEndOfLostBlock(t *testing.T) {
	for name, c := range map[string]struct {
		pipe []pgproto3.FrontendMessage
		want string
	}{
		"rollback":                  {step("ROLLBACK"), "parsed bound <ROLLBACK> I"},
		"rollback and more":         {slices.Concat(step("ROLLBACK"), step("SELECT id FROM notes WHERE id = 1")), "parsed bound <ROLLBACK> parsed bound row(1) <SELECT 1> I"},
		"rollback and a new one":    {slices.Concat(step("ROLLBACK"), step("BEGIN"), step("SELECT id FROM notes WHERE id = 1")), "parsed bound <ROLLBACK> parsed bound <BEGIN> parsed bound row(1) <SELECT 1> T"},
		"rollback and chain":        {step("ROLLBACK AND CHAIN"), "parsed bound <ROLLBACK> T"},
		"commit":                    {step("COMMIT"), "parsed bound ERROR 08007 I"},
		"commit and more":           {slices.Concat(step("COMMIT"), step("SELECT id FROM notes")), "parsed bound ERROR 08007 I"},
		"commit and chain":          {step("COMMIT AND CHAIN"), "parsed bound ERROR 08007 I"},
		"a write and its commit":    {slices.Concat(step(insertTwo), step("COMMIT")), "parsed ERROR 08007 I"},
		"a write and its rollback":  {slices.Concat(step(insertTwo), step("ROLLBACK")), "parsed ERROR 08006 E"},
		"a Parse and a rollback":    {slices.Concat([]pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: insertTwo}}, step("ROLLBACK")), "parsed parsed bound <ROLLBACK> I"},
		"a rollback that is asked":  {append(step("ROLLBACK"), &pgproto3.Flush{}), "parsed bound <ROLLBACK> I"},
		"a commit that is asked":    {append(step("COMMIT"), &pgproto3.Flush{}), "parsed bound ERROR 08007 I"},
		"a savepoint to go back to": {step("ROLLBACK TO a"), "parsed bound ERROR 08006 E"},
	} {
		t.Run(name, func(t *testing.T) {
			w, admin := onPostgres(t)
			for range 2 { // so that it is kept
				w.query("BEGIN; SAVEPOINT a")
				w.is(w.pipe(step(insertTwo)...), "parsed bound <INSERT 0 1> T")
				w.query("ROLLBACK")
			}
			w.query("BEGIN; SAVEPOINT a")
			w.is(w.pipe(step(insertTwo)...), "parsed bound <INSERT 0 1> T")
			endBackends(t, admin)
			w.is(w.pipe(c.pipe...), c.want)
			w.query("ROLLBACK")
			w.is(w.query("SELECT count(*) FROM notes WHERE id = 2"), "columns(count:20) row(0) <SELECT 1> I")
		})
	}
}

// Ensure a transaction that only read is told as lost, and has ended too.
func TestRealCommitOfLostReads(t *testing.T) {
	w, admin := onPostgres(t)
	w.query("BEGIN; SELECT id FROM notes")
	endBackends(t, admin)
	w.is(w.query("COMMIT"), "ERROR 08006 I")
	w.is(w.query(insertTwo), "<INSERT 0 1> I")
}

// Ensure nobody is told that a change was undone whose COMMIT was done, where the answer to it is
// lost: not by the error, nor by what ROLLBACK says behind it.
func TestRealCommittedUnheard(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		run   func(w *sitting) string
		want  string
	}{
		"commit":           {insertTwo, func(w *sitting) string { return w.query("COMMIT") }, "ERROR 08007 I"},
		"commit and chain": {insertTwo, func(w *sitting) string { return w.query("COMMIT AND CHAIN") }, "ERROR 08007 I"},
		"in one text":      {"SELECT 1", func(w *sitting) string { return w.query(insertTwo + "; COMMIT; SELECT 1") }, "ERROR 08007 I"},
		"in one pipe": {"SELECT 1", func(w *sitting) string {
			return w.pipe(slices.Concat(step(insertTwo), step("COMMIT"))...)
		}, "ERROR 08007 I"},
	} {
		t.Run(name, func(t *testing.T) {
			w, r, admin := behindRelay(t)
			w.query("BEGIN")
			w.query(c.first)
			r.Watch.Store(new(func(p pgtest.Part) bool { return !p.Answer || !bytes.Contains(p.Bytes, []byte("COMMIT\x00")) }))
			w.is(c.run(w), c.want)
			r.Watch.Store(nil)
			for _, text := range []string{"ROLLBACK", "COMMIT"} {
				w.is(w.query(text), "WARNING 25P01 <"+text+"> I")
			}
			var n int
			if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 2").Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}

// Ensure a ROLLBACK is done of which nothing is heard.
func TestRealRollbackUnheard(t *testing.T) {
	w, r, _ := behindRelay(t)
	w.query("BEGIN")
	w.query(insertTwo)
	r.Watch.Store(new(func(p pgtest.Part) bool { return !p.Answer || !bytes.Contains(p.Bytes, []byte("ROLLBACK\x00")) }))
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	r.Watch.Store(nil)
	w.is(w.query("SELECT count(*) FROM notes WHERE id = 2"), "columns(count:20) row(0) <SELECT 1> I")
}

// endBackends ends all backends of the pool's, as a failover does.
func endBackends(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	const of = "FROM pg_catalog.pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()"
	if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) "+of); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		var n int
		if err := admin.QueryRow(t.Context(), "SELECT count(*) "+of).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("a backend lives on")
}

// behindRelay has a session serve a client of a real database that is reached through a relay.
func behindRelay(t *testing.T) (*sitting, *pgtest.Relay, *pgx.Conn) {
	t.Helper()
	db := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	if _, err := admin.Exec(t.Context(), realSchema); err != nil {
		t.Fatal(err)
	}
	r, url := pgtest.NewRelay(t, db)
	pool, err := upstream.Open(t.Context(), upstream.Config{URL: url, SearchPath: "pg_catalog, public", AcquireTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w := sitOn(t, realGate(t, pool), pool.Link(proxy.Account{Server: ownID}), nil)
	w.answers()
	return w, r, admin
}
