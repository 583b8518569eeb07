package wire

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// certificateOf makes a certificate for 127.0.0.1 that signs itself.
func certificateOf(t testing.TB, key crypto.Signer, algorithm x509.SignatureAlgorithm) *tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tenantgate"}, SignatureAlgorithm: algorithm,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func ecKey(t testing.TB, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// someCertificate is one of the usual kind.
func someCertificate(t testing.TB) *tls.Certificate {
	t.Helper()
	return certificateOf(t, ecKey(t, elliptic.P256()), x509.ECDSAWithSHA256)
}

// withTLS gives a change of a configuration that requires TLS.
func withTLS(certificate *tls.Certificate) func(*Config) {
	return func(c *Config) {
		c.TLSMode = TLSRequire
		c.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate, nil }}
	}
}

// kinds are certificates by what they are signed with.
func kinds(t *testing.T) map[string]*tls.Certificate {
	t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, p384 := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384())
	return map[string]*tls.Certificate{
		"ECDSA SHA-256":   certificateOf(t, p256, x509.ECDSAWithSHA256),
		"ECDSA SHA-384":   certificateOf(t, p384, x509.ECDSAWithSHA384),
		"ECDSA SHA-512":   certificateOf(t, p384, x509.ECDSAWithSHA512),
		"RSA SHA-256":     certificateOf(t, rsaKey, x509.SHA256WithRSA),
		"RSA SHA-384":     certificateOf(t, rsaKey, x509.SHA384WithRSA),
		"RSA SHA-512":     certificateOf(t, rsaKey, x509.SHA512WithRSA),
		"RSA-PSS SHA-256": certificateOf(t, rsaKey, x509.SHA256WithRSAPSS),
		"RSA-PSS SHA-384": certificateOf(t, rsaKey, x509.SHA384WithRSAPSS),
		"Ed25519":         certificateOf(t, edKey, x509.PureEd25519),
	}
}
