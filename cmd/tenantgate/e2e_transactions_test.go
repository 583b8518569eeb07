package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// as connects as a server.
func (in *instance) as(t testing.TB, id, key string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgURL(strings.Split(strings.Split(in.PgURL, "@")[1], "/")[0], id, key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// stateOf gives the SQLSTATE of an error of Postgres', else what it says.
func stateOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return fmt.Sprint(err)
}

// keepBusy runs a statement every tenth of a second until that fails, and gives how long that
// took.
func keepBusy(t testing.TB, tx pgx.Tx) (time.Duration, error) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
		if _, err := tx.Exec(t.Context(), "SELECT count(*) FROM messages"); err != nil {
			return time.Since(start), err
		}
	}
	return 0, nil
}

// TestTransactionsEnd has a client keep a transaction open by a statement now and then: it ends
// all the same, and nothing of it stays in the database. What is short goes on as before.
func TestTransactionsEnd(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--pg-transaction-timeout=2s")
	admin := in.connect(t)
	conn := in.as(t, in.ServerID, in.APIKey)
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO conversations (id, title) VALUES ('aged', 'x')"); err != nil {
		t.Fatal(err)
	}
	took, err := keepBusy(t, tx)
	if stateOf(err) != "25P04" || took < 1500*time.Millisecond || took > 15*time.Second {
		t.Errorf("it ended after %v: %v", took, err)
	}
	waitFor(t, func() bool {
		var n int
		err := admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenantgate' AND xact_start IS NOT NULL").Scan(&n)
		return err == nil && n == 0
	})
	conn = in.as(t, in.ServerID, in.APIKey)
	var kept int
	for range 30 { // longer than a transaction may be
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM conversations WHERE id = 'aged'").Scan(&kept); err != nil || kept != 0 {
			t.Fatalf("%d, %v", kept, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, body := in.ops(t, "/metrics"); !strings.Contains(body, `tenantgate_pg_transactions_ended_total{reason="timeout"} 1`) {
		t.Error("it was not counted")
	}
}

// TestTransactionsOfRunningStatements ends a transaction within a statement, too, and one whose
// client sends rows of a COPY.
func TestTransactionsOfRunningStatements(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--pg-transaction-timeout=1s")
	conn := in.as(t, in.ServerID, in.APIKey)
	start := time.Now()
	_, err := conn.Exec(t.Context(), slow(100))
	if took := time.Since(start); stateOf(err) != "25P04" || took > 15*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
	conn = in.as(t, in.ServerID, in.APIKey)
	_, err = conn.PgConn().CopyFrom(t.Context(), &drip{}, "COPY conversations (id, title) FROM STDIN")
	if stateOf(err) != "25P04" {
		t.Errorf("a COPY: %v", err)
	}
}

// drip is rows that come one by one, for long.
type drip struct{ n int }

func (d *drip) Read(p []byte) (int, error) {
	if d.n++; d.n > 200 {
		return 0, errors.New("nobody has ended it")
	}
	time.Sleep(50 * time.Millisecond)
	return copy(p, fmt.Sprintf("drip%d\tx\n", d.n)), nil
}

// TestContendedTransactionsEnd has two servers of one project keep all the transactions open that
// they can. A server of another project is served at once. One of their own waits for the oldest
// to end, which it does after a while; who holds no more than others keeps what it has.
func TestContendedTransactionsEnd(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--pool-max=8", "--pool-wait=8s", "--pg-contended-timeout=2s")
	second, secondKey := in.newServer(t, "second")
	third, thirdKey := in.newServer(t, "third")
	var project struct{ ID string }
	if err := json.Unmarshal([]byte(in.cli(t, "project", "create", "other", "--json")), &project); err != nil {
		t.Fatal(err)
	}
	var other struct{ ID, APIKey string }
	if err := json.Unmarshal([]byte(in.cli(t, "server", "create", "theirs", "--project", project.ID, "--json")), &other); err != nil {
		t.Fatal(err)
	}
	var open []pgx.Tx
	hold := func(id, key string) pgx.Tx {
		t.Helper()
		tx, err := in.as(t, id, key).Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "SELECT 1")
		}
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, tx)
		return tx
	}
	for range 5 {
		hold(in.ServerID, in.APIKey)
	}
	hold(second, secondKey)
	quiet := hold(other.ID, other.APIKey) // had it to wait, a transaction more would end
	if _, err := in.as(t, third, thirdKey).Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("a third server: %v", err)
	}
	ended := 0
	for i, tx := range open {
		_, err := tx.Exec(t.Context(), "SELECT 1")
		switch state := stateOf(err); {
		case err == nil:
		case i < 5 && state == "25P04":
			ended++
		default:
			t.Errorf("transaction %d: %v", i, err)
		}
	}
	if ended != 1 {
		t.Errorf("%d transactions were ended for one statement", ended)
	}
	if err := quiet.Commit(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLockTimeout has a statement wait for a row that somebody holds: not as long as a statement
// may run, and no longer where the client asks for that.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--lock-timeout=2s")
	admin := in.connect(t)
	holder, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(context.Background()) }()
	if tag, err := holder.Exec(t.Context(), "UPDATE end_users SET name = name WHERE server_id = $1", in.ServerID); err != nil || tag.RowsAffected() == 0 {
		t.Fatal(tag, err)
	}
	conn := in.as(t, in.ServerID, in.APIKey)
	for set, most := range map[string]time.Duration{"0": 10 * time.Second, "1h": 10 * time.Second, "100ms": 1900 * time.Millisecond} {
		if _, err := conn.Exec(t.Context(), "SET lock_timeout = '"+set+"'"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err := conn.Exec(t.Context(), "UPDATE end_users SET name = 'x'")
		if took := time.Since(start); stateOf(err) != "55P03" || took > most {
			t.Errorf("lock_timeout %s: after %v: %v", set, took, err)
		}
		var shown string
		if err := conn.QueryRow(t.Context(), "SHOW lock_timeout").Scan(&shown); err != nil || shown != set {
			t.Errorf("SHOW: %s, %v", shown, err)
		}
	}
	if r := in.query(t, "UPDATE end_users SET name = 'x' WHERE server_id = ?"); errorOf(t, r).SQLState != "55P03" {
		t.Errorf("REST: %d %s", r.status, r.body)
	}
}
