package main

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// load is what some clients send a front, each its next request when it has the answer to
// the last.
type load struct {
	addr     string
	clients  int
	request  func(client, n int) []byte // a client's n-th, from 0
	pause    time.Duration              // of a client between an answer and its next request
	times    int                        // requests of each client at most; 0: no limit
	refusals bool                       // the answers 429 and 503 are counted, and end nothing
	anew     int                        // requests after which a client connects anew, and whatever fails is counted: see visitor; 0: never
}

// inTurns gives the clients the same requests; each begins elsewhere among them.
func inTurns(requests [][]byte, clients int) func(client, n int) []byte {
	return func(client, n int) []byte { return requests[(client*len(requests)/clients+n)%len(requests)] }
}

// turn is what the clients saw.
type turn struct {
	requests int // answered with 200; the times are of these alone
	refused  int
	least    int // those of requests that were of the client with the fewest
	elapsed  time.Duration
	p50, p99 time.Duration
	longest  time.Duration // that a client waited for an answer, or for a failure
}

// rate is answers a second.
func (t turn) rate() float64 { return float64(t.requests) / t.elapsed.Seconds() }

// send lets the clients send for a while. An answer that is neither 200 nor counted ends it.
func (l load) send(ctx context.Context, length time.Duration) (turn, error) {
	var wg sync.WaitGroup
	all, errs := make([]seen, l.clients), make([]error, l.clients)
	start := time.Now()
	for i := range l.clients {
		wg.Go(func() { all[i], errs[i] = l.client(ctx, i, start.Add(length)) })
	}
	wg.Wait()
	t := sum(all)
	t.elapsed = time.Since(start)
	if err := errors.Join(errs...); err != nil || t.requests == 0 {
		return t, errors.Join(err, ctx.Err())
	}
	return t, nil
}

// sum is what the clients saw together.
func sum(clients []seen) (t turn) {
	t.least = len(clients[0].took)
	var took []time.Duration
	for _, c := range clients {
		took = append(took, c.took...)
		t.refused += c.refused
		t.least = min(t.least, len(c.took))
	}
	if t.requests = len(took); t.requests > 0 {
		slices.Sort(took)
		t.p50, t.p99, t.longest = took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
	}
	for _, c := range clients {
		t.longest = max(t.longest, c.longestFailure)
	}
	return t
}

// seen is what one client saw.
type seen struct {
	took           []time.Duration // of the answers with 200
	refused        int
	longestFailure time.Duration // how long a visitor waited at most for what failed
}

// client is one connection's worth of it.
func (l load) client(ctx context.Context, i int, until time.Time) (seen, error) {
	if l.anew > 0 {
		return l.visitor(ctx, i, until), nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return seen{}, err
	}
	defer conn.Close() //nolint:errcheck // nothing is left to lose
	if err := conn.SetDeadline(until.Add(10 * time.Second)); err != nil {
		return seen{}, err
	}
	time.Sleep(l.pause * time.Duration(i) / time.Duration(l.clients)) // not all at once
	return l.talk(ctx, conn, i, until)
}

func (l load) talk(ctx context.Context, conn net.Conn, i int, until time.Time) (seen, error) {
	answers := bufio.NewReaderSize(conn, 64<<10)
	s := seen{took: make([]time.Duration, 0, 1<<14)}
	for n, now := 0, time.Now(); now.Before(until) && ctx.Err() == nil && (l.times == 0 || n < l.times); n++ {
		if _, err := conn.Write(l.request(i, n)); err != nil {
			return s, err
		}
		ok, err := answer(answers, l.refusals)
		if err != nil {
			return s, err
		}
		next := time.Now()
		if ok {
			s.took = append(s.took, next.Sub(now))
		} else {
			s.refused++
		}
		if now = next; l.pause > 0 {
			time.Sleep(l.pause)
			now = time.Now()
		}
	}
	return s, nil
}
