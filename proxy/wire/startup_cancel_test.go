package wire

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// running makes a client that a statement runs for, and gives its numbers and how often it
// was cancelled.
func (d *door) running(t *testing.T) (*client, context.Context, *pgconn.PgConn) {
	t.Helper()
	mode := "disable"
	if d.tls != nil {
		mode = "require"
	}
	conn, err := connect(t.Context(), t, fmt.Sprintf("postgres://%s:%s@%s/?sslmode=%s", shop, shopKey, d.addr, mode))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	key := int32(binary.BigEndian.Uint32(conn.SecretKey()))
	c, _ := d.clients.find(int32(conn.PID()), key)
	if c == nil {
		t.Fatal("the client is not found by its numbers")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(nil) })
	c.running.Store(&cancel)
	return c, ctx, conn
}

func cancelOf(process, secret int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(process))
	return packetOf(cancelRequest, string(binary.BigEndian.AppendUint32(b, uint32(secret))))
}

// cancelled waits for a cancellation.
func cancelled(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it was not cancelled")
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errCancelled) {
		t.Errorf("the cause is %v", cause)
	}
}

// A cancel request ends the statement of its client, under TLS or not, and of no other.
func TestCancel(t *testing.T) {
	d := openDoor(t, func(c *Config) { withTLS(someCertificate(t))(c) })
	c, ctx, conn := d.running(t)
	_, other, _ := d.running(t)
	for name, request := range map[string][]byte{
		"another secret": cancelOf(c.process, c.secret+1), "another process": cancelOf(c.process^1, c.secret),
		"no process": cancelOf(0, 0), "a negative process": cancelOf(-c.process, c.secret),
	} {
		r := d.dial(t)
		r.say(request)
		r.gone()
		if ctx.Err() != nil || other.Err() != nil {
			t.Fatalf("%s: something was cancelled", name)
		}
	}
	if err := conn.CancelRequest(t.Context()); err != nil { // pgx sends it under TLS
		t.Error(err)
	}
	cancelled(ctx, t)
	c, ctx, _ = d.running(t)
	r := d.dial(t)
	r.say(cancelOf(c.process, c.secret)) // as psql sends it
	r.gone()
	cancelled(ctx, t)
	c, ctx, _ = d.running(t)
	direct := d.dial(t)
	inner := &raw{Conn: tls.Client(direct.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{alpn}}), t: t}
	inner.say(cancelOf(c.process, c.secret))
	inner.gone()
	cancelled(ctx, t)
	if other.Err() != nil {
		t.Error("another client's statement was cancelled")
	}
	c.running.Store(nil)
	r = d.dial(t)
	r.say(cancelOf(c.process, c.secret)) // nothing runs
	r.gone()
}

// A storm of cancel requests, most of them wrong: the right ones of others are dropped where
// they come from the same place, nothing else is hit, and clients are served.
func TestCancelStorm(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxClients = 50 })
	c, ctx, _ := d.running(t)
	var storm sync.WaitGroup
	for i := range 8 {
		storm.Go(func() {
			for n := range 100 {
				r := d.dial(t)
				_, _ = r.Write(cancelOf(c.process, c.secret+1+int32(i*100+n)))
				_ = r.SetReadDeadline(time.Now().Add(5 * time.Second))
				_, _ = r.Read(make([]byte, 1))
				_ = r.Close()
			}
		})
	}
	storm.Wait()
	if ctx.Err() != nil {
		t.Error("it was cancelled by a wrong secret")
	}
	if d.strays.may(netip.MustParsePrefix("127.0.0.1/32")) {
		t.Error("guessing goes on")
	}
	r := d.dial(t)
	r.say(cancelOf(c.process, c.secret))
	r.gone()
	if ctx.Err() != nil {
		t.Error("a storm does not bound what comes from its place")
	}
	time.Sleep(300 * time.Millisecond)
	r = d.dial(t)
	r.say(cancelOf(c.process, c.secret))
	r.gone()
	cancelled(ctx, t)
	if heard := d.dial(t).login(shop, shopKey); len(heard) != 3 || heard[2][0] != 'R' {
		t.Errorf("after the storm: %v", heard)
	}
}

// Cancel requests that come too late are no guesses, and guesses cost nobody a login.
func TestCancelCounts(t *testing.T) {
	d := openDoor(t, nil)
	d.failures.pause, d.strays.pause = time.Hour, time.Hour
	c, ctx, _ := d.running(t)
	late := c.process ^ 1
	for n := range 150 {
		r := d.dial(t)
		r.say(cancelOf(late, int32(n)))
		r.gone()
	}
	here := netip.MustParsePrefix("127.0.0.1/32")
	if !d.strays.may(here) {
		t.Error("who is late is taken for who guesses")
	}
	for n := range 100 {
		r := d.dial(t)
		r.say(cancelOf(c.process, c.secret+1+int32(n)))
		r.gone()
	}
	if d.strays.may(here) || !d.failures.may(here) || ctx.Err() != nil {
		t.Errorf("guesses: %v, logins: %v, %v", d.strays.may(here), d.failures.may(here), ctx.Err())
	}
	if heard := d.dial(t).login(shop, shopKey); len(heard) != 3 || heard[2][0] != 'R' {
		t.Errorf("logging in: %v", heard)
	}
}

// Where there is no place for a client there is one for a cancel request: that makes room.
func TestCancelWhenFull(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.MaxClients = 1 })
	c, ctx, _ := d.running(t)
	r := d.dial(t)
	r.say(startupOf(version3, "user", shop))
	if got := r.told(); got != "FATAL 53300 too many clients are connected" {
		t.Error(got)
	}
	r = d.dial(t)
	r.say(packetOf(sslRequest, ""))
	answer := []byte{0}
	if _, err := io.ReadFull(r, answer); err != nil || answer[0] != 'N' {
		t.Errorf("asked for encryption: %q %v", answer, err)
	}
	r.say(startupOf(version3, "user", shop))
	if got := r.told(); got != "FATAL 53300 too many clients are connected" {
		t.Error(got)
	}
	r = d.dial(t)
	r.say(cancelOf(c.process, c.secret))
	r.gone()
	cancelled(ctx, t)
}

// What runs for a client that closes its connection is ended, whatever it has sent before
// that; nobody else's is.
func TestClientIsGone(t *testing.T) {
	d := openDoor(t, nil)
	c, r := bare(t, nil)
	d.clients.mu.Lock()
	d.clients.open[c.process] = c // d watches it
	d.clients.mu.Unlock()
	ctx, cancel := context.WithCancelCause(context.Background())
	c.running.Store(&cancel)
	_, other, _ := d.running(t)
	time.Sleep(2 * watchEvery)
	if ctx.Err() != nil {
		t.Error("it is there")
	}
	r.say(make([]byte, 1000))
	_ = r.Close()
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errClientGone) {
		t.Errorf("the cause is %v", cause)
	}
	if other.Err() != nil {
		t.Error("another client's statement was ended")
	}
	d.clients.remove(c)
}
