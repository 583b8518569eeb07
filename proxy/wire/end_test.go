package wire

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// ready logs in and reads up to ReadyForQuery.
func (r *raw) ready(user, password string) *raw {
	r.t.Helper()
	if heard := r.login(user, password); len(heard) != 3 || !strings.HasPrefix(heard[2], "R 0000000c") {
		r.t.Fatal(heard)
	}
	for {
		kind, _, err := r.hear()
		if err != nil {
			r.t.Fatal(err)
		}
		if kind == 'Z' {
			return r
		}
	}
}

// counted waits until the clients are as many.
func (d *door) counted(t *testing.T, want string) {
	t.Helper()
	got := fmt.Sprint(d.Clients())
	for end := time.Now().Add(5 * time.Second); got != want && time.Now().Before(end); got = fmt.Sprint(d.Clients()) {
		time.Sleep(time.Millisecond)
	}
	if got != want {
		t.Errorf("the clients are %s, not %s", got, want)
	}
}

func TestConfigIsChecked(t *testing.T) {
	complete := func(change func(*Config)) Config {
		c := Config{Gate: newDoorkeeper(), Open: func(proxy.Account) Link { return noLink{} }, Logger: slog.New(slog.DiscardHandler), TLSMode: TLSDisable}
		change(&c)
		return c
	}
	for want, change := range map[string]func(*Config){
		"gate, open and logger":                 func(c *Config) { c.Gate = nil },
		"TLS is required of clients":            func(c *Config) { c.TLSMode = TLSRequire },
		"there is no TLS mode 3":                func(c *Config) { c.TLSMode = 3 },
		"TLS is on but there is no certificate": func(c *Config) { c.TLSMode, c.TLS = TLSRequire, &tls.Config{} },
		"a TLS configuration per client is not supported:": func(c *Config) {
			withTLS(someCertificate(t))(c)
			c.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }
		},
	} {
		if _, err := New(complete(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, mode := range []TLSMode{TLSAllow, TLSDisable} {
		if _, err := New(complete(func(c *Config) { c.TLSMode = mode })); err != nil {
			t.Error(err)
		}
	}
}

// At the end, idle clients and those that log in are told so at once.
func TestDrain(t *testing.T) {
	d := openDoor(t, nil)
	waiting := d.dial(t).ready(shop, shopKey)
	beginning := d.dial(t)
	beginning.say(startupOf(version3, "user", shop))
	_, _, _ = beginning.hear()
	d.counted(t, "map[active:0 idle:1 starting:1 transaction:0]")
	begin := time.Now()
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > time.Second+lingerTime {
		t.Errorf("it took %v", took)
	}
	for _, r := range []*raw{waiting, beginning} {
		if got := r.told(); got != "FATAL 57P01 terminating connection because the service shuts down" {
			t.Error(got)
		}
	}
	if conn, err := net.Dial("tcp", d.addr); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
	if cause := context.Cause(d.base); !errors.Is(cause, errShutdown) {
		t.Errorf("the sessions' context ended by %v", cause)
	}
	if err := d.Serve(context.Background(), nil); err == nil {
		t.Error("it serves twice")
	}
}

// Clients have places, all together and those of one address; who leaves gives its own back.
func TestPlaces(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxClientsPerIP = 2 })
	first, second := d.dial(t).ready(shop, shopKey), d.dial(t).ready(cafe, cafeKey)
	third := d.dial(t)
	third.say(startupOf(version3, "user", shop))
	if got := third.told(); got != "FATAL 53300 too many clients are connected from this address" {
		t.Error(got)
	}
	third = d.dial(t)
	third.say(packetOf(sslRequest, "")) // who is too many gets no handshake
	if got := third.told(); got != "FATAL 53300 too many clients are connected from this address" {
		t.Error(got)
	}
	first.say(messageOf('X', ""))
	first.gone()
	_ = second.Close()
	d.counted(t, "map[active:0 idle:0 starting:0 transaction:0]")
	_ = d.dial(t).ready(shop, shopKey)
	for _, text := range []string{"server=" + shop, "outcome=quit", "outcome=gone"} {
		d.logged(t, text)
	}
}

