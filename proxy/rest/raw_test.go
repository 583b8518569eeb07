package rest_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/rest"
	"github.com/tenantgate/tenantgate/proxy/rest/resttest"
)

// rawConn is a connection on which a test writes bytes of its own.
type rawConn struct {
	net.Conn
	w      *world
	reader *bufio.Reader
}

func (w *world) dial() *rawConn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return &rawConn{conn, w, bufio.NewReader(conn)}
}

func (c *rawConn) send(text string) {
	c.w.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.w.t.Fatalf("sending: %v", err)
	}
}

// answer reads one answer and checks it against the document.
func (c *rawConn) answer(method, target string) (*http.Response, string) {
	c.w.t.Helper()
	location, err := url.Parse(target)
	if err != nil {
		location = &url.URL{Path: "/"}
	}
	request := &http.Request{Method: method, URL: location, Header: http.Header{}}
	response, err := http.ReadResponse(c.reader, request)
	if err != nil {
		c.w.t.Fatalf("reading the answer to %s %s: %v", method, target, err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		c.w.t.Fatalf("reading the answer's body: %v", err)
	}
	if response.StatusCode > http.StatusOK { // what the test sent is not known here
		if err := c.w.contract.Check(resttest.Exchange{Request: request, Response: response, ResponseBody: body}); err != nil {
			c.w.t.Error(err)
		}
	}
	return response, string(body)
}

// closed tells whether the peer closes the connection without another byte.
func (c *rawConn) closed() bool {
	c.w.t.Helper()
	_, err := c.reader.ReadByte()
	var timeout net.Error
	return err != nil && !(errors.As(err, &timeout) && timeout.Timeout())
}

const authorized = "Authorization: Bearer " + token + "\r\n"

// Requests that can be read in two ways are refused and end the connection.
func TestMalformedHTTP(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxHeaderBytes = 8192 })
	post := func(headers, body string) string {
		return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + headers + "\r\n" + body
	}
	const body = `{"query":"SELECT 1"}`
	for name, request := range map[string]string{
		"length and chunks":           post("Content-Length: 20\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"chunks and length":           post("Transfer-Encoding: chunked\r\nContent-Length: 20\r\n", "0\r\n\r\n"),
		"two lengths":                 post("Content-Length: 20\r\nContent-Length: 20\r\n", body),
		"a list of lengths":           post("Content-Length: 20, 20\r\n", body),
		"a signed length":             post("Content-Length: +20\r\n", body),
		"a negative length":           post("Content-Length: -1\r\n", body),
		"a length in words":           post("Content-Length: twenty\r\n", body),
		"an unknown encoding":         post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
		"an encoding twice":           post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"chunks in HTTP/1.0":          "POST " + queryPath + " HTTP/1.0\r\n" + authorized + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a chunk size that is none":   post("Transfer-Encoding: chunked\r\n", "zz\r\n"+body+"\r\n0\r\n\r\n"),
		"a chunk that is too long":    post("Transfer-Encoding: chunked\r\n", "3\r\n"+body+"\r\n0\r\n\r\n"),
		"a folded header":             post("X-A: b\r\n c: d\r\nContent-Length: 20\r\n", body),
		"a folded header with a tab":  post("X-A: b\r\n\tc\r\nContent-Length: 20\r\n", body),
		"a folded credential":         "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer\r\n " + token + "\r\nContent-Length: 20\r\n\r\n" + body,
		"a first line folded":         "POST " + queryPath + " HTTP/1.1\r\n Host: x\r\nContent-Length: 20\r\n\r\n" + body,
		"a bare line feed":            post("X-A: b\nContent-Length: 20\r\n", body),
		"a bare carriage return":      post("X-A: b\rc\r\nContent-Length: 20\r\n", body),
		"a space before the colon":    post("X-A : b\r\nContent-Length: 20\r\n", body),
		"a space in a name":           post("X A: b\r\nContent-Length: 20\r\n", body),
		"a name that is missing":      post(": b\r\nContent-Length: 20\r\n", body),
		"a colon that is missing":     post("X-A\r\nContent-Length: 20\r\n", body),
		"NUL in a value":              post("X-A: b\x00c\r\nContent-Length: 20\r\n", body),
		"a byte beyond ASCII":         post("X-A: b\xe9\r\nContent-Length: 20\r\n", body),
		"UTF-8 in a value":            post("X-A: é\r\nContent-Length: 20\r\n", body),
		"a token twice":               post(authorized+"Content-Length: 20\r\n", body),
		"a token twice, once in caps": post("AUTHORIZATION: Bearer x\r\nContent-Length: 20\r\n", body),
		"a server id twice":           "GET " + emailPath + "?email=a HTTP/1.1\r\nHost: x\r\nX-Server-ID: s1\r\nx-server-id: s1\r\nX-API-Key: k\r\n\r\n",
		"a key twice":                 "GET " + emailPath + "?email=a HTTP/1.1\r\nHost: x\r\nX-Server-ID: s1\r\nX-API-Key: k\r\nX-Api-Key: k\r\n\r\n",
		"a media type twice":          post("Content-Type: application/json\r\nContent-Type: application/json\r\nContent-Length: 20\r\n", body),
		"no host":                     "GET " + serverPath + " HTTP/1.1\r\n" + authorized + "\r\n",
		"two hosts":                   "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\nHost: x\r\n" + authorized + "\r\n",
		"two hosts that differ":       "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\nhost: y\r\n" + authorized + "\r\n",
		"HTTP/2":                      "GET " + serverPath + " HTTP/2.0\r\nHost: x\r\n" + authorized + "\r\n",
		"HTTP/1.2":                    "GET " + serverPath + " HTTP/1.2\r\nHost: x\r\n" + authorized + "\r\n",
		"HTTP/0.9":                    "GET " + serverPath + "\r\n\r\n",
		"no version":                  "GET " + serverPath + " \r\n\r\n",
		"a method that is none":       "G@T " + serverPath + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS":                         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
		"a large head":                post("X-A: "+strings.Repeat("a", 9000)+"\r\n", ""),
		"a long target":               "GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"an escape that is none":      "GET " + serversPath + "/a%zz HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := w.dial()
			c.w = &world{t: t, contract: w.contract}
			c.send(request)
			response, answer := c.answer("POST", queryPath)
			if code, _ := errorOf(t, answer); response.StatusCode != 400 || code != "invalid_request" {
				t.Errorf("%d %s", response.StatusCode, answer)
			}
			if strings.Contains(answer, token) || strings.Contains(answer, "fasthttp") {
				t.Errorf("the answer shows too much: %s", answer)
			}
			if name != "an escape that is none" && !c.closed() {
				t.Error("the connection goes on")
			}
		})
	}
	if strings.Contains(w.logs.String(), token) {
		t.Error("the log holds a token")
	}
	if calls := w.store.called(); len(calls) > 4 { // two have a head that is right and a body that is not
		t.Errorf("looked up: %v", calls)
	}
}

