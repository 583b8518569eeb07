package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy"
)

// psql connects, says where it is, and leaves.
func psql(t *testing.T, addr, user, password, parameters string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	host, port, _ := net.SplitHostPort(addr)
	cmd := exec.CommandContext(ctx, "psql", "-X", "-w", "-c", `\conninfo`,
		fmt.Sprintf("host=%s port=%s user=%s dbname=%s %s", host, port, user, user, parameters))
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "LC_ALL=C", "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPsqlConnects(t *testing.T) {
	secure := openDoor(t, withTLS(someCertificate(t)))
	both := openDoor(t, func(c *Config) { withTLS(someCertificate(t))(c); c.TLSMode = TLSAllow })
	plain := openDoor(t, nil)
	for _, c := range []struct {
		d                          *door
		user, password, parameters string
		want                       string // of the output; "" for a connection
	}{
		{plain, shop, shopKey, "sslmode=disable", ""},
		{plain, shop, shopOldKey, "sslmode=disable", ""}, // both are valid
		{plain, cafe, cafeKey, "sslmode=prefer", ""},
		{plain, cafe, cafeKey, "sslmode=require", "server does not support SSL"},
		{plain, cafe, cafeKey, "sslmode=disable channel_binding=require", "channel binding required, but SSL not in use"},
		{secure, shop, shopKey, "sslmode=require", ""},
		{secure, shop, shopKey, "sslmode=require channel_binding=require", ""},
		{secure, shop, shopOldKey, "sslmode=require channel_binding=require", ""},
		{secure, shop, shopKey, "sslmode=require channel_binding=disable", ""},
		{secure, shop, shopKey, "sslmode=disable", "not accepted\nDETAIL:  invalid_request\nHINT:  Connect with sslmode=verify-full and sslrootcert="},
		{both, shop, shopKey, "sslmode=disable", ""},
		{both, shop, shopKey, "sslmode=require channel_binding=require", ""},
		{plain, shop, "wrong", "sslmode=disable", `FATAL:  password authentication failed for user "` + shop + `"`},
		{plain, "nobody", "wrong", "sslmode=disable", `FATAL:  password authentication failed for user "nobody"`},
		{plain, shop, cafeKey, "sslmode=disable", "FATAL:  password authentication failed"},
		{plain, shop, "tg_dev_wrong", "sslmode=disable", "FATAL:  password authentication failed for user \"" + shop + "\"\nDETAIL:  unauthorized\n" +
			"HINT:  The user is a server's id, and the password one of that server's API keys (tg_srv_…); an access token (tg_dev_…) is for REST only.\n"},
		{secure, shop, cafeKey, "sslmode=require", "FATAL:  password authentication failed"},
		{plain, dark, darkKey, "sslmode=disable", "FATAL:  this server is deactivated; its operator can activate it again\nDETAIL:  server_inactive"},
		{plain, dark, "wrong", "sslmode=disable", "FATAL:  password authentication failed"},
	} {
		out, err := psql(t, c.d.addr, c.user, c.password, c.parameters)
		switch {
		case c.want == "" && (err != nil || !strings.Contains(out, "You are connected to database")):
			t.Errorf("%s %s: %s %v", c.user, c.parameters, out, err)
		case c.want != "" && (err == nil || !strings.Contains(out, c.want)):
			t.Errorf("%s %s: want %q, got %s %v", c.user, c.parameters, c.want, out, err)
		}
	}
	for _, d := range []*door{plain, secure, both} {
		if text := d.log.String(); strings.Contains(text, "sk_") || strings.Contains(text, "wrong") {
			t.Errorf("a password is in the log: %s", text)
		}
	}
	if ok, no := secure.counts.of("ok"), secure.counts.of("unauthorized"); ok != 4 || no != 1 {
		t.Errorf("%d start-ups counted ok, %d unauthorized: %v", ok, no, secure.counts.outcomes)
	}
}

// Channel binding is to the certificate whatever it is signed with, as libpq has it; where
// there is no rule for that, -PLUS is not offered.
func TestChannelBindingByCertificate(t *testing.T) {
	for name, certificate := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, withTLS(certificate))
			out, err := psql(t, d.addr, shop, shopKey, "sslmode=require channel_binding=require")
			if name == "Ed25519" {
				if err == nil || !strings.Contains(out, "channel binding is required") {
					t.Errorf("%s %v", out, err)
				}
				out, err = psql(t, d.addr, shop, shopKey, "sslmode=require channel_binding=disable")
			}
			if err != nil {
				t.Errorf("%s %v", out, err)
			}
		})
	}
}

func connect(ctx context.Context, t *testing.T, url string) (*pgconn.PgConn, error) {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if config.TLSConfig != nil {
		config.TLSConfig.InsecureSkipVerify = true
	}
	return pgconn.ConnectConfig(ctx, config)
}