// The log tells who failed to authenticate, and of what is no Postgres client only who looks
// for it; what a client names is printable there, and where it is told.
func TestLogOfStartups(t *testing.T) {
	d := openDoor(t, nil)
	r := d.dial(t)
	r.say([]byte("GET / HTTP/1.1\r\n\r\n"))
	r.gone()
	d.logged(t, "level=DEBUG msg=\"Postgres client ended\" server=\"\"")
	user := "a\r\nb\x1b[31m\u202e" + strings.Repeat("x", 100)
	heard := d.dial(t).login(user, "wrong")
	body, _ := hex.DecodeString(heard[2][2:])
	if got, want := errorText(body), "FATAL 28P01 password authentication failed for user \"a??b?[31m?"+strings.Repeat("x", 88)+"…\""; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	d.logged(t, "level=INFO msg=\"Postgres client ended\" server=a??b?[31m?x")
	d.logged(t, "outcome=unauthorized")
	if got := printable(strings.Repeat("ä", 60)); got != strings.Repeat("ä", 50)+"…" {
		t.Error(got)
	}
}

// What a client may send before it has authenticated is counted by the byte.
func TestTransportCounts(t *testing.T) {
	c, r := bare(t, nil)
	c.socket.left, c.socket.buffered = 5, []byte("ahead")
	r.say([]byte("123456789"))
	got, err := io.ReadAll(&c.socket)
	if string(got) != "ahead12345" || !errors.Is(err, errTooMuch) {
		t.Errorf("%q %v", got, err)
	}
}

// bare is a client of a server that does not listen, and the other end of its connection.
func bare(t *testing.T, change func(*Config)) (*client, *raw) {
	t.Helper()
	config := Config{Gate: newDoorkeeper(), Open: func(proxy.Account) Link { return noLink{} }, Logger: slog.New(slog.DiscardHandler), TLSMode: TLSDisable}
	if change != nil {
		change(&config)
	}
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	theirs, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ours, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	c := s.newClient(ours)
	if full := s.clients.add(c); full != nil {
		t.Fatal(full)
	}
	c.socket.left = -1
	c.phase.Store(uint32(active))
	return c, &raw{Conn: theirs, t: t}
}

