package wire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// What is wrong with a start-up is told in Postgres' words, or not at all where it is none.
func TestHostileStartups(t *testing.T) {
	d := openDoor(t, nil)
	secure := openDoor(t, withTLS(someCertificate(t)))
	good := startupOf(version3, "user", shop)
	for name, c := range map[string]struct {
		d    *door
		say  []byte
		want string // "" for nothing
	}{
		"HTTP":                  {d, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ""},
		"length 0":              {d, []byte{0, 0, 0, 0}, ""},
		"length 4":              {d, []byte{0, 0, 0, 4}, ""},
		"length 7":              {d, []byte{0, 0, 0, 7, 0, 3, 0}, ""},
		"length 10,005":         {d, []byte{0, 0, 0x27, 0x15, 0, 3, 0, 0}, ""},
		"negative length":       {d, []byte{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0}, ""},
		"TLS where there is no": {d, []byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0}, ""},
		"version 2":             {d, startupOf(2<<16, "user", shop), "FATAL 0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.0"},
		"version 4":             {d, startupOf(4<<16, "user", shop), "FATAL 0A000 unsupported frontend protocol 4.0: server supports 3.0 to 3.0"},
		"no user":               {d, startupOf(version3, "database", shop), "FATAL 28000 no PostgreSQL user name specified in startup packet"},
		"empty user":            {d, startupOf(version3, "user", ""), "FATAL 28000 no PostgreSQL user name specified in startup packet"},
		"nothing":               {d, packetOf(version3, ""), "FATAL 08P01 invalid startup packet layout"},
		"no end":                {d, packetOf(version3, "user\x00x\x00"), "FATAL 08P01 invalid startup packet layout"},
		"no value":              {d, packetOf(version3, "user\x00\x00"), "FATAL 08P01 invalid startup packet layout"},
		"an end in between":     {d, packetOf(version3, "user\x00x\x00\x00database\x00x\x00\x00"), "FATAL 08P01 invalid startup packet layout"},
		"not ended":             {d, packetOf(version3, "user\x00x"), "FATAL 08P01 invalid startup packet layout"},
		"another database":      {d, startupOf(version3, "user", shop, "database", cafe), "FATAL 3D000 there is no such database for this user"},
		"replication":           {d, startupOf(version3, "user", shop, "replication", "true"), "FATAL 0A000 replication is not supported"},
		"replication database":  {d, startupOf(version3, "user", shop, "replication", "database"), "FATAL 0A000 replication is not supported"},
		"a switch":              {d, startupOf(version3, "user", shop, "options", "-c a=b -d 5"), "FATAL 42601 invalid command-line argument for server process"},
		"-c without a value":    {d, startupOf(version3, "user", shop, "options", "-c a"), "FATAL 42601 invalid command-line argument for server process"},
		"-c at the end":         {d, startupOf(version3, "user", shop, "options", "-c"), "FATAL 42601 invalid command-line argument for server process"},
		"TLS is required":       {secure, good, "FATAL 28000 connections without TLS are not accepted"},
		"plain behind TLS":      {secure, append(packetOf(sslRequest, ""), good...), "FATAL 08P01 received unencrypted data after a request for encryption"},
		"plain behind no TLS":   {d, append(packetOf(sslRequest, ""), good...), "FATAL 08P01 received unencrypted data after a request for encryption"},
		"plain behind GSS":      {d, append(packetOf(gssRequest, ""), good...), "FATAL 08P01 received unencrypted data after a request for encryption"},
		"a long cancel request": {d, packetOf(cancelRequest, "123456789"), ""},
		"no cancel request":     {d, packetOf(cancelRequest, "1234"), ""},
		"a cancel request":      {secure, packetOf(cancelRequest, "12345678"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.d.dial(t)
			r.say(c.say)
			if c.want == "" {
				r.gone()
			} else if got := r.told(); got != c.want {
				t.Errorf("told %q", got)
			}
		})
	}
	if n := d.gate.asked.Load() + secure.gate.asked.Load(); n != 0 {
		t.Errorf("the gate was asked %d times", n)
	}
	if n, none := secure.counts.of("cancel"), d.counts.of("cancel"); n != 1 || none != 0 {
		t.Errorf("%d cancel requests counted, and %d that are none", n, none)
	}
}

