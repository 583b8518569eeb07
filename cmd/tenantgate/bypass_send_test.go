package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/cockroachdb/datadriven"
)

// bypassPatience is when an answer that did not come counts as a hang.
const bypassPatience = 8 * time.Second

// run carries out one directive as this attacker.
func (a *attacker) run(t *testing.T, d *datadriven.TestData) (said string, problems []string) {
	input := a.expand(t, d)
	switch d.Cmd {
	case "query", "then":
		sql, args := splitArgs(t, d, input)
		if d.HasArg("beside") {
			defer a.occupy(t)()
		}
		return a.repeat(t, d, a.body(sql, args))
	case "body":
		return a.send(t, input)
	case "raw":
		return a.raw(t, input, d.HasArg("told"))
	case "leave":
		return a.leave(t, input)
	}
	d.Fatalf(t, "unknown command %q", d.Cmd)
	return "", nil
}

// expand fills in the template of a case: «id» is the attacker's server, «path» its query
// endpoint, «key» its API key, «token» and «project» the attacker's, «others» the victims'
// project; «length» is that of a request's body, «open» leaves its head open; «repeat TEXT N» and «bytes
// TEXT», a Go string with escapes, stand for what can't be written down.
func (a *attacker) expand(t *testing.T, d *datadriven.TestData) string {
	fixed := func(s string) func() string { return func() string { return s } }
	tmpl, err := template.New("").Delims("«", "»").Funcs(template.FuncMap{
		"id": fixed(a.id), "path": fixed(a.queryPath(a.id)), "token": fixed(a.AccessToken), "project": fixed(a.ProjectID), "others": fixed(a.victimProject), "key": fixed(a.key), "length": fixed(lengthMark), "open": fixed(openMark),
		"repeat": strings.Repeat, "seq": func(n int) []int { return make([]int, n) },
		"bytes": func(s string) (string, error) { return strconv.Unquote(`"` + s + `"`) },
	}).Parse(d.Input)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	var out strings.Builder
	if err := tmpl.Execute(&out, nil); err != nil {
		d.Fatalf(t, "%v", err)
	}
	return out.String()
}

// splitArgs takes the last line off where it holds the arguments.
func splitArgs(t *testing.T, d *datadriven.TestData, input string) (sql string, args []any) {
	const mark = "\nargs: "
	at := strings.LastIndex(input, mark)
	if at < 0 {
		return input, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(input[at+len(mark):]), &raw); err != nil {
		d.Fatalf(t, "args: %v", err)
	}
	for _, r := range raw {
		args = append(args, r)
	}
	return input[:at], args
}

// body is the body of a statement's request.
func (a *attacker) body(sql string, args []any) string {
	if args == nil {
		args = []any{}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]any{"query": sql, "args": args}) // texts and raw JSON
	return strings.TrimSpace(out.String())
}

// repeat sends a statement as often as the case wants: from the sixth time on Postgres may
// use a plan that was made for no arguments. The answers must be the same.
func (a *attacker) repeat(t *testing.T, d *datadriven.TestData, body string) (said string, problems []string) {
	times := 1
	d.MaybeScanArgs(t, "times", &times)
	for i := range times {
		now, found := a.send(t, body)
		if problems = append(problems, found...); i > 0 && now != said {
			problems = append(problems, "answered differently when repeated: "+now)
		}
		said = now
	}
	return said, problems
}

func (a *attacker) send(t *testing.T, body string) (said string, problems []string) {
	r, raw, err := a.post(t, a.id, a.AccessToken, body)
	if err != nil {
		a.hangs++
		return "no answer\n", []string{err.Error()}
	}
	return a.outcome(body, r.status, r.body), a.judge(body, raw, r.status)
}

func (w *bypassWorld) post(t *testing.T, server, token, body string) (reply, []byte, error) {
	return w.postTo(t, w.queryPath(server), token, body)
}

func (w *bypassWorld) victimPath(id string) string {
	return strings.Replace(w.queryPath(id), w.ProjectID, w.victimProject, 1)
}

// postTo sends a statement and gives the answer, and its bytes as they came.
func (w *bypassWorld) postTo(t *testing.T, path, token, body string) (reply, []byte, error) {
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, token, len(body), body)
	if w.http == nil {
		w.redial(t)
	}
	_ = w.http.SetDeadline(time.Now().Add(bypassPatience))
	w.seen.Reset()
	if _, err := io.WriteString(w.http, request); err != nil {
		w.http = nil
		return reply{}, nil, err
	}
	answer, err := http.ReadResponse(w.reader, nil)
	if err != nil {
		w.http = nil
		return reply{}, w.seen.Bytes(), err
	}
	received, err := io.ReadAll(answer.Body)
	if err != nil || answer.Close {
		_ = w.http.Close()
		w.http = nil
	}
	return reply{answer.StatusCode, answer.Header, string(received)}, w.seen.Bytes(), err
}

// redial opens the connection that statements are sent on. All that is read is noted.
func (w *bypassWorld) redial(t *testing.T) {
	w.http = w.dial(t)
	w.reader = bufio.NewReader(io.TeeReader(w.http, &w.seen))
}

func (w *bypassWorld) dial(t *testing.T) net.Conn {
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.BaseURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
