package clients_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// cancelStorm has several clients run statements of which one is cancelled, while others ask
// for cancellations with wrong keys. Whoever is cancelled is so once, and not in its next
// statement; nobody else is.
func (f *faulty) cancelStorm(t *testing.T) {
	victim, bystander := speak(t, f.url), speak(t, f.url)
	ctx, stop := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	for n := range 2 {
		storm.Go(func() {
			for ctx.Err() == nil { // the wrong key, the wrong process, another client's
				f.cancel(strangers, victim.pid, append([]byte{byte(n)}, bystander.secret[1:]...))
				f.cancel(strangers, bystander.pid+1, bystander.secret)
				f.cancel(strangers, bystander.pid, victim.secret)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	slowest := time.Duration(0)
	for n := range often(20, 500) {
		if n%5 == 0 { // each time for a few seconds: who holds a connection longer is ended while others wait for one
			bystander.send(fmt.Sprintf("Query {\"String\": %q}", marked("bystander")))
			f.running(t, "bystander")
		}
		mark := fmt.Sprintf("victim%d_", n)
		victim.send(fmt.Sprintf("Query {\"String\": %q}", marked(mark)))
		f.running(t, mark)
		began := time.Now()
		for range 3 {
			go f.cancel(friends, victim.pid, victim.secret)
		}
		if said := victim.until([]string{"ReadyForQuery"}); !strings.HasSuffix(said, "ErrorResponse {\"Severity\":\"ERROR\",\"Code\":\"57014\"}\nReadyForQuery \"I\"\n") {
			t.Fatalf("the victim was told %s", said)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(50 * time.Millisecond) // a cancel that is under way may still meet what comes next, as in Postgres
		victim.send(fmt.Sprintf("Query {\"String\": \"SELECT 'next%d'\"}", n))
		if said := victim.until([]string{"ReadyForQuery"}); !strings.Contains(said, fmt.Sprintf(`DataRow ["next%d"]`, n)) {
			t.Errorf("then it was told %s", said)
		}
		if n%5 == 4 {
			f.running(t, "bystander")
			f.cancel(friends, bystander.pid, bystander.secret)
			if said := bystander.until([]string{"ReadyForQuery"}); !strings.Contains(said, "57014") {
				t.Errorf("the bystander was told %s", said)
			}
		}
	}
	stop()
	storm.Wait()
	t.Logf("a cancellation took %v at most", slowest.Round(time.Millisecond))
	victim.end()
	bystander.end()
}

// Where cancellations come from. Who guesses keys gets few tries, and so would his friends.
const (
	friends   = "127.0.0.1"
	strangers = "127.0.0.2"
)

// cancel asks for a cancellation, and waits until it was taken.
func (f *faulty) cancel(from string, pid uint32, secret []byte) {
	dialer := net.Dialer{Timeout: time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", f.address)
	if err != nil {
		return
	}
	defer conn.Close()
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(secret)))
	b = binary.BigEndian.AppendUint32(b, 80877102)
	b = binary.BigEndian.AppendUint32(b, pid)
	if _, err := conn.Write(append(b, secret...)); err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = conn.Read(make([]byte, 1))
}

// strange are bytes that no client sends.
func strange() map[string][]byte {
	long := append([]byte("Q\x7f\xff\xff\xff"), make([]byte, 100)...)
	return map[string][]byte{
		"an unknown type":            []byte("z\x00\x00\x00\x04"),
		"a length of zero":           []byte("Q\x00\x00\x00\x00"),
		"a length of three":          []byte("Q\x00\x00\x00\x03"),
		"a negative length":          []byte("Q\xff\xff\xff\xff"),
		"two gigabytes":              long,
		"17 megabytes":               []byte("Q\x01\x10\x00\x00"),
		"a text without an end":      []byte("Q\x00\x00\x00\x06ab"),
		"bytes behind a text":        []byte("Q\x00\x00\x00\x08a\x00b\x00"),
		"Bind with many formats":     []byte("B\x00\x00\x00\x08\x00\x00\x7f\xff"),
		"Bind with a long value":     []byte("B\x00\x00\x00\x10\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff\x00\x00"),
		"Bind with a length of -2":   []byte("B\x00\x00\x00\x10\x00\x00\x00\x00\x00\x01\xff\xff\xff\xfe\x00\x00"),
		"Parse with many types":      []byte("P\x00\x00\x00\x08\x00\x00\x7f\xff"),
		"an Execute that is short":   []byte("E\x00\x00\x00\x05\x00"),
		"Sync with content":          []byte("S\x00\x00\x00\x05x"),
		"a start-up message":         []byte("\x00\x00\x00\x08\x00\x03\x00\x00"),
		"a request for TLS":          []byte("\x00\x00\x00\x08\x04\xd2\x16\x2f"),
		"a cancel request":           []byte("\x00\x00\x00\x10\x04\xd2\x16\x2e\x00\x00\x00\x01\x00\x00\x00\x02"),
		"a password":                 []byte("p\x00\x00\x00\x08abc\x00"),
		"zeros":                      make([]byte, 1000),
		"a message that breaks off":  []byte("Q\x00\x00\x00\x20SELECT"),
		"a function call without it": []byte("F\x00\x00\x00\x04"),
		"HTTP":                       []byte("GET / HTTP/1.1\r\n\r\n"),
	}
}

// hostileFrames sends strange bytes at every stage of a session. The client is told of an
// error, or its connection ends; others notice nothing, and nothing of it remains.
func (f *faulty) hostileFrames(t *testing.T) {
	stages := map[string]string{
		"at the start":   "",
		"in a block":     `Query {"String": "BEGIN; INSERT INTO samples (id, t) VALUES (3000, 'hostile')"}`,
		"in a failure":   `Query {"String": "BEGIN; SELECT 1/0"}`,
		"in COPY":        `Query {"String": "COPY samples (id, t) FROM STDIN"}` + "\n" + `CopyText "3000\thostile\n"`,
		"in a pipeline":  `Parse {"Query": "INSERT INTO samples (id, t) VALUES (3000, 'hostile')"}` + "\nBind\nExecute",
		"in a portal":    `Query {"String": "BEGIN"}` + "\n" + `Parse {"Query": "SELECT n FROM generate_series(1, 100) AS n"}` + "\nBind\n" + `Execute {"MaxRows": 3}` + "\nFlush",
		"after an error": `Parse {"Query": "SELECT nothing"}` + "\nFlush",
	}
	for stage, before := range stages {
		for what, frame := range strange() {
			f.oneHostile(t, stage+", "+what, before, frame)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range often(100, 5000) {
		frame := make([]byte, 1+random.IntN(200))
		for i := range frame {
			frame[i] = byte(random.Uint32())
		}
		if n%2 == 0 { // of a known type and the right length
			frame = append(append([]byte{"QPBEDCSHFdcfX"[random.IntN(13)]}, binary.BigEndian.AppendUint32(nil, uint32(4+len(frame)))...), frame...)
		}
		f.oneHostile(t, fmt.Sprintf("random %d", n), stages["in a block"], frame)
	}
	s := speak(t, f.url)
	s.send(`Query {"String": "SELECT count(*) FROM samples WHERE id = 3000"}`)
	if said := s.until([]string{"ReadyForQuery"}); !strings.Contains(said, `DataRow ["0"]`) {
		t.Errorf("something of it remains: %s", said)
	}
	s.end()
}

// oneHostile sends a frame and then nothing more: the connection must have ended soon.
func (f *faulty) oneHostile(t *testing.T, what, before string, frame []byte) {
	t.Helper()
	s := speak(t, f.url)
	defer s.Close()
	if before != "" {
		s.send(before)
	}
	if _, err := s.Write(frame); err != nil {
		return // it has ended already
	}
	if tcp, ok := s.Conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	for {
		message, err := s.receive(5 * time.Second)
		if err != nil {
			if ended(err) == "(nothing came)" {
				t.Errorf("%s: the connection stays open", what)
			}
			return
		}
		if said := masked(message); strings.Contains(said, "CANARY") || strings.Contains(said, "mark1") || strings.Contains(said, `"XX000"`) {
			t.Errorf("%s: %s", what, said)
		}
	}
}