// answered reads one byte.
func (r *raw) answered(want byte) {
	r.t.Helper()
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil || b[0] != want {
		r.t.Fatalf("answered %q %v, want %q", b, err, want)
	}
}

// Each way of encryption can be asked for once, in either order, and not again under TLS.
func TestRequestsForEncryption(t *testing.T) {
	d := openDoor(t, nil)
	ssl, gss := packetOf(sslRequest, ""), packetOf(gssRequest, "")
	for _, requests := range [][][]byte{{ssl, gss}, {gss, ssl}} {
		r := d.dial(t)
		for _, request := range requests {
			r.say(request)
			r.answered('N')
		}
		r.say(requests[0])
		if got := r.told(); !strings.HasPrefix(got, "FATAL 0A000 unsupported frontend protocol 1234.56") {
			t.Error(got)
		}
	}
	secure := openDoor(t, withTLS(someCertificate(t)))
	for _, request := range [][]byte{ssl, gss} {
		r := secure.dial(t)
		r.say(ssl)
		r.answered('S')
		inner := &raw{Conn: tls.Client(r.Conn, &tls.Config{InsecureSkipVerify: true}), t: t}
		inner.say(request)
		if got := inner.told(); !strings.HasPrefix(got, "FATAL 0A000 unsupported frontend protocol 1234.56") {
			t.Error(got)
		}
	}
}

func TestDirectTLS(t *testing.T) {
	d := openDoor(t, withTLS(someCertificate(t)))
	for _, c := range []struct {
		protocols []string
		want      string
	}{
		{[]string{"postgresql"}, "v"},
		{[]string{"http/1.1", "postgresql"}, "v"},
		{nil, `FATAL 08P01 TLS was begun without naming the protocol "postgresql" (ALPN)`},
		{[]string{"http/1.1"}, "no application protocol"},
	} {
		r := d.dial(t)
		secured := tls.Client(r.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: c.protocols})
		if err := secured.Handshake(); err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v", c.protocols, err)
			}
			continue
		}
		inner := &raw{Conn: secured, t: t}
		if c.want != "v" {
			if got := inner.told(); got != c.want {
				t.Errorf("%v: %s", c.protocols, got)
			}
			continue
		}
		inner.say(startupOf(3<<16|2, "user", shop, "_pq_.zip", "9"))
		if kind, body, err := inner.hear(); err != nil || kind != 'v' || string(body) != "\x00\x03\x00\x00\x00\x00\x00\x01_pq_.zip\x00" {
			t.Errorf("%q %q %v", kind, body, err)
		}
		if kind, body, err := inner.hear(); err != nil || kind != 'R' || string(body) != "\x00\x00\x00\x0aSCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00\x00" {
			t.Errorf("%q %q %v", kind, body, err)
		}
	}
}

// A handshake that is none, too long, or stops ends the connection.
func TestHostileTLS(t *testing.T) {
	d := openDoor(t, func(c *Config) { withTLS(someCertificate(t))(c); c.LoginTimeout = 500 * time.Millisecond })
	for name, say := range map[string][]byte{
		"plain":      startupOf(version3, "user", shop),
		"zeros":      make([]byte, 100),
		"stops":      {0x16, 3, 1, 1, 0, 1},
		"never ends": bytes.Repeat(append([]byte{0x16, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 0x4000-4)...), 3),
	} {
		t.Run(name, func(t *testing.T) {
			r := d.dial(t)
			r.say(packetOf(sslRequest, ""))
			r.answered('S')
			r.say(say)
			rest, err := io.ReadAll(r)
			if isTimeout(err) || len(rest) > 7 { // an alert
				t.Errorf("%q %v", rest, err)
			}
		})
	}
}

