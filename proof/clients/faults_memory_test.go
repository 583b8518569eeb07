package clients_test

import (
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// mostIdle is what an idle client may cost in heap and stacks, in bytes: more where the program is built with the race detector.
func mostIdle() int {
	if strings.Contains(os.Getenv("GOFLAGS"), "-race") {
		return 24 << 10
	}
	return 16 << 10
}

// idleClients has many clients connect, ask once, and wait.
func (f *faulty) idleClients(t *testing.T) {
	n := often(500, 5000)
	f.hammer.quiet.Lock()
	defer f.hammer.quiet.Unlock()
	before := f.collected(t)
	idle := make([]*spoken, n)
	var next atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
				s, err := trySpeak(t, []string{f.url, f.other}[i%2])
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				s.send(`Query {"String": "SELECT 1"}`)
				if said := s.until([]string{"ReadyForQuery"}); !strings.Contains(said, `DataRow ["1"]`) {
					t.Errorf("client %d: %s", i, said)
				}
				idle[i] = s
			}
		})
	}
	if all.Wait(); t.Failed() {
		return
	}
	now, most := f.collected(t), before.heap+before.stack+n*mostIdle()
	for i := 0; i < 4 && now.heap+now.stack > most; i++ { // a collection also keeps what was in use while it ran
		now = f.collected(t)
	}
	t.Logf("%d idle clients: each %d bytes of heap and %d of stacks, %d of the process; %d goroutines",
		n, (now.heap-before.heap)/n, (now.stack-before.stack)/n, (now.rss-before.rss)/n, now.goroutines)
	if each := (now.heap + now.stack - before.heap - before.stack) / n; each > mostIdle() {
		t.Errorf("an idle client takes %d bytes", each)
	}
	if now.clients-before.clients != n || now.acquired > 1 || now.goroutines > before.goroutines+n+10 {
		t.Errorf("%+v before, %+v now", before, now)
	}
	for _, s := range idle {
		_ = s.Close()
	}
}

// Of slow readers: what they ask for, how much memory the service may take for it all, and
// for how long they may read nothing.
const (
	largeResult  = "SELECT repeat('x', 1000) FROM generate_series(1, 200000)" // 200 MB
	mostSlow     = 64 << 20                                                   // bytes
	writeTimeout = 30 * time.Second
	contended    = 10 * time.Second // what a transaction has while others wait for a connection
)

// slowReader stops to read a large result. Others are served meanwhile; the service ends it
// when its time is over, and has its connection back.
func (f *faulty) slowReader(t *testing.T) {
	before := f.measure(t)
	readers := make([]*spoken, 2)
	for i := range readers {
		readers[i] = speak(t, f.url)
		if tcp, ok := readers[i].Conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(64 << 10)
		}
		readers[i].send(`Query {"String": "` + largeResult + `"}`)
	}
	began, asked, most := time.Now(), f.hammer.asked.Load(), 0
	var freed time.Duration
	for time.Since(began) < writeTimeout+10*time.Second && freed == 0 {
		time.Sleep(250 * time.Millisecond)
		now := f.measure(t)
		most = max(most, now.rss-before.rss)
		if time.Since(began) > 2*time.Second && !strings.Contains(f.busy(t), "repeat") {
			freed = time.Since(began)
		}
	}
	served := f.hammer.asked.Load() - asked
	t.Logf("two slow readers: %d bytes more in the process, their backends free after %v; %d answers to others meanwhile",
		most, freed.Round(100*time.Millisecond), served)
	if freed < contended || freed > writeTimeout+8*time.Second || most > mostSlow || served < 100 {
		t.Errorf("freed after %v, %d bytes more, %d served", freed, most, served)
	}
	for _, s := range readers {
		endsSoon(t, s)
	}
	f.reads(t)
}

// endsSoon reads what is left for a client until its connection ends. None of it is an end
// of the result.
func endsSoon(t *testing.T, s *spoken) {
	t.Helper()
	rows := 0
	for {
		message, err := s.receive(5 * time.Second)
		if err != nil {
			if ended(err) == "(nothing came)" {
				t.Error("the connection of a slow reader stays open")
			}
			break
		}
		switch message.(type) {
		case *pgproto3.DataRow:
			rows++
		case *pgproto3.CommandComplete, *pgproto3.ReadyForQuery:
			t.Errorf("a slow reader was told %s", masked(message))
		}
	}
	if rows >= 200000 {
		t.Errorf("%d rows came", rows)
	}
}

// reads has a client that reads on get all of the result.
func (f *faulty) reads(t *testing.T) {
	t.Helper()
	s, rows := speak(t, f.other), 0
	s.send(`Query {"String": "` + largeResult + `"}`)
	for {
		message, err := s.receive(answerTime)
		if err != nil {
			t.Fatal(rows, err)
		}
		if _, is := message.(*pgproto3.DataRow); is {
			rows++
		}
		if _, is := message.(*pgproto3.ReadyForQuery); is {
			break
		}
	}
	if rows != 200000 {
		t.Errorf("%d rows", rows)
	}
	s.end()
}
