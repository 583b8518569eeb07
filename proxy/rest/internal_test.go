package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/tenantgate/tenantgate/proxy"
)

// address is a connection from somewhere.
type address struct {
	net.Conn
	from net.Addr
}

func (a address) RemoteAddr() net.Addr { return a.from }

func TestNetworkOf(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7/32", "[::ffff:192.0.2.7]:1": "192.0.2.7/32",
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
	} {
		addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))
		if got := proxy.NetworkOf(address{from: addr}).String(); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
	if proxy.NetworkOf(address{from: &net.UnixAddr{Name: "x"}}).IsValid() {
		t.Error("a Unix socket has no network")
	}
}

// Connections without an address are not limited per address; places are counted once.
func TestConns(t *testing.T) {
	unix := address{from: &net.UnixAddr{Name: "x"}}
	o := newConns(proxy.ConnectionLimits{Total: 3, PerNetwork: 1}, silent{}, nil, nil)
	add := func(from address) (*conn, proxy.Admission) {
		c, admission := o.add(from)
		c.known.Store(c.begin()) // so that it is not evicted
		return c, admission
	}
	first, one := add(unix)
	_, two := add(unix)
	if one != proxy.Admitted || two != proxy.Admitted {
		t.Errorf("%v %v", one, two)
	}
	here := address{from: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	if _, three := add(here); three != proxy.Admitted {
		t.Error("the third was refused")
	}
	if _, four := add(unix); four != proxy.FullForAll {
		t.Error("the fourth was admitted")
	}
	o.Remove(first)
	o.Remove(first)
	if refused, again := add(here); again != proxy.FullForNetwork {
		t.Error("a second one from one address was admitted")
	} else {
		o.Remove(refused)
	}
	if left := o.cut((*conn).busy); left != 2 {
		t.Errorf("%d open", left)
	}
}

// Whoever is left is followed no more, and whose context has ended gets another one.
func TestWatchLeaves(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := newConns(proxy.ConnectionLimits{Total: 1}, silent{}, nil, nil)
	w := newWatch(o)
	c, _ := o.add(address{from: &net.UnixAddr{Name: "x"}})
	first := w.follow(parent, c)
	if !o.endGone() || first.Err() != nil {
		t.Errorf("followed: %v, %v", o.endGone(), first.Err())
	}
	w.leave(c)
	if o.endGone() || first.Err() != nil {
		t.Errorf("left: %v, %v", o.endGone(), first.Err())
	}
	if again := w.follow(parent, c); again != first {
		t.Error("a client that is there has two contexts")
	}
	c.present.end(errClientGone)
	if another := w.follow(parent, c); another.Err() != nil || !o.endGone() {
		t.Errorf("after an end: %v, followed %v", another.Err(), o.endGone())
	}
	cancel()
	if ended := w.follow(parent, c); ended.Err() == nil {
		t.Error("a context outlives its parent")
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		text := newID()
		id, err := uuid.Parse(text)
		if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 || seen[text] {
			t.Fatalf("%s: %v", text, err)
		}
		if ago := time.Since(time.Unix(id.Time().UnixTime())); ago < 0 || ago > time.Minute {
			t.Errorf("%s is %v old", text, ago)
		}
		seen[text] = true
	}
}

// Each fault is told by its name.
func TestReadHeadFaults(t *testing.T) {
	for block, want := range map[string]error{
		"A: b\r\n c\r\n\r\n": errFolded, "\tA: b\r\n\r\n": errFolded, "A: b\n\r\n": errLineEnd, "A: b\r\n\n": errLineEnd, "A: b\r": errLineEnd,
		"A : b\r\n\r\n": errHeaderName, "A b\r\n\r\n": errHeaderName, ": b\r\n\r\n": errHeaderName, "A: \x80\r\n\r\n": errHeaderByte, "\xc3\xa9: b\r\n\r\n": errHeaderByte,
		"Content-Length: 1\r\nTRANSFER-ENCODING: chunked\r\n\r\n": errFraming, "A: b\r\nA: c\r\n\r\n": nil, "": nil,
	} {
		if _, err := readHead([]byte(block)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", block, err, want)
		}
	}
}

// Whatever a reader takes, another parser takes too, with the same values.
func FuzzReadObject(f *testing.F) {
	for _, seed := range []string{`{"query":"SELECT 1","args":[1,"a",null,{"b":[]}]}`, `{"query":"\u00e9","query":1}`, `{`, `[]`, `{"args":[[[["`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var read statement
		if err := (&reader{body: body}).read(&read); err != nil {
			return
		}
		var other struct {
			Query string            `json:"query"`
			Args  []json.RawMessage `json:"args"`
		}
		if err := json.Unmarshal(body, &other); err != nil || other.Query != read.text || len(other.Args) != len(read.args) {
			t.Errorf("%q: %q with %d args here, %q with %d there, %v", body, read.text, len(read.args), other.Query, len(other.Args), err)
		}
	})
}

// Whatever readHead takes without a fault has each line in the form of RFC 9112.
func FuzzReadHead(f *testing.F) {
	for _, seed := range []string{"Host: x\r\nAccept: a\r\nAccept: b\r\n\r\n", "A: b\n\r\n", "A: b\r\n c\r\n\r\n", "Authorization: a\r\nauthorization: b\r\n\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		before := string(block)
		h, err := readHead(block)
		if string(block) != before {
			t.Error("the block was changed")
		}
		if err != nil || before == "" {
			return
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(before, "\r\n"), "\r\n") {
			name, _, found := strings.Cut(line, ":")
			if line != "" && (!found || name == "" || strings.ContainsAny(name, " \t") || strings.Contains(line, "\n") || strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 })) {
				t.Errorf("taken: %q", line)
			}
		}
		if h.seen[fieldContentLength] && h.seen[fieldTransferEncoding] {
			t.Error("both framings were taken")
		}
	})
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"*/*", "application/json;int8=string;q=0.5,*/*", `a/b;c="d,e"`, ",;="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if want := accept(header); want.int8AsString && !want.acceptable {
			t.Errorf("%q asks for a form of what it excludes", header)
		}
	})
}

// A request is served, or its connection evicted, but not both.
func TestEvictedServesNothing(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &conn{Conn: ours}
	if c.known.Store(true); !c.begin() || c.Evict() {
		t.Error("a connection was evicted while it is served")
	}
	if c.move(handling, receiving); !c.Evict() || c.move(receiving, handling) {
		t.Error("a request is served after its connection was evicted")
	}
	if c.Evict() || c.begin() {
		t.Error("a connection lives on")
	}
	served := &conn{Conn: ours}
	served.known.Store(true)
	if served.begin(); !served.move(handling, answering) || served.Evict() {
		t.Error("an answer to valid credentials was cut off")
	}
}

// Ensure the end of a connection that made room for another waits for nobody: under thousands of
// half-sent requests each newcomer would stand in one line with all that went, until none was accepted in time.
func TestEvictedEndInTheirOwnTime(t *testing.T) {
	o := newConns(proxy.ConnectionLimits{Total: 1}, silent{}, nil, nil)
	here := func() net.Conn {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		return address{near, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	}
	old, _ := o.add(here())
	if _, admission := o.add(here()); admission != proxy.Admitted {
		t.Fatal(admission)
	}
	o.Each(func(*conn) { // while it runs, newcomers wait, and whoever else wants the places
		ended := make(chan struct{})
		go func() { defer close(ended); _ = old.Close() }()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("an evicted connection waits for its place, which it has no more")
		}
	})
	if n := o.Each(func(*conn) {}); n != 1 {
		t.Errorf("%d connections are open", n)
	}
}
