package wire

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
)

// alpn is the protocol's name in TLS (PostgreSQL manual, "SSL Session Encryption").
const alpn = "postgresql"

// tlsRecord is what TLS begins with, and no packet of the protocol's does: a handshake.
const tlsRecord = 0x16

// forClients is a configuration that also tells which certificate was shown. There are no
// session tickets, as Postgres has none: a session that is taken up again shows none.
func forClients(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	with := config.Clone()
	with.NextProtos = []string{alpn}
	with.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	with.SessionTicketsDisabled = true
	with.Certificates = nil
	with.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		certificate, err := choose(config, hello)
		if handshake, ours := hello.Conn.(*proxy.Handshake); ours {
			if socket, ours := handshake.NetConn().(*transport); ours {
				socket.certificate = certificate
			}
		}
		return certificate, err
	}
	return with
}

// choose chooses the certificate as crypto/tls does.
func choose(config *tls.Config, hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if config.GetCertificate != nil && (len(config.Certificates) == 0 || hello.ServerName != "") {
		certificate, err := config.GetCertificate(hello)
		if certificate != nil || err != nil {
			return certificate, err
		}
	}
	if len(config.Certificates) == 0 {
		return nil, errors.New("there is no certificate")
	}
	for i := range config.Certificates {
		if hello.SupportsCertificate(&config.Certificates[i]) == nil {
			return &config.Certificates[i], nil
		}
	}
	return &config.Certificates[0], nil
}

// secured tells whether the client speaks under TLS.
func (c *client) secured() bool { return c.conn != &c.socket }

// directTLS begins TLS with a client that does so without asking. It must say that it means
// Postgres, so that nobody makes it do so who means another service.
func (c *client) directTLS() error {
	if err := c.in.Need(1); err != nil {
		return err
	}
	if c.in.Buf[c.in.At] != tlsRecord {
		return nil
	}
	if c.server.tls == nil {
		return errStrange
	}
	c.socket.buffered = append([]byte(nil), c.in.Buf[c.in.At:c.in.End]...)
	c.in.At, c.in.End = 0, 0
	if err := c.beginTLS(); err != nil {
		return err
	}
	if secured, ok := c.conn.(*tls.Conn); !ok || secured.ConnectionState().NegotiatedProtocol != alpn {
		return errNoALPN
	}
	return nil
}

var errNoALPN = &fatal{state: "08P01", message: `TLS was begun without naming the protocol "postgresql" (ALPN)`}

// answerTLS answers the request for TLS.
func (c *client) answerTLS() error {
	if c.server.tls == nil {
		return c.answer('N')
	}
	if err := c.answer('S'); err != nil {
		return err
	}
	return c.beginTLS()
}

// beginTLS puts TLS on the connection; what was read before is not read again.
func (c *client) beginTLS() error {
	if c.in.Unread() > 0 {
		return errPlain
	}
	c.socket.left += maxTLS
	ctx, evict := context.WithCancelCause(c.server.base)
	defer evict(nil)
	c.running.Store(&evict)
	defer c.running.Store(nil)
	handshake := c.server.cfg.Handshakes.Begin(ctx, &c.socket, c.network)
	defer handshake.End()
	secured := tls.Server(handshake, c.server.tls)
	if err := secured.Handshake(); err != nil { //nolint:noctx // the deadline is the socket's; a context would take a goroutine
		if errors.Is(err, proxy.ErrNoHandshake) {
			c.server.cfg.Recorder.Short("handshakes", "all")
		}
		return err
	}
	c.conn = secured
	c.in.At, c.in.End = 0, 0
	return nil
}

// binding is what the client must have seen of the server for channel binding of the type
// tls-server-end-point (RFC 5929 section 4.1): the certificate's hash, by the function of
// its signature. nil: there is no TLS, or the signature has no such function.
func (c *client) binding() []byte {
	if !c.secured() || c.socket.certificate == nil {
		return nil
	}
	return endPoint(c.socket.certificate)
}

func endPoint(certificate *tls.Certificate) []byte {
	if len(certificate.Certificate) == 0 {
		return nil
	}
	leaf := certificate.Leaf
	if leaf == nil {
		parsed, err := x509.ParseCertificate(certificate.Certificate[0])
		if err != nil {
			return nil
		}
		leaf = parsed
	}
	function, known := endPointHash(leaf.SignatureAlgorithm)
	if !known || !function.Available() {
		return nil
	}
	h := function.New()
	_, _ = h.Write(leaf.Raw) // it never fails
	return h.Sum(nil)
}

func endPointHash(signature x509.SignatureAlgorithm) (crypto.Hash, bool) {
	switch signature {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1,
		x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.ECDSAWithSHA256:
		return crypto.SHA256, true // the older ones are replaced by it
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		return crypto.SHA384, true
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		return crypto.SHA512, true
	default:
		return 0, false
	}
}