// Requests that look odd and are right.
func TestUnusualHTTP(t *testing.T) {
	w := newWorld(t, nil)
	const body = `{"query":"SELECT 1"}`
	for name, request := range map[string]string{
		"HTTP/1.0 without a host": "GET " + serverPath + " HTTP/1.0\r\n" + authorized + "\r\n",
		"absolute form":           "GET http://other" + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n",
		"escapes in the path":     "GET /%61pi/developer/projects/%70%31/servers/s%31 HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n",
		"spaces around a value":   "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: \t bearer   " + token + " \t\r\n\r\n",
		"an empty line ahead":     "\r\nGET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n",
		"chunks":                  "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Transfer-Encoding: chunked\r\n\r\na;x=y\r\n{\"query\":\"\r\nA\r\nSELECT 1\"}\r\n0\r\nX-API-Key: late\r\n\r\n",
		"100-continue":            "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n" + body,
		"a body on GET":           "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: 20\r\n\r\n" + body,
	} {
		t.Run(name, func(t *testing.T) {
			c := w.dial()
			c.w = &world{t: t, contract: w.contract}
			c.send(request)
			response, answer := c.answer("GET", serverPath)
			if response.StatusCode == 100 {
				response, answer = c.answer("GET", serverPath)
			}
			if response.StatusCode != 200 {
				t.Fatalf("%d %s", response.StatusCode, answer)
			}
			if name == "HTTP/1.0 without a host" {
				return
			}
			// What follows on the connection is the next request.
			c.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if next, text := c.answer("GET", "/openapi.json"); next.StatusCode != 200 || !strings.Contains(text, `"openapi":"3.1`) {
				t.Errorf("the next request: %d", next.StatusCode)
			}
		})
	}
}

