package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// canaries are what only the victims' rows hold, in the forms in which a statement could
// give it away: as it is, backwards, in hex, in base64 at each of its three alignments.
func canaries() []string {
	all := []string{"canary", "yranac", "7770777", "1977-07-07"}
	for _, word := range []string{"CANARY", "canary"} {
		all = append(all, hex.EncodeToString([]byte(word)))
		for pad := range 3 {
			coded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", pad) + word))
			all = append(all, strings.ToLower(coded[(pad*8+5)/6:(pad+len(word))*8/6]))
		}
	}
	return all
}

// judge looks for a canary, and for a server of others that the request did not name, in
// the bytes of an answer, and for a failure of the service itself.
func (w *bypassWorld) judge(request string, answer []byte, statuses ...int) (problems []string) {
	seen, sent := string(bytes.ToLower(answer)), strings.ToLower(request)
	for _, c := range canaries() {
		if strings.Contains(seen, c) && !strings.Contains(sent, c) {
			w.leaks++
			problems = append(problems, fmt.Sprintf("LEAK: the answer holds %q: %.500s", c, answer))
		}
	}
	for _, id := range []string{"srv-b", "srv-c", "0b000000-", "0c000000-"} {
		if strings.Contains(seen, id) && !strings.Contains(sent, id) {
			w.leaks++
			problems = append(problems, fmt.Sprintf("LEAK: the answer names %s: %.500s", id, answer))
		}
	}
	if slices.Contains(statuses, http.StatusInternalServerError) {
		w.internal++
		problems = append(problems, fmt.Sprintf("status 500: %.500s", answer))
	}
	return problems
}

// outcome writes what an answer says: the rows, or the error's code. The order of rows
// counts where the request asked for one.
func (a *attacker) outcome(request string, status int, body string) string {
	var answer struct {
		Rows         [][]json.RawMessage
		RowsAffected int
		Error        told
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return fmt.Sprintf("%d %.100q\n", status, body)
	}
	if status != http.StatusOK {
		return strings.TrimSpace(answer.Error.Code+" "+answer.Error.SQLState) + "\n"
	}
	var rows []string
	for _, row := range answer.Rows {
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = string(row[i])
		}
		rows = append(rows, "["+strings.Join(cells, ",")+"]\n")
	}
	if !strings.Contains(strings.ToUpper(request), "ORDER BY") {
		slices.Sort(rows)
	}
	out := strings.Join(rows, "")
	if answer.RowsAffected > 0 {
		out += fmt.Sprintf("%d affected\n", answer.RowsAffected)
	}
	if out == "" {
		return "nothing\n"
	}
	return strings.ReplaceAll(out, a.id, "«id»")
}

// honestSQL is answered the same by a session as it should be, whatever happened on it: it
// depends on every setting that a statement could have left behind.
const (
	honestSQL = `SELECT '2026-01-02 03:04:05+00'::timestamptz::text, '1 day 2 hours'::interval::text, 0.1::float8 + 0.2, '\x4142'::bytea::text, 'a\nb',
		'{NULL}'::text[] IS NOT NULL, (NULL::int = NULL) IS NULL, '01/02/03'::date::text, to_char(1234.5, 'FM9G999D9'), (SELECT count(*) FROM messages WHERE server_id = ? AND id = 'none'), ?::text`
	honestRow = `[["2026-01-02 03:04:05+00","1 day 02:00:00",0.30000000000000004,"\\x4142","a\\nb",true,true,"2001-02-03","1,234.5",0,"` + "MARK" + `"]]`
)

// honest asks an honest statement on the pool that the case was sent on: it must be
// answered rightly.
func (a *attacker) honest(t *testing.T) (problems []string) {
	mark := fmt.Sprintf("%s-%d", a.policy, a.cases)
	body := a.body(honestSQL, []any{mark})
	r, raw, err := a.post(t, a.id, a.AccessToken, body)
	if want := strings.ReplaceAll(honestRow, "MARK", mark); err != nil || r.status != http.StatusOK || !strings.Contains(r.body, `"rows":`+want) {
		a.hangs += count(err != nil)
		problems = append(problems, fmt.Sprintf("an honest statement afterwards: %v %s", err, r.body))
	}
	return append(problems, a.judge(body, raw, r.status)...)
}

// changed looks at what a case left in the database: nothing but the attacker's own rows
// may be other than before.
func (a *attacker) changed(t *testing.T) (problems []string) {
	now := a.digests(t)
	for _, owner := range slices.Sorted(maps.Keys(now)) {
		if owner != a.id && now[owner] != a.rows[owner] {
			a.leaks++
			problems = append(problems, fmt.Sprintf("LEAK: what belongs to %q was changed, or a session left something behind", owner))
		}
	}
	for owner := range a.rows {
		if _, still := now[owner]; !still && owner != a.id {
			a.leaks++
			problems = append(problems, fmt.Sprintf("LEAK: the rows of %q are gone", owner))
		}
	}
	a.rows, a.dirty = now, now[a.id] != a.clean
	return problems
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bystanders has the victims ask for their own: each must be answered with it.
func (w *bypassWorld) bystanders(t *testing.T) (problems []string) {
	if rewriting() {
		return nil
	}
	for _, id := range []string{"srv-b", "srv-c"} {
		a := &attacker{bypassWorld: w, id: id}
		r, _, err := a.postTo(t, w.victimPath(id), w.victims, a.body(`SELECT server_id, name, email FROM end_users WHERE server_id = ? AND id = 'u1'`, nil))
		if err != nil || !strings.Contains(r.body, `"rows":[["`+id+`","CANARY name 1","canary1@example.org"]]`) {
			problems = append(problems, fmt.Sprintf("%s was answered %v %s", id, err, r.body))
		}
	}
	return problems
}
