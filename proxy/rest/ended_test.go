package rest_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

const unknown = "the connection to the database was lost; whether the statement took effect is not known"

// What the database's side says of a statement that it could not call back is kept when
// the service shuts down: "send it again" would make a write happen twice.
func TestShutdownKeepsWhatIsKnown(t *testing.T) {
	for name, test := range map[string]struct {
		told          error
		status        int
		code, says    string
		mayBeRepeated bool
	}{
		"may have committed":        {&proxy.Error{Code: proxy.UpstreamUnavailable, Message: unknown, Cause: errLost}, 503, "shutting_down", "not known", false},
		"may have, by another code": {&proxy.Error{Code: policy.QueryFailed, SQLState: "08007", Unsettled: true, Message: unknown}, 503, "shutting_down", "not known", false},
		"did not run":               {&proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the database cannot be reached", Retryable: true}, 503, "shutting_down", "send the request again", true},
		"says nothing":              {context.Canceled, 503, "shutting_down", "send the request again", true},
		"had failed":                {&proxy.Error{Code: proxy.ConstraintViolation, SQLState: "23505", Message: "a row with the same key exists"}, 409, "constraint_violation", "same key", false},
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{}, 1)
			w := newWorld(t, func(_ *world, c *rest.Config) {
				c.DrainTimeout = 150 * time.Millisecond
				c.Query = func(ctx context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
					started <- struct{}{}
					<-ctx.Done()
					return dst, 0, test.told
				}
			})
			c := w.dial()
			c.send(queryRequest(""))
			wait(t, started, "the statement")
			w.stop()
			response, body := c.answer("POST", queryPath)
			code, message := errorOf(t, body)
			if response.StatusCode != test.status || code != test.code || !strings.Contains(message, test.says) {
				t.Errorf("%d %s", response.StatusCode, body)
			}
			if strings.Contains(message, "again") != test.mayBeRepeated || strings.Contains(body, `"retryable":true`) && !test.mayBeRepeated {
				t.Errorf("says that it can be repeated: %s", body)
			}
			w.shutDown()
		})
	}
}

// The same for a client that closed its sending half alone.
func TestClientGoneKeepsWhatIsKnown(t *testing.T) {
	started := make(chan struct{}, 1)
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(ctx context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			started <- struct{}{}
			<-ctx.Done()
			return dst, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: unknown}
		}
	})
	c := w.dial()
	c.send(queryRequest(""))
	wait(t, started, "the statement")
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if response, body := c.answer("POST", queryPath); response.StatusCode != 503 || !strings.Contains(body, "not known") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	w.shutDown()
	if events := w.counts.all(); events[0] != "query client_closed" {
		t.Errorf("counted %v", events)
	}
}

// A statement takes up to two seconds to be cancelled: its client is answered even then.
func TestDrainWaitsForCancellations(t *testing.T) {
	started := make(chan struct{}, 1)
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.DrainTimeout = 100 * time.Millisecond
		c.Query = func(ctx context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			started <- struct{}{}
			<-ctx.Done()
			time.Sleep(2100 * time.Millisecond)
			return dst, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: unknown}
		}
	})
	c := w.dial()
	c.send(queryRequest(""))
	wait(t, started, "the statement")
	w.stop()
	if response, body := c.answer("POST", queryPath); response.StatusCode != 503 || !strings.Contains(body, "not known") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