// Bodies that nobody read must not be taken for the next request.
func TestUnreadBodies(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxBodyBytes = 8 << 20 })
	smuggled := "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n"
	for name, test := range map[string]struct {
		size      int
		keepsOpen bool
	}{"short": {len(smuggled), true}, "at the edge": {8 << 10, true}, "long": {8<<10 + 1, false}, "very long": {6 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			c := w.dial()
			c.w = &world{t: t, contract: w.contract}
			body := smuggled + strings.Repeat(" ", test.size-len(smuggled))
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(c, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
				sent <- err
			}()
			if response, _ := c.answer("POST", queryPath); response.StatusCode != 401 || response.Close == test.keepsOpen {
				t.Fatalf("%d, close %v", response.StatusCode, response.Close)
			}
			// A client that is still sending must get its answer, not a reset.
			if err := <-sent; err != nil {
				t.Errorf("sending the rest: %v", err)
			}
			if !test.keepsOpen {
				if _, err := c.reader.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("the connection ends with %v", err)
				}
				return
			}
			c.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
			if response, body := c.answer("GET", "/nowhere"); response.StatusCode != 404 {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		})
	}
	if calls := w.store.called(); len(calls) != 0 {
		t.Errorf("a body was taken for a request: %v", calls)
	}
}

func TestBodySize(t *testing.T) {
	w := newWorld(t, nil)
	const limit = 1 << 20
	pad := func(n int) string {
		body := `{"query":"SELECT 1"}`
		return body + strings.Repeat(" ", n-len(body))
	}
	if status, body := w.call("POST", queryPath, pad(limit), as(token)); status != 200 {
		t.Errorf("at the limit: %d %s", status, body)
	}
	for _, size := range []int{limit + 1, 3 * limit} {
		if status, body := w.call("POST", queryPath, pad(size), as(token)); status != 413 || !strings.Contains(body, "body_too_large") {
			t.Errorf("%d bytes: %d %s", size, status, body)
		}
	}
	for name, size := range map[string]int{"fits": limit, "does not": limit + 1} {
		c := w.dial()
		go func() {
			body := pad(size)
			_, _ = io.WriteString(c, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\n"+authorized+"Transfer-Encoding: chunked\r\n\r\n")
			for ; body != ""; body = body[min(len(body), 4096):] {
				n := min(len(body), 4096)
				if _, err := io.WriteString(c, hex(n)+"\r\n"+body[:n]+"\r\n"); err != nil {
					return
				}
			}
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}()
		response, body := c.answer("POST", queryPath)
		if want := map[bool]int{true: 200, false: 413}[size <= limit]; response.StatusCode != want {
			t.Errorf("chunks, %s: %d %s", name, response.StatusCode, body)
		}
	}
}

func TestSlowRequests(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.ReadTimeout = 300 * time.Millisecond })
	for name, start := range map[string]string{
		"head": "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n",
		"body": "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: 20\r\n\r\n{",
		"rest": "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: 10000\r\n\r\n{" + strings.Repeat(" ", 9000),
	} {
		c := w.dial()
		c.send(start)
		response, body := c.answer("POST", queryPath)
		if _, message := errorOf(t, body); response.StatusCode != 400 || !strings.Contains(message, "in time") || !c.closed() {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
	}
	// To a connection on which nothing was asked, nothing is said.
	c := w.dial()
	if text, err := io.ReadAll(c); err != nil || len(text) > 0 {
		t.Errorf("an unused connection got %q, %v", text, err)
	}
}