// What is wrong with an authentication is told, and ends it.
func TestHostileAuthentication(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.LoginTimeout = time.Second })
	first := func(mechanism, message string) string {
		return mechanism + "\x00\x00\x00\x00" + string(rune(len(message))) + message
	}
	for name, c := range map[string]struct {
		say  []byte
		want string
	}{
		"a query":             {messageOf('Q', "SELECT 1\x00"), "FATAL 08P01 expected SASL response"},
		"a password":          {messageOf('p', "secret\x00"), "FATAL 08P01 malformed SCRAM message"},
		"no message":          {messageOf('p', scramPlain+"\x00\xff\xff\xff\xff"), "FATAL 08P01 malformed SCRAM message"},
		"more than it says":   {messageOf('p', first(scramPlain, "n,,n=,r=abc")+"x"), "FATAL 08P01 malformed SCRAM message"},
		"less than it says":   {messageOf('p', scramPlain+"\x00\x00\x00\x00\x20n,,n=,r=abc"), "FATAL 08P01 malformed SCRAM message"},
		"another mechanism":   {messageOf('p', first("SCRAM-SHA-1", "n,,n=,r=abc")), "FATAL 08P01 client selected an invalid SASL authentication mechanism"},
		"plus without TLS":    {messageOf('p', first(scramPlus, "p=tls-server-end-point,,n=,r=abc")), "FATAL 08P01 client selected an invalid SASL authentication mechanism"},
		"too long":            {messageOf('p', strings.Repeat("x", 1025)), "FATAL 08P01 a message is longer than it may be"},
		"announces too much":  {[]byte{'p', 0x7f, 0xff, 0xff, 0xff}, "FATAL 08P01 a message is longer than it may be"},
		"length 3":            {[]byte{'p', 0, 0, 0, 3}, "FATAL 08P01 a message is malformed"},
		"stops in the length": {[]byte{'p', 0, 0}, "FATAL 08006 authentication took too long"},
		"stops in it":         {[]byte{'p', 0, 0, 0, 9, 'x'}, "FATAL 08006 authentication took too long"},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.dial(t)
			r.say(startupOf(version3, "user", shop))
			if kind, body, err := r.hear(); err != nil || kind != 'R' || string(body) != "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00" {
				t.Fatalf("%q %q %v", kind, body, err)
			}
			r.say(c.say)
			if got := r.told(); got != c.want {
				t.Errorf("told %q", got)
			}
		})
	}
}

// Before a client has authenticated it is not listened to for long: not to more bytes, and
// not for more time, however slowly they come.
func TestBoundsBeforeAuthentication(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.LoginTimeout = 700 * time.Millisecond })
	t.Run("slow", func(t *testing.T) {
		r := d.dial(t)
		begin := time.Now()
		for _, b := range startupOf(version3, "user", strings.Repeat("x", 1000)) {
			if _, err := r.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("listened to for %v", took)
		}
	})
	t.Run("the longest", func(t *testing.T) {
		r := d.dial(t)
		r.say(startupOf(version3, "user", shop, "application_name", strings.Repeat("x", 9923)))
		if kind, _, err := r.hear(); err != nil || kind != 'R' {
			t.Errorf("%q %v", kind, err)
		}
		r.say(append(messageOf('p', strings.Repeat("x", 1000)), make([]byte, 8<<10)...))
		_, _, _ = r.hear()
		r.gone()
	})
}

// Who has authenticated may say as much as it likes.
func TestNoBoundAfterAuthentication(t *testing.T) {
	r := openDoor(t, nil).dial(t).ready(shop, shopKey)
	r.say(messageOf('Q', strings.Repeat(" ", 50_000)+"\x00"))
	for {
		kind, body, err := r.hear()
		if err != nil {
			t.Fatalf("%q %v", body, err)
		}
		if kind == 'Z' {
			return
		}
	}
}

