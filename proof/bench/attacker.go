package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// attacker is somebody with some servers of one project, who works against a tenantgate.
type attacker struct {
	against

	sent atomic.Int64 // numbers the texts
	mu   sync.Mutex
	got  map[string]int // answers by status; "none" where none came
}

// path is where a server's statements go.
func (a *attacker) path(server string) string {
	return "/api/developer/projects/" + a.Project + "/servers/" + server + "/database/query"
}

func (a *attacker) count(status string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got[status]++
}

// received tells what the attacker was answered.
func (a *attacker) received() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var said []string
	for _, status := range slices.Sorted(maps.Keys(a.got)) {
		said = append(said, status+": "+strconv.Itoa(a.got[status]))
	}
	return strings.Join(said, ", ")
}

// attacked tells whether the attacker got so far as to ask for something: with the wrong token, or at the wrong
// address, it has not.
func (a *attacker) attacked() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for status := range a.got {
		if !slices.Contains([]string{"no connection", "no login", "400", "401", "403", "404", "405", "413", "415"}, status) {
			return true
		}
	}
	return false
}

// all makes every attack at once.
func (a *attacker) all(ctx context.Context) {
	var wg sync.WaitGroup
	for _, other := range attacks() {
		if other.name != together {
			wg.Go(func() { other.proceed(ctx, a) })
		}
	}
	wg.Wait()
}

// send has clients send texts until ctx ends, whatever they are answered. One that gets no
// answer within its patience goes away, and comes again.
func (a *attacker) send(ctx context.Context, clients int, patience time.Duration, text func(n int) string) {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			path := a.path(a.Servers[i%len(a.Servers)])
			for ctx.Err() == nil {
				a.talk(ctx, path, patience, text)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// talk sends on one connection until something fails.
func (a *attacker) talk(ctx context.Context, path string, patience time.Duration, text func(n int) string) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", a.HTTP)
	if err != nil {
		a.count("no connection")
		return
	}
	defer conn.Close() //nolint:errcheck // nothing is left to lose
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	answers := bufio.NewReaderSize(conn, 64<<10)
	for ctx.Err() == nil {
		body, err := json.Marshal(map[string]any{"query": text(int(a.sent.Add(1))), "args": []any{}})
		if err != nil {
			panic(err) // texts alone
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write(request(path, a.Token, body)); err != nil {
			a.count("none")
			return
		}
		status, err := a.read(answers)
		a.count(status)
		if err != nil {
			return
		}
	}
}

// read reads an answer, whatever it is.
func (a *attacker) read(answers *bufio.Reader) (status string, err error) {
	line, err := answers.Peek(len("HTTP/1.1 200"))
	if err != nil {
		return "none", err
	}
	status = string(line[len("HTTP/1.1 "):])
	if _, err = answers.ReadSlice('\n'); err != nil {
		return status, err
	}
	length, err := headers(answers)
	if err == nil && length >= 0 {
		_, err = answers.Discard(length)
		return status, err
	}
	if err == nil {
		err = chunks(answers)
	}
	return status, err
}

// holdTransactions keeps transactions open, of the first server and of the last: where both
// are one it has all of them.
func (a *attacker) holdTransactions(ctx context.Context, first, last int) {
	var wg sync.WaitGroup
	for i := range first + last {
		url := a.URLs[0]
		if i >= first {
			url = a.URLs[len(a.URLs)-1]
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				a.holdTransaction(ctx, url)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// holdTransaction keeps one open until it is ended.
func (a *attacker) holdTransaction(ctx context.Context, url string) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		a.count("no login")
		return
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	_, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	for err == nil {
		if _, err = conn.Exec(ctx, "SELECT count(*) FROM messages WHERE id = 'm1'"); err == nil {
			a.count("transaction")
			pause(ctx, time.Second)
		}
	}
	if ctx.Err() == nil {
		a.count("transaction ended")
	}
}

// halfSend keeps so many connections that never complete a request, and opens each anew within
// five seconds after it was closed.
func (a *attacker) halfSend(ctx context.Context, connections int) {
	const each = 50 // of a goroutine
	var wg sync.WaitGroup
	for range connections / each {
		wg.Go(func() {
			open, n := make([]net.Conn, each), 0
			for ctx.Err() == nil {
				for i := range open {
					open[i] = a.halfSent(ctx, open[i])
					if n >= each {
						pause(ctx, 5*time.Second/each)
					}
					n++
				}
			}
			for _, conn := range open {
				if conn != nil {
					_ = conn.Close()
				}
			}
		})
	}
	wg.Wait()
}

// pause waits for a while, or until ctx is done.
func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// halfSent gives a connection with half a request, the last one where that lives on.
func (a *attacker) halfSent(ctx context.Context, last net.Conn) net.Conn {
	if last != nil {
		_ = last.SetReadDeadline(time.Now().Add(100 * time.Microsecond))
		if _, err := last.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			return last
		}
		_ = last.Close()
		a.count("half-sent closed")
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", a.HTTP)
	if err != nil {
		return nil
	}
	_, _ = io.WriteString(conn, "POST /api HTTP/1.1\r\nHost: x\r\nAuthor")
	a.count("half-sent")
	return conn
}
