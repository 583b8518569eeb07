package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Config is what a Server is made of. Where a field says nothing else, its zero value
// means the default in brackets.
type Config struct {
	Gate     Gate                     // required
	Open     func(proxy.Account) Link // gives each client a link of its own; required
	Recorder Recorder                 // nil: nothing is recorded
	Logger   *slog.Logger             // required

	// TLS gives the certificate; one that can change while the service runs comes from its
	// GetCertificate. GetConfigForClient is not taken, and session tickets are off: channel
	// binding is to the certificate of the connection. nil: there is no TLS.
	TLS *tls.Config
	// Handshakes are the places for TLS handshakes; front ends may share them. nil: its own.
	Handshakes *proxy.Handshakes
	// TLSMode says who may come without TLS [TLSRequire].
	TLSMode TLSMode
	// ServerVersion gives the version of the database behind, for server_version, as "17.2";
	// it must not block. nil or "": a version that clients take for an old one.
	ServerVersion func() string

	MaxClients      int // at a time [10,000]
	MaxClientsPerIP int // the same per IPv4 address or IPv6 /64; 0: no limit
	// MaxUnauthenticatedPerIP is how many of those from one address may be logging in at a
	// time [256]; negative: no limit.
	//
	// Who comes beyond a limit takes the place of somebody who is logging in, for longest of
	// the address that has most of those (proxy.Connections). Where there is none it is told so and closed.
	MaxUnauthenticatedPerIP int
	MaxMessageBytes         int // of one message [16 MiB]
	// MaxLongBytes bounds what all clients together have in messages that are longer than
	// 16 KiB and not yet answered [256 MiB].
	MaxLongBytes int
	// MaxKeptBytes bounds what all clients together keep in prepared statements and portals, beside
	// the first 16 KiB of each [256 MiB].
	MaxKeptBytes int

	// ProjectShare is how much of those one project has at most, of clients that have authenticated
	// and of bytes, in percent; a server has three quarters of that [proxy.DefaultProjectShare].
	ProjectShare int

	// LoginTimeout is for everything up to authentication, in all [10s].
	LoginTimeout time.Duration
	// ReadTimeout is for a message that has begun, without a byte of it [30s].
	ReadTimeout time.Duration
	// WriteTimeout is for the client to take what it is sent, without 64 KiB of it, or all
	// where it is less [30s].
	WriteTimeout time.Duration
	// UnreadGrace is how much longer than its statement may run a client may take nothing of the answer while
	// the statement still waits to give it [2s].
	UnreadGrace time.Duration
	// IdleTimeout is for a client that has no transaction open. It costs little, and pools
	// keep connections for long, so it is generous: machines that are gone are found by TCP
	// keepalive, within a minute. Negative: no limit [24h].
	IdleTimeout time.Duration
	// TransactionIdleTimeout is for a client within a transaction, until its next message is
	// there as a whole: it has a connection of the database's and may hold locks [60s].
	TransactionIdleTimeout time.Duration
	// TransactionTimeout is for a transaction in all, from its first statement on: it has a
	// connection of the database's, and an old snapshot keeps what others delete [5m].
	TransactionTimeout time.Duration
	// ContendedTimeout is the same for an account of which Contended is more than 0 [10s].
	ContendedTimeout time.Duration
	// Contended tells how many connections more the account holds than somebody who waits for
	// one. nil: it never is.
	Contended func(proxy.Account) int
	// LockTimeout is how long a statement waits for each lock; a client can have it shorter [5s].
	LockTimeout time.Duration
	// DrainTimeout is for statements and transactions to end, once Serve's context is done
	// [10s].
	DrainTimeout time.Duration
}

// TLSMode says who may connect without TLS.
type TLSMode uint8

// The modes. A cancel request is taken without TLS in any of them, as clients send it.
const (
	TLSRequire TLSMode = iota // nobody
	TLSAllow                  // who does not ask for it
	TLSDisable                // everybody, and nobody gets it
)

// withDefaults fills in what was left out and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Gate == nil || c.Open == nil || c.Logger == nil {
		return c, errors.New("gate, open and logger are required")
	}
	if c.Recorder == nil {
		c.Recorder = silent{}
	}
	if c.Handshakes == nil {
		c.Handshakes = proxy.NewHandshakes(0, 0)
	}
	unbounded := c.MaxUnauthenticatedPerIP < 0
	for value, preset := range map[*int]int{
		&c.MaxClients: 10_000, &c.MaxUnauthenticatedPerIP: 256, &c.MaxMessageBytes: 16 << 20, &c.MaxLongBytes: 256 << 20,
		&c.MaxKeptBytes: 256 << 20,
	} {
		setDefault(value, preset)
	}
	c.MaxLongBytes = max(c.MaxLongBytes, 2*c.MaxMessageBytes) // while a buffer grows there are two
	if c.IdleTimeout < 0 {
		c.IdleTimeout = 100 * 365 * 24 * time.Hour
	}
	for value, preset := range map[*time.Duration]time.Duration{
		&c.LoginTimeout: 10 * time.Second, &c.ReadTimeout: 30 * time.Second, &c.WriteTimeout: 30 * time.Second,
		&c.IdleTimeout: 24 * time.Hour, &c.TransactionIdleTimeout: time.Minute, &c.DrainTimeout: 10 * time.Second,
		&c.TransactionTimeout: 5 * time.Minute, &c.ContendedTimeout: 10 * time.Second, &c.LockTimeout: 5 * time.Second,
		&c.UnreadGrace: 2 * time.Second,
	} {
		setDefault(value, preset)
	}
	if unbounded {
		c.MaxUnauthenticatedPerIP = 0
	}
	if c.Contended == nil {
		c.Contended = func(proxy.Account) int { return 0 }
	}
	return c, checkTLS(c.TLSMode, c.TLS)
}

func setDefault[T int | time.Duration](value *T, preset T) {
	if *value <= 0 {
		*value = preset
	}
}

func checkTLS(mode TLSMode, config *tls.Config) error {
	switch {
	case mode > TLSDisable:
		return fmt.Errorf("there is no TLS mode %d", mode)
	case mode == TLSRequire && config == nil:
		return errors.New("TLS is required of clients, but there is no certificate: give one, or allow clients without TLS")
	case config == nil:
		return nil
	case len(config.Certificates) == 0 && config.GetCertificate == nil:
		return errors.New("TLS is on but there is no certificate")
	case config.GetConfigForClient != nil:
		return errors.New("a TLS configuration per client is not supported: choose the certificate in GetCertificate")
	}
	return nil
}

// silent records nothing.
type silent struct{}

func (silent) Connection(string)        {}
func (silent) Stage(string, float64)    {}
func (silent) Rejected(string, string)  {}
func (silent) Statement(string, string) {}
func (silent) Overridden(int)           {}
func (silent) Evicted(string, bool)     {}
func (silent) TransactionEnded(string)  {}
func (silent) Short(string, string)     {}