// Clients that begin and say no more are forgotten in time, all of them, and others are
// served meanwhile.
func TestHalfOpenStartups(t *testing.T) {
	d := openDoor(t, func(c *Config) { c.LoginTimeout = 2 * time.Second })
	conns := make([]net.Conn, 1000)
	for i := range conns {
		conn, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
		pieces := startupOf(version3, "user", shop)
		if _, err := conn.Write(pieces[:i%len(pieces)]); err != nil {
			t.Fatal(err)
		}
	}
	if heard := d.dial(t).login(shop, shopKey); !strings.HasPrefix(heard[2], "R 0000000c") {
		t.Errorf("meanwhile: %v", heard)
	}
	for end := time.Now().Add(8 * time.Second); d.Clients()["starting"] > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left: %v", d.Clients())
		}
	}
}

// A client that leaves at any byte of its start-up leaves nothing behind.
func TestLeavesAnywhere(t *testing.T) {
	d := openDoor(t, nil)
	all := append(startupOf(version3, "user", shop), messageOf('p', scramPlain+"\x00\x00\x00\x00\x0bn,,n=,r=abc")...)
	for i := range all {
		r := d.dial(t)
		r.say(all[:i])
		_ = r.Close()
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if n := fmt.Sprint(d.Clients()); n != "map[active:0 idle:0 starting:0 transaction:0]" {
		t.Error(n)
	}
}

// Whatever a start-up message holds: no panic, and a user where there is no error.
func FuzzStartup(f *testing.F) {
	f.Add([]byte("user\x00x\x00database\x00x\x00options\x00-c a=b --c-d=e\\ f\x00\x00"))
	f.Add([]byte("user\x00x\x00_pq_.x\x00y\x00replication\x000\x00DateStyle\x00ISO\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		said, err := parseStartup(body)
		if err == nil && (said.user == "" || len(said.user) > 3*maxName) {
			t.Errorf("the user is %q", said.user)
		}
		for _, text := range append(said.unknown, said.user, printable(string(body))) {
			if strings.ContainsRune(text, 0) {
				t.Errorf("%q has a zero", text)
			}
		}
		if n := len(printable(string(body))); n > maxQuoted+3 {
			t.Errorf("%d bytes are repeated", n)
		}
	})
}

func TestOptions(t *testing.T) {
	said, err := parseStartup([]byte("user\x00x\x00DateStyle\x00ISO\x00options\x00 -c a=b  --stat-x=1\\ 2 -cz=\\\\ -c y= \x00user\x00last\x00replication\x00off\x00\x00"))
	want := "[{a b} {stat_x 1 2} {z \\} {y } {DateStyle ISO}]"
	if got := fmt.Sprint(said.settings); err != nil || got != want || said.user != "last" {
		t.Errorf("%s %q %v", got, said.user, err)
	}
}

// A start-up message has no more settings than any driver's: each takes memory before a login.
func TestManySettings(t *testing.T) {
	const own, options, both, extensions = "a\x00b\x00", "-c a=b ", "--a=b ", "_pq_.a\x00b\x00"
	for text, most := range map[string]int{own: 64, options: 64, both: 64, extensions: 64, "\\a ": 0} {
		startup := func(n int) []byte {
			texts := strings.Repeat(text, n)
			if !strings.HasSuffix(text, "\x00") {
				texts = "options\x00" + texts + "\x00"
			}
			return []byte("user\x00x\x00" + texts + "\x00")
		}
		if said, err := parseStartup(startup(most)); err != nil || len(said.settings)+len(said.unknown) != most {
			t.Errorf("%q: %d of %d, %v", text, len(said.settings)+len(said.unknown), most, err)
		}
		for _, n := range []int{most + 1, 2400} {
			if _, err := parseStartup(startup(n)); !errors.Is(err, errManySettings) && most+n > 1 {
				t.Errorf("%q, %d times: %v", text, n, err)
			}
		}
	}
	if _, err := parseStartup([]byte("user\x00x\x00options\x00" + strings.Repeat(options, 40) + "\x00" + strings.Repeat(own, 25) + "\x00")); !errors.Is(err, errManySettings) {
		t.Errorf("40 and 25: %v", err)
	}
}

// The longest id of a server is a user's name as a whole.
func TestLongIDs(t *testing.T) {
	id := strings.Repeat("a", 128)
	if name(id) != id || name(id+"b") != id {
		t.Errorf("%d bytes of 128", len(name(id)))
	}
}
