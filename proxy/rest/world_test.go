package rest_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
	"github.com/tenantgate/tenantgate/proxy/rest/resttest"
)

// world is a running front end with the real gate and policy, and fakes of what lies
// behind: the store and the database.
type world struct {
	t        testing.TB
	store    *store
	gate     *gate
	counts   *counts
	logs     *logBuffer
	addr     string
	base     string // URL, with the base path
	contract *resttest.Contract
	client   *http.Client
	stop     context.CancelFunc
	served   chan error // Serve's result
	file     *policy.File
}

// newWorld starts a front end; change may alter its configuration. It is stopped with
// the test, which fails when that does not work.
func newWorld(t *testing.T, change func(*world, *rest.Config)) *world {
	t.Helper()
	w := &world{t: t, store: newStore(), counts: &counts{}, logs: &logBuffer{}, served: make(chan error, 1)}
	w.makeGate()
	config := rest.Config{
		Gate: w.gate, Servers: w.store, EndUsers: w.store, Query: w.answer, Recorder: w.counts,
		Logger:      slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		ReadTimeout: 5 * time.Second, DrainTimeout: 3 * time.Second,
		Throttle: proxy.NewThrottle(1000, 100), // so that nobody pauses on a busy machine either
	}
	if change != nil {
		change(w, &config)
	}
	server, err := rest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(server, config)
	return w
}

func (w *world) serve(server *rest.Server, config rest.Config) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.addr = cancel, listener.Addr().String()
	w.base = "http://" + w.addr + config.BasePath
	go func() { w.served <- server.Serve(ctx, listener) }()
	w.contract = loadContract(w.t, config.BasePath)
	transport := &http.Transport{DisableCompression: true}
	w.client = &http.Client{Transport: &resttest.Transport{Contract: w.contract, Base: transport, Report: func(err error) { w.t.Error(err) }}}
	w.t.Cleanup(func() {
		transport.CloseIdleConnections()
		w.shutDown()
	})
}

// shutDown stops the front end and waits for it; it may be called twice.
func (w *world) shutDown() {
	w.stop()
	select {
	case err, first := <-w.served:
		if first {
			close(w.served)
		}
		if err != nil {
			w.t.Errorf("Serve: %v", err)
		}
	case <-time.After(10 * time.Second):
		w.t.Error("Serve did not return")
	}
}

// contracts keeps the documents that tests have loaded, by base path: that takes a while.
var contracts sync.Map

func loadContract(t testing.TB, basePath string) *resttest.Contract {
	t.Helper()
	if known, found := contracts.Load(basePath); found {
		return known.(*resttest.Contract)
	}
	document, err := rest.OpenAPI(basePath)
	if err != nil {
		t.Fatal(err)
	}
	contract, err := resttest.Load(document)
	if err != nil {
		t.Fatal(err)
	}
	contracts.Store(basePath, contract)
	return contract
}

func (w *world) makeGate() {
	w.t.Helper()
	text, _ := policies.Named(policies.Default)
	file, err := policy.Parse(text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.gate = &gate{}
	w.setPolicy(file, policy.Limits{})
}

// setPolicy has a policy decide for all, and limits in place of its own. It is for a test
// that has not begun to serve.
func (w *world) setPolicy(file *policy.File, limits policy.Limits) {
	w.t.Helper()
	compiled, err := proxy.LoadPolicies(context.Background(), proxy.PoliciesConfig{
		Files: []*policy.File{file}, Default: file.Name, Catalog: catalog{}, Recorder: w.counts, Log: slog.New(slog.DiscardHandler),
		Sets: policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()}, PlanBytes: 1 << 20,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.file = file
	w.gate.Gate = proxy.NewGate(proxy.GateConfig{Directory: w.store, Policies: compiled, Recorder: w.counts, Override: limits})
}

// limit sets limits in place of the policy's own.
func (w *world) limit(limits policy.Limits) { w.setPolicy(w.file, limits) }

// answer stands for the database: one row that says what arrived.
func (w *world) answer(_ context.Context, _ string, bound policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
	args := []string{}
	for _, param := range bound.Params() {
		if param.Index >= 0 {
			args = append(args, string(rune('0'+param.Value.Kind))+":"+param.Value.Text)
		}
	}
	row, err := json.Marshal([]any{strings.Join(args, " "), as.Int8AsString})
	dst = append(dst, `"columns":["args","int8"],"rows":[`...)
	return append(append(dst, row...), ']'), int64(len(args)), err
}

// call makes a request, and gives status and body. Headers are "Name: value".
func (w *world) call(method, path, body string, headers ...string) (int, string) {
	w.t.Helper()
	response, text := w.do(method, path, body, headers...)
	return response.StatusCode, text
}

func (w *world) do(method, path, body string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	request, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body == "" {
		request.Body = http.NoBody
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Add(name, value)
	}
	response, err := w.client.Do(request)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response, string(text)
}

// as is a token's header.
func as(token string) string { return "Authorization: Bearer " + token }

// Paths of the endpoints.
const (
	serversPath = "/api/developer/projects/" + projectID + "/servers"
	serverPath  = serversPath + "/" + serverID
	queryPath   = serverPath + "/database/query"
	emailPath   = "/api/auth/user/by-email"
)

// errorOf reads the code and the message of an error.
func errorOf(t *testing.T, body string) (code, message string) {
	t.Helper()
	var answer struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error.Code == "" {
		t.Fatalf("no error: %s", body)
	}
	return answer.Error.Code, answer.Error.Message
}

// logBuffer collects log lines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func itoa(n int) string { return strconv.Itoa(n) }

func hex(n int) string { return strconv.FormatInt(int64(n), 16) }

// minimal is the least that a Config needs.
func minimal() rest.Config {
	s := newStore()
	return rest.Config{Gate: &gate{}, Servers: s, EndUsers: s, Query: (&world{}).answer, Logger: slog.New(slog.DiscardHandler)}
}

// selfSigned makes a certificate for the test.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
