package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// occupy has a victim's transaction hold locks on all of the victims' rows, advisory locks
// and names of a session, until the function that it gives is called.
func (w *bypassWorld) occupy(t *testing.T) (release func()) {
	others := "NOT IN ('" + w.attackers["default"].id + "', '" + w.attackers["inject"].id + "', '" + w.attackers["extra"].id + "', '" + w.attackers["hasty"].id + "')"
	do := func(sql string) {
		if _, err := w.beside.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do("LISTEN canary_channel; SET application_name = 'CANARY'; PREPARE canary_plan AS SELECT 'CANARY'; BEGIN; SELECT pg_advisory_xact_lock(7770777); CREATE TEMP TABLE canary_temp ON COMMIT DROP AS SELECT 'CANARY' AS c")
	for _, table := range []string{"end_users", "conversations", "messages", "files"} {
		do("SELECT 'CANARY' FROM public." + table + " WHERE server_id " + others + " FOR UPDATE")
	}
	return func() { do("ROLLBACK; DEALLOCATE ALL; UNLISTEN *; RESET application_name") }
}

// leave sends a statement, goes away in its middle, and sees that it ends, while a
// victim's own statement, which runs at the same time, is answered in full.
func (a *attacker) leave(t *testing.T, sql string) (said string, problems []string) {
	const bystander = `SELECT count(*), max(name) FROM end_users, generate_series(1, 60000) WHERE server_id = ?`
	answered := make(chan string, 1)
	conn := a.dial(t)
	body := a.body(sql+" /* leaves */", nil)
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", a.queryPath(a.id), a.AccessToken, len(body))
	if _, err := io.WriteString(conn, head+body); err != nil {
		t.Fatal(err)
	}
	running := func() (n int) {
		if err := a.conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%/* leaves */%' AND pid <> pg_backend_pid()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	start := time.Now()
	for running() == 0 && time.Since(start) < time.Second {
		time.Sleep(10 * time.Millisecond)
	}
	go func() {
		other := &bypassWorld{instance: a.instance} // with a connection of its own
		r, _, err := other.postTo(t, a.victimPath("srv-b"), a.victims, a.body(bystander, nil))
		answered <- fmt.Sprint(err, r.body)
	}()
	time.Sleep(100 * time.Millisecond)
	_ = conn.Close()
	for start = time.Now(); running() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 4*time.Second {
			a.hangs++
			return "it runs on\n", []string{"the statement of a client that left runs on"}
		}
	}
	if got := <-answered; !strings.Contains(got, `"success":true`) {
		problems = append(problems, "a bystander was answered "+got)
	}
	return "ended\n", problems
}
