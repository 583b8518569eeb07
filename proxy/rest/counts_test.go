package rest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Each request is counted once, as what became of it.
func TestCounts(t *testing.T) {
	var answer error
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.limit(policy.Limits{RequestsPerSecond: -1})
		c.Query = func(ctx context.Context, _ string, bound policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
			if answer != nil {
				return dst, 0, answer
			}
			return w.answer(ctx, "", bound, as, dst)
		}
	})
	const insert = `{"query":"INSERT INTO files (server_id) VALUES (?), (?)","args":["s2","s1"]}`
	failing := func(code proxy.Code) error { return &proxy.Error{Code: code, Message: "m"} }
	for _, test := range []struct {
		method, path, body, token string
		answer                    error
		want                      string
	}{
		{"GET", "/nowhere", "", token, nil, "rejected not_found rest"},
		{"PATCH", serverPath, "", token, nil, "rejected method_not_allowed rest"},
		{"GET", serverPath, "", "wrong", nil, "rejected unauthorized rest"},
		{"GET", serversPath + "/s9", "", token, nil, "rejected not_found rest"},
		{"GET", serverPath, "", "read", nil, "rejected insufficient_scope rest"},
		{"GET", serverPath, "", token, nil, ""},
		{"POST", serversPath + "/off/database/query", select1, token, nil, "rejected server_inactive rest"},
		{"POST", queryPath, "{", token, nil, "rejected invalid_json rest"},
		{"POST", queryPath, `{"query":"DROP TABLE x"}`, token, nil, "rejected statement_not_allowed rest"},
		{"POST", queryPath, `{"query":"SELECT ?"}`, token, nil, "rejected argument_count rest"},
		{"POST", queryPath, insert, "read", nil, "rejected insufficient_scope rest"},
		{"POST", queryPath, select1, token, nil, "statement select ok"},
		{"POST", queryPath, insert, token, nil, "statement insert ok, overridden 1"},
		{"POST", queryPath, insert, token, failing(proxy.ConstraintViolation), "statement insert constraint_violation, overridden 1"},
		{"POST", queryPath, select1, token, failing(policy.QueryFailed), "statement select query_failed"},
		{"POST", queryPath, select1, token, failing(proxy.UpstreamUnavailable), "statement select upstream_unavailable"},
		{"POST", queryPath, select1, token, failing(policy.InvalidArgument), "statement select invalid_argument, rejected invalid_argument rest"},
		{"POST", queryPath, select1, token, failing(proxy.Overloaded), "statement select overloaded, rejected overloaded rest"},
		{"GET", emailPath + "?email=nobody@b", "", "", nil, ""},
		{"GET", emailPath, "", "", nil, "rejected invalid_request rest"},
	} {
		answer = test.answer
		headers := []string{as(test.token)}
		if test.token == "" {
			headers = []string{"X-Server-ID: s1", "X-API-Key: " + apiKey}
		}
		w.counts.events = nil
		_, body := w.call(test.method, test.path, test.body, headers...)
		if got := strings.Join(w.counts.events, ", "); got != test.want {
			t.Errorf("%s %s %s (%s): counted %q, want %q", test.method, test.path, test.body, body, got, test.want)
		}
	}
}

// A value that was replaced is counted once for its statement, however often that was
// tried; a statement that the schema turned back and the policy then refused did not run.
func TestCountsOfRepeatedStatements(t *testing.T) {
	runs, gone := 0, false
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.gate.refresh = func() (bool, error) { return true, nil }
		w.gate.check = func(context.Context) error {
			if gone && runs > 0 {
				return proxy.Refuse(policy.TableNotAllowed, "m")
			}
			return nil
		}
		c.Query = func(ctx context.Context, _ string, bound policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
			if runs++; runs == 1 {
				return dst, 0, &proxy.Error{Code: proxy.SerializationFailure, Message: "m", Retryable: true, Cause: proxy.ErrSchemaChanged}
			}
			return w.answer(ctx, "", bound, as, dst)
		}
	})
	const insert = `{"query":"INSERT INTO files (server_id) VALUES (?)","args":["s2"]}`
	for range 2 {
		w.call("POST", queryPath, insert, as(token))
		runs, gone = 0, true
	}
	want := []string{"statement insert ok", "overridden 1", "rejected table_not_allowed rest"}
	if diff := cmp.Diff(want, w.counts.events); diff != "" {
		t.Error(diff)
	}
}

// A foreign id that a policy refuses is counted as one that it replaces.
func TestCountsOfForeignIDs(t *testing.T) {
	text, _ := policies.Named(policies.Default)
	file, err := policy.Parse([]byte(strings.Replace(string(text), "foreignServerId: replace", "foreignServerId: reject", 1)))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(w *world, _ *rest.Config) { w.setPolicy(file, policy.Limits{}) })
	status, body := w.call("POST", queryPath, `{"query":"INSERT INTO files (server_id) VALUES (?)","args":["s2"]}`, as(token))
	if got := strings.Join(w.counts.events, ", "); status != 403 || got != "rejected foreign_server_id rest, overridden 1" {
		t.Errorf("%d %s, counted %s", status, body, got)
	}
}