func TestPgxConnects(t *testing.T) {
	d := openDoor(t, withTLS(someCertificate(t)))
	for _, parameters := range []string{
		"sslmode=require", "sslmode=require&channel_binding=require", "sslmode=require&sslnegotiation=direct",
		"sslmode=require&min_protocol_version=3.0&max_protocol_version=3.2",
	} {
		conn, err := connect(t.Context(), t, fmt.Sprintf("postgres://%s:%s@%s/?%s", shop, shopKey, d.addr, parameters))
		if err != nil {
			t.Errorf("%s: %v", parameters, err)
			continue
		}
		if conn.PID() == 0 || len(conn.SecretKey()) != 4 {
			t.Errorf("%s: process %d, key of %d bytes", parameters, conn.PID(), len(conn.SecretKey()))
		}
		_ = conn.Close(t.Context())
	}
	_, err := connect(t.Context(), t, fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=require", shop, shopKey, d.addr, cafe))
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" {
		t.Errorf("another server's database: %v", err)
	}
}

// What a gate says reaches the client by its code; what is broken, as an internal error.
func TestGateThatFails(t *testing.T) {
	d := openDoor(t, nil)
	for _, c := range []struct {
		fault error
		want  string
	}{
		{proxy.Refuse(proxy.UpstreamUnavailable, "no store"), "FATAL 08006 no store"},
		{errors.New("dial tcp 10.1.2.3"), "FATAL XX000 an internal error occurred"},
	} {
		d.gate.mu.Lock()
		d.gate.fault = c.fault
		d.gate.mu.Unlock()
		r := d.dial(t)
		r.say(startupOf(version3, "user", shop))
		if got := r.told(); got != c.want {
			t.Errorf("%v: %q", c.fault, got)
		}
	}
	d.gate.mu.Lock()
	d.gate.fault, d.gate.panicOnAsk = nil, true
	d.gate.mu.Unlock()
	r := d.dial(t)
	r.say(startupOf(version3, "user", shop))
	r.gone()
	d.gate.mu.Lock()
	d.gate.panicOnAsk = false
	d.gate.mu.Unlock()
	if heard := d.dial(t).login(shop, shopKey); !strings.HasPrefix(heard[2], "R 0000000c") {
		t.Errorf("after a panic: %v", heard)
	}
	d.logged(t, "panicked")
	if log := d.log.String(); strings.Contains(log, "sk_secret") {
		t.Error(log)
	}
}

// Nobody learns whether a server exists: message for message an unknown one, a wrong key,
// another server's key, an inactive one's and one that was taken away look alike.
func TestUnknownLooksLikeWrong(t *testing.T) {
	d := openDoor(t, nil)
	unknown := d.dial(t).login("unknown-unknown-unknown-unknown-0000", shopKey)
	if len(unknown) != 3 || !strings.HasPrefix(unknown[2], "E ") {
		t.Fatal(unknown)
	}
	same := func(what string, heard []string, user string) {
		t.Helper()
		for i, message := range heard {
			got := strings.ReplaceAll(message, fmt.Sprintf("%x", user), "USER")
			want := strings.ReplaceAll(unknown[i], fmt.Sprintf("%x", "unknown-unknown-unknown-unknown-0000"), "USER")
			if got != want {
				t.Errorf("%s: message %d is %s, not %s", what, i, got, want)
			}
		}
	}
	same("a wrong key", d.dial(t).login(shop, "wrong"), shop)
	same("another's key", d.dial(t).login(shop, cafeKey), shop)
	same("inactive", d.dial(t).login(dark, "wrong"), dark)
	d.gate.mu.Lock()
	d.gate.revoked = true
	d.gate.mu.Unlock()
	same("taken away", d.dial(t).login(shop, shopKey), shop)
}

// A certificate that is replaced while the service runs is the one that is bound to.
func TestCertificateThatChanges(t *testing.T) {
	var now atomic.Pointer[tls.Certificate]
	now.Store(someCertificate(t))
	d := openDoor(t, func(c *Config) {
		c.TLSMode = TLSRequire
		c.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return now.Load(), nil }}
	})
	for range 2 {
		if out, err := psql(t, d.addr, shop, shopKey, "sslmode=require channel_binding=require"); err != nil {
			t.Error(out)
		}
		now.Store(someCertificate(t))
	}
}

// Who misses TLS, or names a database that is not his, is in the log; who is no client of
// Postgres' is there for those who look for it.
func TestEndsOfStartupsInTheLog(t *testing.T) {
	d := openDoor(t, nil)
	line := func(want ...string) {
		t.Helper()
		until(t, func() bool {
			for line := range strings.Lines(d.log.String()) {
				if !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(line, part) }) {
					return true
				}
			}
			return false
		})
	}
	r := d.dial(t)
	r.say(packetOf(sslRequest, ""))
	_, _ = io.ReadFull(r, []byte{0})
	_ = r.Close()
	line("level=INFO", "outcome=protocol", "the client asked for TLS, which is off here, and disconnected")
	r = d.dial(t)
	r.say(startupOf(version3, "user", shop, "database", cafe))
	_ = r.told()
	line("level=INFO", "server="+shop, "outcome=not_found")
	_ = d.dial(t).Close()
	line("level=DEBUG", `server=""`, "outcome=protocol", "error=EOF")
}
