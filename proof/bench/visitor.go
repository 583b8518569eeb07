package main

import (
	"bufio"
	"context"
	"net"
	"time"
)

// visitTime is how long a visitor waits for an answer, and for its connection.
const visitTime = 5 * time.Second

// visitor is a client that opens a connection anew after some requests, and after each that
// failed: all that is not answered with 200 in time counts as refused. The time of a
// connection's first request is with the time to connect.
func (l load) visitor(ctx context.Context, i int, until time.Time) seen {
	var s seen
	time.Sleep(l.pause * time.Duration(i) / time.Duration(l.clients)) // not all at once
	for n := 0; time.Now().Before(until) && ctx.Err() == nil; {
		n += l.visit(ctx, i, n, until, &s)
	}
	return s
}

// visit is one connection's worth of it, and tells how many requests were made.
func (l load) visit(ctx context.Context, i, n int, until time.Time, s *seen) (made int) {
	begin := time.Now()
	conn, err := (&net.Dialer{Timeout: visitTime}).DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return l.failed(s, begin)
	}
	defer conn.Close() //nolint:errcheck // nothing is left to lose
	answers := bufio.NewReaderSize(conn, 64<<10)
	for begin.Before(until) && made < l.anew {
		_ = conn.SetDeadline(begin.Add(visitTime))
		ok := false
		if _, err = conn.Write(l.request(i, n+made)); err == nil {
			ok, err = answer(answers, true)
		}
		if made++; err != nil || !ok {
			l.failed(s, begin)
			return made
		}
		s.took = append(s.took, time.Since(begin))
		time.Sleep(l.pause)
		begin = time.Now()
	}
	return made
}

func (l load) failed(s *seen, begin time.Time) int {
	s.refused++
	s.longestFailure = max(s.longestFailure, time.Since(begin))
	time.Sleep(l.pause)
	return 1
}
