package rest_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

const messagesShort = "short of messages: server"

// newOwingWorld is one in which those accounts have had so much that a free request pauses for as long as one can.
func newOwingWorld(t *testing.T, accounts []proxy.Account, change func(*world, *rest.Config)) *world {
	t.Helper()
	throttle := proxy.NewThrottle(1, 1)
	for _, a := range accounts {
		throttle.Spend(a, time.Hour)
	}
	return newWorld(t, func(w *world, c *rest.Config) {
		c.Throttle = throttle
		if change != nil {
			change(w, c)
		}
	})
}

func strangers() proxy.Account { return proxy.AccountOf(netip.MustParsePrefix("127.0.0.1/32")) }

// developers is whose the connections of token are.
func developers() proxy.Account { return proxy.Account{Project: projectID, Server: "token t"} }

// silent tells whether nothing comes for a while.
func (c *rawConn) silent() bool {
	c.w.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	_, err := c.reader.Peek(1)
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	return err != nil
}

// Ensure requests that run nothing wait with their answers where their account took more than its share.
func TestFreeRequestsPause(t *testing.T) {
	w := newOwingWorld(t, []proxy.Account{strangers(), developers()}, nil)
	for name, test := range map[string]struct {
		head   string
		status int
	}{
		"no such path":    {"GET /nothing HTTP/1.1\r\n", 404},
		"a document":      {"GET /openapi.json HTTP/1.1\r\n", 200},
		"options":         {"OPTIONS " + queryPath + " HTTP/1.1\r\n", 204},
		"no credentials":  {"GET " + serverPath + " HTTP/1.1\r\n", 401},
		"made-up ones":    {"GET " + serverPath + " HTTP/1.1\r\nAuthorization: Bearer nobody\r\n", 401},
		"expecting":       {"POST " + queryPath + " HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n", 401},
		"no HTTP":         {"GET / HTTP/1.1\r\n x: y\r\n", 400},
		"closing":         {"GET /nothing HTTP/1.1\r\nConnection: close\r\n", 404},
		"a known one's":   {"GET " + serverPath + "?x=y HTTP/1.1\r\n" + authorized, 400},
		"a refused one's": {"POST " + queryPath + " HTTP/1.1\r\n" + authorized + "Content-Length: 0\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.dial()
			c.send(test.head + "Host: x\r\n\r\n")
			if !c.silent() {
				t.Error("answered at once")
			}
			words := strings.Fields(test.head)
			if response, body := c.answer(words[0], words[1]); response.StatusCode != test.status {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		})
	}
}

// Ensure requests that have something done never pause, whatever their account owes.
func TestOtherRequestsDoNotPause(t *testing.T) {
	key := proxy.Account{Project: projectID, Server: serverID}
	w := newOwingWorld(t, []proxy.Account{strangers(), developers(), key}, nil)
	for i, request := range []string{
		queryRequest(""),
		"GET " + emailPath + "?email=nobody@x HTTP/1.1\r\nHost: x\r\nX-Server-ID: " + serverID + "\r\nX-API-Key: " + apiKey + "\r\n\r\n",
		"GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n",
		"GET " + serverPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\n\r\n",
	} {
		if i == 2 {
			w.store.setDelay(briefly) // else nobody waits for the look-ups that follow
		}
		c := w.dial()
		c.send(request)
		words := strings.Fields(request)
		if c.answer(words[0], words[1]); w.counts.happened(messagesShort) > 0 {
			t.Fatalf("paused: %s", request)
		}
	}
}

// briefly waits as who looks something up.
func briefly(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Millisecond):
	}
	return ctx.Err()
}

