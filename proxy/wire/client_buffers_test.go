package wire

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Messages of all lengths come whole, alone and together, and an idle client holds nothing.
func TestMessagesOfAllLengths(t *testing.T) {
	c, r := bare(t, nil)
	sizes := []int{0, 1, 506, 507, 508, 511, 512, 513, 4096, 16379, 16380, 16384, 16385, 70_000, 1 << 20, 3, 5 << 20, 0}
	content := func(i, n int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, n) }
	for round := range 2 {
		go func() {
			for i, n := range sizes {
				_, _ = r.Write(messageOf(byte('A'+i), string(content(i, n))))
				if round == 0 {
					time.Sleep(2 * time.Millisecond)
				}
			}
		}()
		for i, n := range sizes {
			kind, body, err := c.next(proxy.Idle)
			if err != nil || kind != byte('A'+i) || !bytes.Equal(body, content(i, n)) {
				t.Fatalf("message %d of %d bytes: %q, %d bytes, %v", i, n, kind, len(body), err)
			}
		}
	}
	go func() { _, _, _ = c.next(proxy.Idle) }()
	for end := time.Now().Add(time.Second); phase(c.phase.Load()) != idle && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
	_ = r.Close()
	if held := c.server.buffers.long.Taken(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}

// Long messages share a budget. What a message announces is not reserved: what has come is.
func TestLongMessagesShareABudget(t *testing.T) {
	c, r := bare(t, func(c *Config) { c.MaxMessageBytes, c.MaxLongBytes = 1<<20, 1<<20 })
	b := &c.server.buffers
	r.say([]byte{'Q', 0, 0x0f, 0, 0})
	r.say(make([]byte, 20<<10))
	done := make(chan error, 1)
	go func() { _, _, err := c.next(proxy.Idle); done <- err }()
	time.Sleep(100 * time.Millisecond)
	if held := b.long.Taken(); held != 32<<10 {
		t.Errorf("%d bytes are held for 20 KiB of 960", held)
	}
	if b.long.Take(proxy.Account{Project: "another"}, 589_000) != nil {
		t.Fatal("there is no budget")
	}
	r.say(make([]byte, 0xf0000-4-20<<10))
	select {
	case err := <-done:
		if !errors.Is(err, errNoMemory) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it waits")
	}
	c.giveBackReading()
	if held := b.long.Taken(); held != 589_000 {
		t.Errorf("%d bytes are held", held)
	}
}

// What a client that has become idle was lent, others have; what is not yet sent stays.
func TestIdleClientHasNoBuffers(t *testing.T) {
	c, r := bare(t, nil)
	c.out.Text("of start-up")
	_ = c.out.Flush()
	for _, answer := range []int{0, 100, 20_000, 200_000, 1} {
		c.rest()
		if c.out.Buf != nil || c.lent != nil || len(c.in.Buf) != smallBuffer {
			t.Errorf("before %d bytes are sent: %d bytes to write into, %d to read", answer, cap(c.out.Buf), len(c.in.Buf))
		}
		go r.say(messageOf('Q', string(make([]byte, 2000))))
		if _, _, err := c.next(proxy.Idle); err != nil {
			t.Fatal(err)
		}
		if cap(c.out.Buf) < writeBuffer || cap(c.out.Buf) > maxKept || len(c.in.Buf) != longBuffer {
			t.Errorf("%d bytes to write into, %d to read", cap(c.out.Buf), len(c.in.Buf))
		}
		c.out.Raw(make([]byte, answer))
		_ = c.out.Flush()
	}
	c.out.Raw([]byte("unsent"))
	c.rest()
	if string(c.out.Buf) != "unsent" {
		t.Errorf("left is %q", c.out.Buf)
	}
}

// A client that sends on and on does not keep the buffer of a long message.
func TestLongBufferIsLeft(t *testing.T) {
	c, r := bare(t, nil)
	go func() {
		all := messageOf('Q', string(make([]byte, 100_000)))
		for range 3000 {
			all = append(all, messageOf('S', "")...)
		}
		_, _ = r.Write(all)
	}()
	for range 2900 {
		if _, _, err := c.next(proxy.Idle); err != nil {
			t.Fatal(err)
		}
	}
	if held := c.server.buffers.long.Taken(); held != 0 || len(c.in.Buf) > longBuffer {
		t.Errorf("%d bytes are held", held)
	}
}

// No server holds all of the budget, and what it gives back it has again.
func TestLongMessagesOfOneServer(t *testing.T) {
	b := &buffers{long: proxy.NewTally(1000, 100)}
	for _, step := range []struct {
		server string
		n      int
		ok     bool
	}{{"a", 500, true}, {"a", 251, false}, {"a", 250, true}, {"a", 1, false}, {"b", 126, false}, {"b", 125, true}, {"b", 1, false}, {"c", 63, false}, {"c", 62, true}} {
		if ok := b.long.Take(proxy.Account{Project: "p", Server: step.server}, step.n) == nil; ok != step.ok {
			t.Errorf("%+v", step)
		}
	}
	a := proxy.Account{Project: "p", Server: "a"}
	b.long.Give(a, 750)
	b.long.Give(proxy.Account{Project: "p", Server: "b"}, 125)
	b.long.Give(proxy.Account{Project: "p", Server: "c"}, 62)
	if b.long.Take(a, 750) != nil || b.long.Taken() != 750 {
		t.Errorf("%d bytes are held", b.long.Taken())
	}
}

// A long message must come in time as a whole, however steadily it drips.
func TestLongMessageDrips(t *testing.T) {
	c, r := bare(t, func(c *Config) { c.ReadTimeout = 200 * time.Millisecond })
	r.say([]byte{'Q', 0, 0, 0xff, 0xff})
	r.say(make([]byte, 20<<10))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for range 250 {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = r.Write([]byte{0})
			}
		}
		_ = r.Close()
	}()
	begin := time.Now()
	if _, _, err := c.next(proxy.Idle); !errors.Is(err, errReadTooLong) {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
