package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHTTPTLS has every choice of an address, --http-tls and a certificate end in HTTPS, in plain HTTP, or in words that fit it.
func TestHTTPTLS(t *testing.T) {
	cert, key := selfSigned(t)
	for _, c := range []struct {
		addr, mode string
		given      bool // a certificate
		err        string
	}{
		{"127.0.0.1:8080", "auto", false, ""}, {"localhost:0", "auto", false, ""}, {"[::1]:8080", "auto", false, ""}, {"[::ffff:127.0.0.1]:8080", "auto", false, ""}, {"127.9.9.9:8080", "auto", false, ""},
		{"127.0.0.1:8080", "off", false, ""}, {"0.0.0.0:8080", "off", false, ""}, {":8080", "off", false, ""},
		{"127.0.0.1:8080", "auto", true, ""}, {"0.0.0.0:8080", "auto", true, ""}, {":8080", "auto", true, ""},
		{"0.0.0.0:8080", "auto", false, "--http-addr 0.0.0.0:8080 is reached over the network"},
		{"0.0.0.0:8080", "", false, "over the network"}, // no default: nothing else was said
		{":8080", "auto", false, "over the network"}, {"[::]:8080", "auto", false, "over the network"}, {"10.0.0.1:8080", "auto", false, "over the network"},
		{"api.example.com:8080", "auto", false, "over the network"}, {"localhost.example.com:8080", "auto", false, "over the network"}, {"127.0.0.1.example.com:8080", "auto", false, "over the network"},
		{"127.0.0.1:8080", "off", true, "--http-tls=off is plain HTTP"}, {":8080", "off", true, "--http-tls=off is plain HTTP"},
	} {
		s := &settings{HTTPAddr: c.addr, HTTPTLS: c.mode}
		if c.given {
			s.TLSCert, s.TLSKey = cert, key
		}
		config, err := s.tlsConfig()
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s %s, certificate %v: %v", c.addr, c.mode, c.given, err)
		}
		if (config != nil) != (c.given && err == nil) {
			t.Errorf("%s %s, certificate %v: TLS is %v", c.addr, c.mode, c.given, config != nil)
		}
	}
}

// TestPlainHTTPIsRefused by both commands and from every place of a setting, before anything is listened on or made.
func TestPlainHTTPIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("httpAddr: 0.0.0.0:0\nhttpTls: off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--database-url=postgres://a@127.0.0.1:1/d", "--control-database-url=postgres://a@127.0.0.1:1/d", "--ops-addr=127.0.0.1:0"}
	dev := []string{"dev", "--data-dir", dir, "--ops-addr=127.0.0.1:0", "--pg-addr=127.0.0.1:0"}
	for _, c := range []struct {
		args []string
		says string
	}{
		{append(serve, "--http-addr=0.0.0.0:0"), "tenantgate: starting: --http-addr 0.0.0.0:0 is reached over the network, so REST clients must use TLS: give --tls-cert and --tls-key, or --http-tls=off behind a proxy that ends TLS\n"},
		{append(dev, "--http-addr=:0"), "--http-addr :0 is reached over the network"},
		{append(serve, "--http-addr=0.0.0.0:0", "--http-tls=on"), "--http-tls must be one of \"auto\",\"off\""},
		{append(serve, "--config", config), "opening the control store"}, // which is not there
		{append(serve, "--config", config, "--http-tls=auto"), "--http-addr 0.0.0.0:0 is reached over the network"},
	} {
		if errs := startError(t, c.args...); !strings.Contains(errs, c.says) {
			t.Errorf("%v: %s", c.args, errs)
		}
	}
	t.Setenv("TENANTGATE_HTTP_ADDR", ":0")
	if errs := startError(t, serve...); !strings.Contains(errs, "--http-addr :0 is reached over the network") {
		t.Error(errs)
	}
	t.Setenv("TENANTGATE_HTTP_TLS", "off")
	if errs := startError(t, serve...); !strings.Contains(errs, "opening the control store") {
		t.Error(errs)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the data directory was made")
	}
}

// startError is what a command says that does not start. One that does is stopped soon.
func startError(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var errs bytes.Buffer
	if code := run(ctx, args, console{&bytes.Buffer{}, &errs}); code == 0 {
		t.Errorf("%v: it started", args)
	}
	return errs.String()
}

// selfSigned writes a certificate and its key, and gives their paths.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, pair.Public(), pair)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
