package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lengthMark stands for the length of a request's body until that is known, openMark for
// the end of a head that is not ended.
const (
	lengthMark = "\x00length\x00"
	openMark   = "\x00open\x00"
)

// rawRequest puts together one request of a raw case: the lines of its head end with
// CRLF, and an empty line ends it, unless the case says «open».
func rawRequest(part string) string {
	head, body, _ := strings.Cut(part, "\n\n")
	head = strings.ReplaceAll(head, "\n", "\r\n")
	if open := strings.TrimSuffix(head, openMark); open != head {
		return open
	}
	return strings.ReplaceAll(head, lengthMark, strconv.Itoa(len(body))) + "\r\n\r\n" + body
}

// requestID is what differs between two answers that are alike.
var requestID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// raw writes requests in one go on a connection of their own, and tells the answers as
// they come, and whether the service closed the connection then.
func (a *attacker) raw(t *testing.T, input string, told bool) (said string, problems []string) {
	parts := strings.Split(input, "\n%%\n")
	var sent strings.Builder
	for _, p := range parts {
		sent.WriteString(rawRequest(p))
	}
	c := &rawAnswers{conn: a.dial(t)}
	defer func() { _ = c.conn.Close() }()
	c.reader = bufio.NewReader(io.TeeReader(c.conn, &c.seen))
	_ = c.conn.SetDeadline(time.Now().Add(bypassPatience))
	_, _ = io.WriteString(c.conn, sent.String()) // one that is refused early may close on us
	for i := 0; i < len(parts) && !c.closed; i++ {
		method, _, _ := strings.Cut(parts[i], " ")
		body, err := c.next(method)
		switch {
		case err != nil:
			a.hangs++
			return said + "no answer\n", append(a.judge(sent.String(), c.seen.Bytes()), err.Error())
		case told:
			said += fmt.Sprintf("%d %s\n", c.status, requestID.ReplaceAllString(body, "…"))
		default:
			said += fmt.Sprintf("%d ", c.status) + a.outcome(sent.String(), c.status, body)
		}
		problems = append(problems, a.judge(sent.String(), c.seen.Bytes(), c.status)...)
	}
	return said + c.rest(), problems
}

// rawAnswers reads the answers of one connection.
type rawAnswers struct {
	conn   net.Conn
	reader *bufio.Reader
	seen   bytes.Buffer // all that was read
	status int          // of the last answer
	closed bool         // the last answer said that it is the last
}

func (c *rawAnswers) next(method string) (body string, err error) {
	answer, err := http.ReadResponse(c.reader, &http.Request{Method: method, URL: &url.URL{}})
	if err != nil {
		return "", err
	}
	received, err := io.ReadAll(answer.Body)
	c.status, c.closed = answer.StatusCode, answer.Close
	return string(received), err
}

// rest tells what comes after the last answer: nothing, the end, or what nobody asked for.
func (c *rawAnswers) rest() string {
	if !c.closed {
		_ = c.conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
	}
	_, err := c.reader.ReadByte()
	switch {
	case err == nil:
		return "and more\n"
	case c.closed && !errors.Is(err, os.ErrDeadlineExceeded):
		return "closed\n"
	case c.closed:
		return "not closed\n"
	}
	return ""
}