// A client that takes nothing does not keep the service from ending, however long it may
// take to write to it.
func TestEndIsNotHeldUp(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.DrainTimeout = 10 * time.Millisecond })
	c, _ := bare(t, nil)
	if full := d.clients.add(c); full != nil {
		t.Fatal(full)
	}
	d.serving.Go(func() {
		_, _ = c.Write(make([]byte, 64<<20))
		d.clients.remove(c)
	})
	begin := time.Now()
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < cancelGrace || took > cancelGrace+2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A client that is still sending when its connection ends reads why: it is not reset.
func TestToldWhileSending(t *testing.T) {
	d := openDoor(t, nil)
	r := d.dial(t)
	r.say(append(startupOf(2<<16, "user", shop), make([]byte, 100_000)...))
	if kind, _, err := r.hear(); kind != 'E' || err != nil {
		t.Fatalf("%q %v", kind, err)
	}
	r.say(make([]byte, 100_000))
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

// Each wait has its time, and tells which it was.
func TestTimesAreOver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		state  proxy.State
		say    string
		want   *fatal
	}{
		"idle":           {func(c *Config) { c.IdleTimeout = 100 * time.Millisecond }, proxy.Idle, "", errIdleTooLong},
		"open":           {func(c *Config) { c.TransactionIdleTimeout = 100 * time.Millisecond }, proxy.Open, "", errOpenTooLong},
		"failed":         {func(c *Config) { c.TransactionIdleTimeout = 100 * time.Millisecond }, proxy.Failed, "", errOpenTooLong},
		"in its head":    {func(c *Config) { c.ReadTimeout = 100 * time.Millisecond }, proxy.Idle, "Q\x00", errReadTooLong},
		"in its content": {func(c *Config) { c.ReadTimeout = 100 * time.Millisecond }, proxy.Idle, "Q\x00\x00\x00\x09SEL", errReadTooLong},
		"too long":       {func(c *Config) { c.MaxMessageBytes = 20 }, proxy.Idle, "Q\x00\x00\x00\x19", errMessageLong},
		"malformed":      {nil, proxy.Idle, "Q\x00\x00\x00\x03", errMessageBroken},
	} {
		t.Run(name, func(t *testing.T) {
			client, r := bare(t, c.change)
			r.say([]byte(c.say))
			begin := time.Now()
			if _, _, err := client.next(c.state); !errors.Is(err, c.want) {
				t.Error(err)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// Who has a transaction open may go on while the service drains; then it is told, too.
func TestDrainWithinTransaction(t *testing.T) {
	c, r := bare(t, nil)
	go func() {
		time.Sleep(50 * time.Millisecond)
		c.server.drain.Store(draining)
		c.server.clients.wake(c.server.ends)
		time.Sleep(50 * time.Millisecond)
		_, _ = r.Write(messageOf('Q', "COMMIT\x00"))
	}()
	if kind, _, err := c.next(proxy.Open); kind != 'Q' || err != nil {
		t.Fatalf("%q %v", kind, err)
	}
	if _, _, err := c.next(proxy.Idle); !errors.Is(err, errShutdown) {
		t.Error(err)
	}
	c.server.drain.Store(open)
	go func() {
		time.Sleep(50 * time.Millisecond)
		c.server.drain.Store(overdrawn)
		c.server.clients.wake(c.server.ends)
	}()
	if _, _, err := c.next(proxy.Open); !errors.Is(err, errShutdown) {
		t.Error(err)
	}
}

// Waking who has just been heard harms nothing: what it says is read to its end.
func TestWokenWhileReading(t *testing.T) {
	c, r := bare(t, nil)
	r.say([]byte("Q\x00\x00\x00\x09"))
	go func() {
		for range 20 {
			time.Sleep(5 * time.Millisecond)
			_ = c.socket.SetReadDeadline(time.Unix(1, 0))
		}
		_, _ = r.Write([]byte("abcde"))
	}()
	if kind, body, err := c.next(proxy.Idle); kind != 'Q' || string(body) != "abcde" || err != nil {
		t.Errorf("%q %q %v", kind, body, err)
	}
}

// A client that takes nothing is given up, and one that takes a little at a time is not.
func TestSlowReader(t *testing.T) {
	c, r := bare(t, func(c *Config) { c.WriteTimeout = 700 * time.Millisecond })
	_ = c.socket.Conn.(*net.TCPConn).SetWriteBuffer(64 << 10)
	done := make(chan error, 1)
	go func() { _, err := c.Write(make([]byte, 8<<20)); done <- err }()
	for taken := 0; taken < 8<<20; {
		n, err := io.ReadFull(r, make([]byte, 512<<10))
		taken += n
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // 16 times: longer than the timeout in all
	}
	if err := <-done; err != nil {
		t.Errorf("taken slowly: %v", err)
	}
	begin := time.Now()
	if _, err := c.Write(make([]byte, 64<<20)); !isTimeout(err) {
		t.Errorf("not taken: %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Who sends too long a message, and looks for an answer only then, is told so.
func TestLongMessageIsTold(t *testing.T) {
	d := openDoor(t, nil)
	r := d.dial(t)
	r.login(shop, shopKey)
	message := append([]byte("Q\x02\x00\x00\x04"), make([]byte, 32<<20)...)
	_ = r.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := r.Write(message); err != nil {
		t.Fatalf("while it was sent: %v", err)
	}
	heard, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(heard), "C08P01\x00Ma message is longer than it may be") {
		t.Errorf("%q %v", heard, err)
	}
}

// Before a client has authenticated, nobody reads that much of it.
func TestLongMessageOfAStranger(t *testing.T) {
	c := &client{}
	if most, span := c.linger(errMessageLong); most != lingerBytes || span != lingerTime {
		t.Error(most, span)
	}
	c.key = proxy.KeyID{1}
	if most, span := c.linger(errMessageBroken); most != lingerBytes || span != lingerTime {
		t.Error(most, span)
	}
}

// No server has all places of clients.
func TestPlacesOfOneServer(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxClients, c.ProjectShare = 4, 100 })
	for range 2 {
		_ = d.dial(t).ready(shop, shopKey)
	}
	third := d.dial(t).ready(shop, shopKey)
	fourth := d.dial(t)
	if heard := fourth.login(shop, shopKey); len(heard) == 0 || !strings.Contains(heard[len(heard)-1], fmt.Sprintf("%x", "too many clients are connected as this server")) {
		t.Errorf("the fourth: %q", heard)
	}
	_ = fourth.Close()
	d.counted(t, "map[active:0 idle:3 starting:0 transaction:0]")
	other := d.dial(t).ready(cafe, cafeKey)
	for i, c := range []*raw{third, other} { // the last place is for a server that has none
		c.say(messageOf('X', ""))
		c.gone()
		d.counted(t, fmt.Sprintf("map[active:0 idle:%d starting:0 transaction:0]", 3-i))
	}
	_ = d.dial(t).ready(shop, shopKey)
}
