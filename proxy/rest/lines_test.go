package rest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Ensure a refusal's line is out of the share of the project that was asked for, not of the token's first.
func TestRefusalsCountForTheirProject(t *testing.T) {
	w := newWorld(t, func(w *world, _ *rest.Config) {
		w.store.tokens["two"] = proxy.Caller{TokenID: "2", Projects: []string{"first", projectID}, Scopes: proxy.Manage}
	})
	for range 100 {
		w.call("GET", serversPath+"/nobody", "", as("two"))
	}
	waitUntil(t, "the line on those left out", func() bool { return strings.Contains(w.logs.String(), "left out") })
	if logs := w.logs.String(); !strings.Contains(logs, `"project":"`+projectID+`"`) || strings.Contains(logs, `"project":"first"`) {
		t.Errorf("%s", logs)
	}
	other := "/api/developer/projects/elsewhere/servers/x"
	for range 100 {
		w.call("GET", other, "", as("two"))
	}
	waitUntil(t, "the line on those out of reach", func() bool { return strings.Contains(w.logs.String(), `"project":"first"`) })
	if strings.Contains(w.logs.String(), `"project":"elsewhere"`) {
		t.Error("a line counts for a project that the token does not reach")
	}
}

// Ensure each fault of the service's own has its lines, whoever was told of it.
func TestInternalFaultsAlwaysHaveLines(t *testing.T) {
	for name, at := range map[string]string{"a stranger": "Developer", "a known one": "Server"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.store.setDelay(func(context.Context) error {
				if calls := w.store.called(); calls[len(calls)-1] == at {
					return errors.New("broken")
				}
				return nil
			})
			for range 100 {
				if status, body := w.call("GET", serverPath, "", as(token)); status != 500 {
					t.Fatalf("%d %s", status, body)
				}
			}
			for _, text := range []string{`"status":500`, `"msg":"request failed"`} {
				if of := strings.Count(w.logs.String(), text); of != 100 {
					t.Errorf("%d lines of 100 with %s", of, text)
				}
			}
		})
	}
}
