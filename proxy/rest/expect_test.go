package rest_test

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A client that asks before it sends a body is refused before it does.
func TestExpectIsRefusedFirst(t *testing.T) {
	w := newWorld(t, nil)
	ask := func(path, headers string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + headers + "\r\n"
	}
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"a spelling":   {strings.Replace(ask(queryPath, "Content-Length: 20\r\n"), "100-continue", "100-Continue", 1), 401},
		"size":         {ask(queryPath, authorized+"Content-Length: 2000000\r\n"), 413},
		"size alone":   {strings.Replace(ask(queryPath, authorized+"Content-Length: 2000000\r\n"), "Expect: 100-continue\r\n", "", 1), 413},
		"size of 1.0":  {strings.Replace(strings.Replace(ask(queryPath, authorized+"Content-Length: 2000000\r\n"), "Expect: 100-continue\r\n", "", 1), "1.1", "1.0", 1), 413},
		"path":         {ask("/nowhere", authorized+"Content-Length: 20\r\n"), 404},
		"method":       {ask("/docs", authorized+"Content-Length: 20\r\n"), 405},
		"credentials":  {ask(queryPath, "Content-Length: 20\r\n"), 401},
		"a bad head":   {ask(queryPath, authorized+authorized+"Content-Length: 20\r\n"), 400},
		"reach":        {ask(serversPath+"/s9/database/query", authorized+"Transfer-Encoding: chunked\r\n"), 404},
		"scope":        {ask(serversPath, "Authorization: Bearer read\r\nContent-Length: 20\r\n"), 403},
		"activity":     {ask(serversPath+"/off/database/query", authorized+"Content-Length: 20\r\n"), 403},
		"content type": {ask(queryPath, authorized+"Content-Type: text/plain\r\nContent-Length: 20\r\n"), 415},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.dial()
			c.w = &world{t: t, contract: w.contract}
			c.send(test.request)
			path := strings.Fields(test.request)[1]
			if response, body := c.answer("POST", path); response.StatusCode != test.status || !response.Close {
				t.Errorf("%d %s", response.StatusCode, body)
			}
			c.send(`{"query":"SELECT 1"}`) // it sends it anyway, and is not answered again
			if !c.closed() {
				t.Error("the connection goes on")
			}
		})
	}
	if calls := strings.Join(w.counts.all(), ","); strings.Count(calls, ",") != 11 || strings.Contains(calls, " ok") {
		t.Errorf("counted %s", calls)
	}
}

// Whoever may send a body is told so, and counted once.
func TestExpectGoesOn(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	for range 2 {
		c.send("POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n")
		if response, body := c.answer("POST", queryPath); response.StatusCode != 100 {
			t.Fatalf("%d %s", response.StatusCode, body)
		}
		time.Sleep(20 * time.Millisecond)
		c.send(`{"query":"SELECT 1"}`)
		if response, body := c.answer("POST", queryPath); response.StatusCode != 200 || response.Close {
			t.Fatalf("%d %s", response.StatusCode, body)
		}
	}
	c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n")
	if response, body := c.answer("GET", serverPath); response.StatusCode != 200 || !response.Close || !strings.Contains(body, "Shop") {
		t.Errorf("without a use for its body: %d %s", response.StatusCode, body)
	}
	if calls := strings.Join(w.counts.all(), ","); calls != "query ok,query ok,get_server ok" {
		t.Errorf("counted %s", calls)
	}
	w.store.delay = func(context.Context) error { panic("hunter2") }
	c = w.dial()
	c.send("POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n")
	if response, body := c.answer("POST", queryPath); response.StatusCode != 500 || strings.Contains(w.logs.String(), "hunter2") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// HTTP/1.0 has no 100: the expectation is ignored there.
func TestExpectOfHTTP10(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	body := `{"query":"SELECT 1"}`
	c.send("POST " + queryPath + " HTTP/1.0\r\nHost: x\r\n" + authorized + "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n" + body)
	if response, answer := c.answer("POST", queryPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, answer)
	}
}
