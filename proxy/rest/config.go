package rest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Config is what a Server is made of. Where a field says nothing else, its zero value
// means the default in brackets.
type Config struct {
	Gate     Gate         // required
	Servers  Servers      // required
	EndUsers EndUsers     // required
	Query    QueryFunc    // required
	Recorder Recorder     // nil: nothing is recorded
	Logger   *slog.Logger // required

	// BasePath is put before every path: "" or "/x", "/x/y" without a slash at the end.
	BasePath string
	// TLS switches TLS on. It must give a certificate; one that can change while the
	// service runs comes from its GetCertificate. nil: plain HTTP.
	TLS *tls.Config
	// Handshakes are the places for TLS handshakes; front ends may share them. nil: its own.
	Handshakes *proxy.Handshakes
	// Throttle holds back who has many requests answered that run nothing. nil: its own.
	Throttle *proxy.Throttle
	// CORSOrigins are the origins whose scripts may read answers, as browsers spell
	// them ("https://app.example"), or "*" for all. Empty: CORS is off.
	CORSOrigins []string

	MaxBodyBytes   int // of a request [1,048,576]
	MaxHeaderBytes int // request line and headers together [16,384]
	MaxConns       int // open connections [4,096]
	MaxConnsPerIP  int // the same per IPv4 address or IPv6 /64; 0: no limit
	// MaxUnauthenticatedPerIP is how many of those from one address may have sent no valid
	// credentials yet [256]; negative: no limit.
	//
	// Who comes beyond a limit takes the place of a connection that nobody would miss
	// (proxy.Connections). Where there is none it is answered 503, or 429 for an address.
	MaxUnauthenticatedPerIP int

	// MaxAnswerBytes bounds what all answers together have that are longer than 64 KiB, until they
	// are taken [256 MiB]. Who comes beyond that is answered 503, and its statement has no effect.
	MaxAnswerBytes int
	// MaxLongBytes bounds what all requests' bodies together have that are longer than 64 KiB, and so with args, until
	// they are answered [128 MiB, at least four of MaxBodyBytes]. Who comes beyond that is answered 503.
	MaxLongBytes int
	// ProjectShare is how much of those one project has at most, in percent; a server has three
	// quarters of that [proxy.DefaultProjectShare]. So of MaxConns, but that whose connections
	// are more have them served, too: those go before the others'.
	ProjectShare int

	HeadTimeout  time.Duration // for a TLS handshake, and for each request's head to arrive whole [10s, at most ReadTimeout]
	ReadTimeout  time.Duration // for its body to arrive, once the head has [30s]
	WriteTimeout time.Duration // for an answer to be taken [60s]
	IdleTimeout  time.Duration // between requests of a connection [120s]
	StoreTimeout time.Duration // for credentials, servers and end users to be looked up [10s]
	DrainTimeout time.Duration // for running requests, once Serve's context is done [10s]
}

// withDefaults fills in what was left out and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Gate == nil || c.Servers == nil || c.EndUsers == nil || c.Query == nil || c.Logger == nil {
		return c, errors.New("gate, servers, end users, query and logger are required")
	}
	if c.Recorder == nil {
		c.Recorder = silent{}
	}
	if c.Handshakes == nil {
		c.Handshakes = proxy.NewHandshakes(0, 0)
	}
	if c.Throttle == nil {
		c.Throttle = proxy.NewThrottle(runtime.GOMAXPROCS(0), c.ProjectShare)
	}
	unbounded := c.MaxUnauthenticatedPerIP < 0
	for value, preset := range map[*int]int{
		&c.MaxBodyBytes: 1 << 20, &c.MaxHeaderBytes: 16 << 10, &c.MaxConns: 4096, &c.MaxUnauthenticatedPerIP: 256, &c.MaxAnswerBytes: 256 << 20, &c.MaxLongBytes: 128 << 20,
	} {
		setDefault(value, preset)
	}
	for value, preset := range map[*time.Duration]time.Duration{
		&c.ReadTimeout: 30 * time.Second, &c.WriteTimeout: time.Minute, &c.IdleTimeout: 2 * time.Minute,
		&c.StoreTimeout: 10 * time.Second, &c.DrainTimeout: 10 * time.Second,
	} {
		setDefault(value, preset)
	}
	c.MaxLongBytes = max(c.MaxLongBytes, 4*c.MaxBodyBytes) // four bodies at least
	if unbounded {
		c.MaxUnauthenticatedPerIP = 0
	}
	setDefault(&c.HeadTimeout, min(10*time.Second, c.ReadTimeout))
	return c, errors.Join(checkBasePath(c.BasePath), checkOrigins(c.CORSOrigins), checkTLS(c.TLS))
}

func setDefault[T int | time.Duration](value *T, preset T) {
	if *value <= 0 {
		*value = preset
	}
}

func checkBasePath(path string) error {
	if path == "" {
		return nil
	}
	parsed, err := url.Parse(path)
	if err != nil || parsed.Path != path || !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") || strings.Contains(path, "//") {
		return fmt.Errorf("base path %q: want /name or /name/name in unreserved characters, no slash at the end", path)
	}
	return nil
}

func checkOrigins(origins []string) error {
	for _, origin := range origins {
		parsed, err := url.Parse(origin)
		if origin != "*" && (err != nil || parsed.Scheme == "" || parsed.Host == "" || parsed.Scheme+"://"+parsed.Host != origin) {
			return fmt.Errorf("CORS origin %q: want scheme://host[:port] in lower case, or *", origin)
		}
	}
	return nil
}

func checkTLS(config *tls.Config) error {
	if config != nil && len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return errors.New("TLS is on but there is no certificate")
	}
	return nil
}

// silent records nothing.
type silent struct{}

func (silent) Request(string, string, float64) {}
func (silent) Stage(string, float64)           {}
func (silent) Rejected(string, string)         {}
func (silent) Statement(string, string)        {}
func (silent) Overridden(int)                  {}
func (silent) Evicted(string, bool)            {}
func (silent) Short(string, string)            {}
