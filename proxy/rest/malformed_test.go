package rest_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

const smallBody = `{"query":"SELECT 1"}`

func post(headers, body string) string {
	return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + headers + "\r\n" + body
}

// misframed are requests whose end can be read in two ways.
func misframed() map[string]string {
	const body = smallBody
	return map[string]string{
		"length and chunks":         post("Content-Length: 20\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"chunks and length":         post("Transfer-Encoding: chunked\r\nContent-Length: 20\r\n", "0\r\n\r\n"),
		"two lengths":               post("Content-Length: 20\r\nContent-Length: 20\r\n", body),
		"a list of lengths":         post("Content-Length: 20, 20\r\n", body),
		"a signed length":           post("Content-Length: +20\r\n", body),
		"a negative length":         post("Content-Length: -1\r\n", body),
		"a length in words":         post("Content-Length: twenty\r\n", body),
		"an unknown encoding":       post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
		"no encoding by name":       post("Transfer-Encoding: identity\r\n", ""),
		"the same, with a length":   post("Transfer-Encoding: Identity\r\nContent-Length: 20\r\n", ""),
		"an encoding twice":         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"chunks in HTTP/1.0":        "POST " + queryPath + " HTTP/1.0\r\n" + authorized + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a chunk size that is none": post("Transfer-Encoding: chunked\r\n", "zz\r\n"+body+"\r\n0\r\n\r\n"),
		"a chunk that is too long":  post("Transfer-Encoding: chunked\r\n", "3\r\n"+body+"\r\n0\r\n\r\n"),
	}
}

// misheaded are requests whose head can be read in two ways, or is none.
func misheaded() map[string]string {
	const body = smallBody
	return map[string]string{
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
	}
}

// Requests that can be read in two ways are refused and end the connection.
func TestMalformedHTTP(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxHeaderBytes = 8192 })
	requests := misframed()
	maps.Copy(requests, misheaded())
	for name, request := range requests {
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
