package wire

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// What the tests of start-up connect as. The shop's key is being replaced.
const (
	shop, shopKey, shopOldKey = "6b2f0c1e-8a53-4f57-9b86-1f4cf0a6a001", "sk_shop_new", "sk_shop_old"
	cafe, cafeKey             = "6b2f0c1e-8a53-4f57-9b86-1f4cf0a6a002", "sk_cafe"
	dark, darkKey             = "6b2f0c1e-8a53-4f57-9b86-1f4cf0a6a003", "sk_dark" // inactive
)

// doorkeeper is a Gate that knows some servers and lets no statement run.
type doorkeeper struct {
	verifiers  map[string]proxy.Verifier
	inactive   map[string]bool
	asked      atomic.Int64 // for verifiers
	mu         sync.Mutex
	fault      error                 // of the next look-ups
	revoked    bool                  // every key was taken away since
	hold       func(context.Context) // is called for each verifier, if not nil
	panicOnAsk bool
	panicked   bool
}

func newDoorkeeper() *doorkeeper {
	return &doorkeeper{
		verifiers: map[string]proxy.Verifier{
			shop: verifierOf(shopKey, shopOldKey), cafe: verifierOf(cafeKey), dark: verifierOf(darkKey),
		},
		inactive: map[string]bool{dark: true},
	}
}

const testIterations = 4096

var testSalt = []byte("0123456789abcdef")

func keyOf(password string) proxy.VerifierKey { return keyWith(password, testSalt) }

func keyWith(password string, salt []byte) proxy.VerifierKey {
	salted, err := pbkdf2.Key(sha256.New, password, salt, testIterations, 32)
	if err != nil {
		panic(err)
	}
	client := hmacSHA256(salted, []byte("Client Key"))
	return proxy.VerifierKey{ID: proxy.KeyID(sha256.Sum256([]byte(password))),
		Stored: sha256.Sum256(client[:]), Server: hmacSHA256(salted, []byte("Server Key"))}
}

func verifierOf(passwords ...string) proxy.Verifier {
	v := proxy.Verifier{Salt: testSalt, Iterations: testIterations}
	for _, p := range passwords {
		v.Keys = append(v.Keys, keyOf(p))
	}
	return v
}

func (d *doorkeeper) Verifier(ctx context.Context, asker proxy.Account, id string) (proxy.Verifier, error) {
	d.asked.Add(1)
	if asker != proxy.AccountOf(netip.MustParsePrefix("127.0.0.1/32")) {
		return proxy.Verifier{}, fmt.Errorf("the asker is %v", asker)
	}
	if d.hold != nil {
		d.hold(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panicOnAsk {
		d.panicked = true
		panic("sk_secret")
	}
	if d.fault != nil {
		return proxy.Verifier{}, d.fault
	}
	if v, known := d.verifiers[id]; known {
		return v, nil
	}
	return proxy.Verifier{Salt: testSalt, Iterations: testIterations}, nil
}

func (d *doorkeeper) Recheck(_ context.Context, id string, key proxy.KeyID) (proxy.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.verifiers[id].Keys {
		if k.ID == key && !d.revoked {
			return proxy.Session{Server: proxy.Server{ID: id, Active: !d.inactive[id]}}, nil
		}
	}
	return proxy.Session{}, proxy.Refuse(proxy.Unauthorized, "the key is not valid")
}

func (d *doorkeeper) Admit(context.Context, proxy.Subject) (proxy.Place, error) {
	return proxy.Place{}, proxy.Refuse(proxy.Overloaded, "nothing runs here")
}
func (d *doorkeeper) Pace(proxy.Subject) error      { return nil }
func (*doorkeeper) PolicyName(proxy.Subject) string { return "" }
func (d *doorkeeper) Check(context.Context, proxy.Subject, string) (*policy.Approved, error) {
	return nil, proxy.Refuse(policy.StatementNotAllowed, "nothing runs here")
}

func (d *doorkeeper) Refresh(context.Context, time.Time) (bool, error) { return false, nil }

// noLink runs nothing.
type noLink struct{}

func (noLink) Run(context.Context, *proxy.Exchange, *frame.Writer) (proxy.State, error) {
	return proxy.Idle, proxy.Refuse(proxy.Overloaded, "nothing runs here")
}
func (noLink) Rollback() {}

// counts records how start-ups ended.
type counts struct {
	silent
	mu       sync.Mutex
	outcomes map[string]int
}

func (c *counts) Connection(outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes[outcome]++
}

func (c *counts) of(outcome string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcomes[outcome]
}

// journal keeps what was logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// door is a running Server with what is behind it.
type door struct {
	*Server
	addr   string
	gate   *doorkeeper
	counts *counts
	log    *journal
	stop   context.CancelFunc // and end
	ended  chan error
}

// openDoor serves on loopback, until the test ends.
func openDoor(t testing.TB, change func(*Config)) *door {
	t.Helper()
	d := &door{gate: newDoorkeeper(), counts: &counts{outcomes: map[string]int{}}, log: &journal{}, ended: make(chan error, 1)}
	config := Config{
		Gate: d.gate, Open: func(proxy.Account) Link { return noLink{} }, Recorder: d.counts,
		Logger:  slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		TLSMode: TLSDisable, DrainTimeout: 2 * time.Second,
	}
	if change != nil {
		change(&config)
	}
	var err error
	if d.Server, err = New(config); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	go func() { d.ended <- d.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err, open := <-d.ended; open && err != nil {
			t.Error(err)
		}
		if log := d.log.String(); !d.gate.panicked && strings.Contains(log, "panicked") {
			t.Error(log)
		}
	})
	return d
}

// close ends the service and tells what Serve said.
func (d *door) close() error {
	d.stop()
	err := <-d.ended
	close(d.ended)
	return err
}

// logged waits until something is in the log.
func (d *door) logged(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !strings.Contains(d.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not in the log: %s", text, d.log)
		}
	}
}

