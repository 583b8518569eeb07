package rest_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

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
	// A buffer of fixed size: Linux lets one that is read fast grow beyond any answer of these tests.
	if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
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
	location, err := url.ParseRequestURI(target)
	if err != nil || location.Opaque != "" {
		location = &url.URL{Path: "/nowhere"} // what the document does not have
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
