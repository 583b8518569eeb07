package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// turn is what some clients saw of a front, each sending its next request when it has the
// answer to the last.
type turn struct {
	requests int
	elapsed  time.Duration
	p50, p99 time.Duration
}

// rate is requests a second.
func (t turn) rate() float64 { return float64(t.requests) / t.elapsed.Seconds() }

// send has so many clients send the requests for a while. An answer that is not 200 ends it.
func send(ctx context.Context, addr string, requests [][]byte, clients int, length time.Duration) (turn, error) {
	var wg sync.WaitGroup
	took, errs := make([][]time.Duration, clients), make([]error, clients)
	start := time.Now()
	for i := range clients {
		wg.Go(func() {
			took[i], errs[i] = client(ctx, addr, requests, i*len(requests)/clients, start.Add(length))
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	t := turn{requests: len(all), elapsed: time.Since(start)}
	if err := errors.Join(errs...); err != nil || len(all) == 0 {
		return t, errors.Join(err, ctx.Err())
	}
	slices.Sort(all)
	t.p50, t.p99 = all[len(all)/2], all[len(all)*99/100]
	return t, nil
}

// client is one connection's worth of it; it begins with the at-th request.
func client(ctx context.Context, addr string, requests [][]byte, at int, until time.Time) ([]time.Duration, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // nothing is left to lose
	if err := conn.SetDeadline(until.Add(10 * time.Second)); err != nil {
		return nil, err
	}
	answers := bufio.NewReaderSize(conn, 64<<10)
	took := make([]time.Duration, 0, 1<<14)
	for now := time.Now(); now.Before(until) && ctx.Err() == nil; at++ {
		if _, err := conn.Write(requests[at%len(requests)]); err != nil {
			return took, err
		}
		if err := answer(answers); err != nil {
			return took, err
		}
		next := time.Now()
		took = append(took, next.Sub(now))
		now = next
	}
	return took, nil
}

// answer reads an answer of HTTP/1.1 and throws it away: with a client that parses more,
// the load would take most of the machine.
func answer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	bad := ""
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		bad = string(bytes.TrimSpace(status))
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if bad != "" {
		text, _ := io.ReadAll(io.LimitReader(r, int64(max(length, 0))))
		return fmt.Errorf("the front answers %s: %s", bad, text)
	}
	if length >= 0 {
		_, err = r.Discard(length)
		return err
	}
	return chunks(r)
}

// chunks reads a body in chunks (RFC 9112, section 7.1), without trailers.
func chunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := r.Discard(int(size) + 2); err != nil || size == 0 {
			return err
		}
	}
}

// request is the bytes of a POST.
func request(path, token string, body []byte) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, token, len(body), body)
}
