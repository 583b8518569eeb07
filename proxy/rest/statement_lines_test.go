package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// canary is a value that must not come out in the log.
const canary = "c4n4ry"

// requestLines gives the log's lines on requests, without what differs each time.
func (b *logBuffer) requestLines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		var all map[string]any
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			t.Fatal(err)
		}
		if all["msg"] == "request" {
			maps.DeleteFunc(all, func(name string, _ any) bool {
				return slices.Contains([]string{"time", "level", "msg", "request_id", "endpoint", "status", "duration_us"}, name)
			})
			lines = append(lines, all)
		}
	}
	return lines
}

// Ensure the line on a statement that was refused or failed says what an operator looks for and holds no value, and no other
// line says more than before.
func TestLinesOnStatements(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(_ context.Context, _ string, bound policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			if !strings.Contains(bound.SQL(), "files") {
				return append(dst, `"columns":[],"rows":[]`...), 0, nil
			}
			return dst, 0, &proxy.Error{Code: policy.QueryFailed, SQLState: "22P02", Message: "invalid: " + canary, Cause: errors.New(canary)}
		}
	})
	name := w.file.Name
	files := "SELECT id FROM files WHERE server_id = ? AND id = ?"
	for what, c := range map[string]struct {
		token, body string
		want        map[string]any
		fingerprint string // of which text
	}{
		"a success": {token, `{"query":"SELECT id FROM messages WHERE server_id = ?"}`, map[string]any{"server": "s1", "code": "ok"}, ""},
		"a table that is not listed": {token, `{"query":"SELECT '` + canary + `' FROM secrets"}`,
			map[string]any{"code": "table_not_allowed", "rule": "table", "sqlstate": "42501", "position": 22.0}, "SELECT '' FROM secrets"},
		"a value as a name": {token, `{"query":"SELECT 1 FROM \"` + canary + `\""}`,
			map[string]any{"code": "table_not_allowed", "rule": "table", "sqlstate": "42501", "position": 15.0}, `SELECT 1 FROM "` + canary + `"`},
		"what Postgres does not run": {token, `{"query":"` + files + `","args":["` + canary + `"]}`,
			map[string]any{"code": "query_failed", "sqlstate": "22P02"}, files},
		"no scope": {token, `{"query":"SELECT id FROM files WHERE id = '` + canary + `'"}`,
			map[string]any{"code": "missing_server_scope", "rule": "scope", "sqlstate": "42501", "position": 16.0}, "SELECT id FROM files WHERE id = ''"},
		"a token that may not write": {"read", `{"query":"UPDATE files SET id = '` + canary + `' WHERE server_id = ?"}`,
			map[string]any{"code": "insufficient_scope", "rule": "token", "sqlstate": "42501"}, "UPDATE files SET id = '' WHERE server_id = ?"},
		"no statement": {token, `{"query":"` + canary, map[string]any{"code": "invalid_json", "sqlstate": "22023"}, ""},
		"a stranger":   {"tg_dev_" + canary, `{"query":"SELECT 1"}`, map[string]any{"server": "", "code": "unauthorized"}, ""},
	} {
		before := len(w.logs.requestLines(t))
		w.call("POST", queryPath, c.body, as(c.token))
		waitUntil(t, "the line", func() bool { return len(w.logs.requestLines(t)) > before })
		if _, same := c.want["server"]; !same {
			maps.Copy(c.want, map[string]any{"server": "s1", "token": "t", "project": projectID, "policy": name})
		}
		if c.fingerprint != "" {
			c.want["fingerprint"] = policy.Fingerprint(c.fingerprint)
		}
		if lines := w.logs.requestLines(t)[before:]; len(lines) != 1 || !maps.Equal(lines[0], c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", what, lines, c.want)
		}
	}
	if strings.Contains(w.logs.String(), canary) || strings.Contains(w.logs.String(), "tg_dev_") {
		t.Errorf("a value is in the log: %s", w.logs)
	}
}

// Ensure a cause has the same attributes, and a server that the token does not reach no policy.
func TestCausesNameTheStatement(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(context.Context, string, policy.Bound, rest.Form, []byte) ([]byte, int64, error) {
			return nil, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "away", Cause: errors.New("no route")}
		}
	})
	const text = "SELECT id FROM messages WHERE server_id = ?"
	w.call("POST", queryPath, `{"query":"`+text+`"}`, as(token))
	w.call("POST", serversPath+"/nobody/database/query", `{"query":"SELECT 1"}`, as(token))
	waitUntil(t, "the lines", func() bool { return len(w.logs.requestLines(t)) == 2 })
	for line := range strings.Lines(w.logs.String()) {
		if strings.Contains(line, `"request failed"`) != strings.Contains(line, `"error":`) || strings.Contains(line, "request failed") &&
			!strings.Contains(line, `"token":"t","project":"p1","policy":"`+w.file.Name+`","sqlstate":"08006","fingerprint":"`+policy.Fingerprint(text)+`"`) {
			t.Error(line)
		}
	}
	if missed := w.logs.requestLines(t)[1]; missed["code"] != "not_found" || missed["token"] != "t" || missed["policy"] != nil {
		t.Errorf("%v", missed)
	}
}