// raw is a client that says what it is told to.
type raw struct {
	net.Conn
	t testing.TB
}

func (d *door) dial(t testing.TB) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &raw{Conn: conn, t: t}
}

func (r *raw) say(b []byte) {
	r.t.Helper()
	if _, err := r.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// packetOf is a packet that a connection begins with.
func packetOf(code uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(b, code), body...)
}

// startupOf is a start-up message of names and values.
func startupOf(version uint32, pairs ...string) []byte {
	return packetOf(version, strings.Join(pairs, "\x00")+"\x00\x00")
}

func messageOf(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body))), body...)
}

// hear reads one message.
func (r *raw) hear() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length < 4 || length > 1<<20 {
		return 0, nil, fmt.Errorf("no message: %q", head)
	}
	body = make([]byte, length-4)
	_, err = io.ReadFull(r, body)
	return head[0], body, err
}

// told reads a message that must be an error, and gives its SQLSTATE and text. After it
// there must be nothing.
func (r *raw) told() string {
	r.t.Helper()
	kind, body, err := r.hear()
	if err != nil || kind != 'E' {
		r.t.Fatalf("want an error, got %q %q %v", kind, body, err)
	}
	r.gone()
	return errorText(body)
}

func errorText(body []byte) string {
	fields := map[byte]string{}
	for _, field := range strings.Split(string(body), "\x00") {
		if field != "" {
			fields[field[0]] = field[1:]
		}
	}
	return fields['S'] + " " + fields['C'] + " " + fields['M']
}

// gone checks that the connection ends, and nothing more comes.
func (r *raw) gone() {
	r.t.Helper()
	rest, err := io.ReadAll(r)
	if len(rest) > 0 || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		r.t.Fatalf("want the end of the connection, got %q %v", rest, err)
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// proofFor is a client's last message.
func proofFor(password, withoutProof, text string) string {
	salted, _ := pbkdf2.Key(sha256.New, password, testSalt, testIterations, 32)
	key := hmacSHA256(salted, []byte("Client Key"))
	stored := sha256.Sum256(key[:])
	mac := hmac.New(sha256.New, stored[:])
	mac.Write([]byte(text))
	signature := mac.Sum(nil)
	for i := range signature {
		signature[i] ^= key[i]
	}
	return withoutProof + ",p=" + b64(signature)
}

// login goes from the start-up message to the proof, and gives everything that was told,
// but for what is random.
func (r *raw) login(user, password string) (heard []string) {
	r.t.Helper()
	r.say(startupOf(version3, "user", user))
	note := func() (byte, []byte) {
		kind, body, err := r.hear()
		if err != nil {
			r.t.Fatal(err)
		}
		heard = append(heard, fmt.Sprintf("%c %s", kind, hex.EncodeToString(body)))
		return kind, body
	}
	note()
	bare := "n=,r=abcdefgh"
	r.say(messageOf('p', scramPlain+"\x00\x00\x00\x00"+string(rune(3+len(bare)))+"n,,"+bare))
	kind, body := note()
	if kind != 'R' {
		return heard
	}
	server := string(body[4:])
	nonce, _, _ := strings.Cut(strings.TrimPrefix(server, "r="), ",")
	heard[1] = strings.ReplaceAll(server, nonce, fmt.Sprintf("a nonce of %d", len(nonce)))
	without := "c=biws,r=" + nonce
	r.say(messageOf('p', proofFor(password, without, bare+","+server+","+without)))
	note()
	return heard
}
