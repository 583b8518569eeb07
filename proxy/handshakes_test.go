package proxy

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowSigner is a certificate's key that tells who signs and waits to be let go on.
type slowSigner struct {
	crypto.Signer
	signs, goOn chan struct{}
}

func (s slowSigner) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	s.signs <- struct{}{}
	<-s.goOn
	return s.Signer.Sign(random, digest, opts)
}

// handshaker begins handshakes at one listener's certificate.
type handshaker struct {
	t      *testing.T
	places *Handshakes
	key    slowSigner
	config *tls.Config
	once   sync.Once
}

func newHandshaker(t *testing.T, places int, patience time.Duration) *handshaker {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	h := &handshaker{t: t, places: NewHandshakes(places, patience), key: slowSigner{key, make(chan struct{}, 99), make(chan struct{})}}
	h.config = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: h.key}}}
	t.Cleanup(h.letGoOn)
	return h
}

// letGoOn lets all that sign go on.
func (h *handshaker) letGoOn() { h.once.Do(func() { close(h.key.goOn) }) }

// serve has the service's half of a handshake run for a client of a network.
func (h *handshaker) serve(ctx context.Context, from string) (client net.Conn, ended <-chan error) {
	h.t.Helper()
	client, conn := socketPair(h.t)
	done := make(chan error, 1)
	go func() {
		handshake := h.places.Begin(ctx, conn, netip.MustParsePrefix(from))
		defer handshake.End()
		done <- tls.Server(handshake, h.config).Handshake() //nolint:noctx // the context is the wait's
	}()
	return client, done
}

// socketPair gives both ends of a connection, which end with the test.
func socketPair(t *testing.T) (client, service net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if client, err = net.Dial("tcp", listener.Addr().String()); err != nil { //nolint:noctx // a test's
		t.Fatal(err)
	}
	if service, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(); _ = service.Close() })
	return client, service
}

// begin has a client make a handshake.
func (h *handshaker) begin(from string, client *tls.Config) <-chan error {
	h.t.Helper()
	conn, ended := h.serve(h.t.Context(), from)
	go func() { _ = tls.Client(conn, client).Handshake() }() //nolint:noctx // the pipe is closed with the test
	return ended
}

// mustSign waits until one more signs.
func (h *handshaker) mustSign() {
	h.t.Helper()
	select {
	case <-h.key.signs:
	case <-time.After(5 * time.Second):
		h.t.Fatal("no more are computed")
	}
}

// waiting waits until so many wait for a place.
func (h *handshaker) waiting(n int) {
	h.t.Helper()
	for end := time.Now().Add(5 * time.Second); h.places.turns.Waiting() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%d wait for a place, want %d", h.places.turns.Waiting(), n)
		}
	}
}

// mustEnd waits for the end of a handshake.
func mustEnd(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(5 * time.Second):
		t.Fatal("a handshake does not end")
		return nil
	}
}

// handshakes are the ways to the service's signature: after the client's first message, after its
// second where it is asked for a key that it did not send, and in the older version.
func handshakes() map[string]*tls.Config {
	kinds := map[string]*tls.Config{
		"1.3": {}, "1.2": {MaxVersion: tls.VersionTLS12},
		"1.3, asked again": {CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384}},
	}
	for _, client := range kinds {
		client.InsecureSkipVerify = true
	}
	return kinds
}

const guest, stranger = "192.0.2.1/32", "192.0.2.2/32"

// Ensure as many handshakes are computed at a time as there are places, and no more, whatever the client
// says, also where all come from one network; and all that wait come to their end.
func TestHandshakesAreBounded(t *testing.T) {
	for name, client := range handshakes() {
		t.Run(name, func(t *testing.T) {
			h := newHandshaker(t, 4, time.Minute)
			h.config.CurvePreferences = []tls.CurveID{tls.CurveP384}
			var all []<-chan error
			for range 8 {
				all = append(all, h.begin(stranger, client))
			}
			for range 4 {
				h.mustSign()
			}
			h.waiting(4)
			if len(h.key.signs) > 0 {
				t.Error("a fifth one is computed")
			}
			h.letGoOn()
			for _, ended := range all {
				if err := mustEnd(t, ended); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Ensure that who comes from elsewhere than all that wait is next, also where these have many networks of one site.
func TestHandshakesGoByNetwork(t *testing.T) {
	for name, network := range map[string]string{"one address": stranger, "one site": "2001:db8:0:%d::/64"} {
		t.Run(name, func(t *testing.T) {
			h := newHandshaker(t, 1, time.Minute)
			client := handshakes()["1.3"]
			of := func(n int) string { return strings.Replace(network, "%d", strconv.Itoa(n), 1) }
			h.begin(of(0), client)
			h.mustSign()
			for n := range 5 {
				h.begin(of(n+1), client)
			}
			h.waiting(5)
			late, _ := h.serve(t.Context(), guest)
			send(t, late, recordedHello(t))
			h.waiting(6)
			h.key.goOn <- struct{}{} // the stranger's
			h.key.goOn <- struct{}{}
			hear(t, late)
		})
	}
}

// Ensure a client that is silent holds no place, before its first message, within it or after it.
func TestSilentHandshakesHoldNoPlace(t *testing.T) {
	h := newHandshaker(t, 1, time.Minute)
	h.letGoOn()
	h.serve(t.Context(), guest)
	half, _ := h.serve(t.Context(), guest)
	answered, _ := h.serve(t.Context(), guest)
	hello := recordedHello(t)
	send(t, half, hello[:len(hello)/2])
	send(t, answered, hello)
	hear(t, answered)
	if err := mustEnd(t, h.begin(guest, handshakes()["1.3"])); err != nil {
		t.Error(err)
	}
}

// Ensure that who gets no place in time is computed nothing for, and that who has gone waits no longer.
func TestHandshakesWithoutAPlace(t *testing.T) {
	h := newHandshaker(t, 1, 10*time.Millisecond)
	h.begin(stranger, handshakes()["1.3"])
	<-h.key.signs
	if err := mustEnd(t, h.begin(guest, handshakes()["1.3"])); !errors.Is(err, ErrNoHandshake) {
		t.Errorf("%v, want %v", err, ErrNoHandshake)
	}
	h.places.patience = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	client, ended := h.serve(ctx, guest)
	send(t, client, recordedHello(t))
	h.waiting(1)
	cancel()
	if err := mustEnd(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// recordedHello is what a client says first.
func recordedHello(t *testing.T) []byte {
	t.Helper()
	client, heard := net.Pipe()
	defer func() { _ = heard.Close() }()
	go func() { _ = tls.Client(client, handshakes()["1.3"]).Handshake() }() //nolint:noctx // the pipe is closed
	hello := make([]byte, 4096)
	n, err := heard.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

func send(t *testing.T, to net.Conn, what []byte) {
	t.Helper()
	if _, err := to.Write(what); err != nil {
		t.Fatal(err)
	}
}

// hear waits for the first of an answer.
func hear(t *testing.T, from net.Conn) {
	t.Helper()
	_ = from.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := from.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}