// Ensure a pause keeps no place: neither a server's, nor a connection's that somebody else needs.
func TestPausesKeepNoPlaces(t *testing.T) {
	w := newOwingWorld(t, []proxy.Account{strangers(), developers()}, func(w *world, c *rest.Config) {
		w.file.Limits.MaxWait = 300 * time.Millisecond // less than the pause
		w.limit(policy.Limits{MaxConcurrent: 1, RequestsPerSecond: -1})
		c.MaxConns = 2
	})
	start := time.Now()
	refused := w.dial()
	const drop = `{"query":"DROP TABLE messages"}`
	refused.send("POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: " + itoa(len(drop)) + "\r\n\r\n" + drop)
	waitUntil(t, "the refused statement's pause", func() bool { return w.counts.happened(messagesShort) == 1 })
	stranger := w.dial()
	stranger.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
	waitUntil(t, "the stranger's pause", func() bool { return w.counts.happened(messagesShort) == 2 })
	c := w.dial()
	c.send(queryRequest(""))
	if response, body := c.answer("POST", queryPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	inTime := time.Since(start) < 900*time.Millisecond // else the stranger's pause, of a second, may have been over
	if !stranger.closed() && inTime {
		t.Error("the stranger was not evicted")
	}
}

// Ensure the drain ends pauses, and that what pauses is answered.
func TestDrainEndsPauses(t *testing.T) {
	for range 5 { // a pause that goes on takes its second each time; a busy machine may, too
		w := newOwingWorld(t, []proxy.Account{strangers()}, nil)
		c := w.dial()
		start := time.Now()
		c.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
		waitUntil(t, "the pause", func() bool { return w.counts.happened(messagesShort) == 1 })
		w.shutDown()
		took := time.Since(start)
		if response, body := c.answer("GET", "/nothing"); response.StatusCode != 404 {
			t.Errorf("%d %s", response.StatusCode, body)
		}
		if took < time.Second {
			return
		}
	}
	t.Error("the drain waited for each pause")
}

// Ensure nobody answers for a time in which a request waited: each would pause. On a busy machine some take as long by
// themselves.
func TestWaitsAreNotCounted(t *testing.T) {
	const span, times = 30 * time.Millisecond, 15
	for name, change := range map[string]func(*world){
		"for its body": func(*world) {},
		"for a place": func(w *world) {
			w.gate.admit = func() (proxy.Place, error) { time.Sleep(span); return proxy.Place{}, nil }
		},
		"to be checked": func(w *world) {
			w.gate.check = func(context.Context) error { time.Sleep(span); return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world, c *rest.Config) { c.Throttle = proxy.NewThrottle(8, 100); change(w) })
			const drop = `{"query":"DROP TABLE messages"}`
			c := w.dial()
			_ = c.Conn.(*net.TCPConn).SetNoDelay(true)
			for range times {
				c.send("POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
					hex(len(drop)) + "\r\n" + drop + "\r\n")
				time.Sleep(span)
				c.send("0\r\n\r\n")
				if response, body := c.answer("POST", queryPath); response.StatusCode != 403 {
					t.Fatalf("%d %s", response.StatusCode, body)
				}
			}
			if paused := w.counts.happened(messagesShort); paused > times*2/3 {
				t.Errorf("%d of %d paused", paused, times)
			}
		})
	}
}

// Ensure a request that had something run is not free, though the schema turned it back and the policy then refused it.
func TestWhatRanOnceDoesNotPause(t *testing.T) {
	ran := false
	w := newOwingWorld(t, []proxy.Account{strangers(), developers()}, func(w *world, c *rest.Config) {
		w.gate.refresh = func() (bool, error) { return true, nil }
		w.gate.check = func(context.Context) error {
			if ran {
				return proxy.Refuse(policy.TableNotAllowed, "m")
			}
			return nil
		}
		c.Query = func(_ context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			ran = true
			return dst, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "m", Cause: proxy.ErrSchemaChanged}
		}
	})
	c := w.dial()
	c.send(queryRequest(""))
	if response, body := c.answer("POST", queryPath); response.StatusCode != 403 || !ran {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if w.counts.happened(messagesShort) > 0 {
		t.Error("it paused")
	}
}
