package metrics_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenantgate/tenantgate/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opsTest is a running operations listener.
type opsTest struct {
	*metrics.Ops
	addr    string
	client  *http.Client
	log     *strings.Builder // read it after stop
	stop    func()           // ends Run and waits for it; safe to call twice
	stopped chan error       // what Run returned
}

func startOps(t *testing.T, ready func(context.Context) error) *opsTest {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &opsTest{addr: listener.Addr().String(), log: new(strings.Builder), stopped: make(chan error, 1)}
	o.Ops = metrics.NewOps(metrics.OpsConfig{
		Listener: listener, Metrics: newMetrics().Handler(), Ready: ready, Beside: beside,
		Log: slog.New(slog.NewTextHandler(o.log, nil)),
	})
	o.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { o.stopped <- o.Run(ctx); close(o.stopped) }()
	o.stop = func() { cancel(); o.client.CloseIdleConnections(); <-o.stopped }
	t.Cleanup(o.stop)
	return o
}

func beside() []string { return nil }

func always(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// do sends one request and gives status, body and headers.
func (o *opsTest) do(t *testing.T, method, path string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+o.addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := o.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header
}

func (o *opsTest) want(t *testing.T, path string, status int, text string) {
	t.Helper()
	got, body, _ := o.do(t, http.MethodGet, path)
	if got != status || !strings.Contains(body, text) {
		t.Errorf("%s: %d %.200q, want %d with %q", path, got, body, status, text)
	}
}

func TestOpsServesThreePathsAndNothingElse(t *testing.T) {
	o := startOps(t, always(nil))
	o.want(t, "/healthz", 200, "alive\n")
	o.want(t, "/readyz", 200, "ready\n")
	o.want(t, "/metrics", 200, "# HELP tenantgate_requests_total ")
	for _, path := range []string{"/", "/metrics/", "/healthz/x", "/debug/pprof/", "/debug/vars", "/api/auth/user/by-email", "/openapi.json", "/Metrics"} {
		o.want(t, path, 404, "")
	}
}

func TestOpsAnswersOnlyReads(t *testing.T) {
	o := startOps(t, always(nil))
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		if status, body, _ := o.do(t, http.MethodHead, path); status != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q", path, status, body)
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			if status, _, header := o.do(t, method, path); status != 405 || header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, path, status, header.Get("Allow"))
			}
		}
	}
}

func TestReadyzTellsWhyNot(t *testing.T) {
	o := startOps(t, always(errors.New("control store: connection refused")))
	o.want(t, "/readyz", 503, "not ready: control store: connection refused\n")
	o.want(t, "/healthz", 200, "alive")
	if _, _, header := o.do(t, "GET", "/readyz"); header.Get("Cache-Control") != "no-store" || header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("headers: %v", header)
	}
}

func TestDrainEndsReadinessAtOnce(t *testing.T) {
	o := startOps(t, always(nil))
	o.want(t, "/readyz", 200, "ready")
	o.Drain()
	o.want(t, "/readyz", 503, "draining")
	o.want(t, "/healthz", 200, "alive")
	o.want(t, "/metrics", 200, "tenantgate_")
}

// A thousand probes in a second cost one check; a second later the answer is fresh.
func TestProbesShareOneCheckASecond(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	o := startOps(t, func(context.Context) error {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
		return nil
	})
	start := time.Now()
	var probes sync.WaitGroup
	for range 20 {
		probes.Go(func() {
			for range 10 {
				o.want(t, "/readyz", 200, "ready")
			}
		})
	}
	probes.Wait()
	if most := 1 + int64(time.Since(start)/time.Second); asked.Load() > most {
		t.Errorf("asked %d times in %v", asked.Load(), time.Since(start))
	}
	before := asked.Load()
	time.Sleep(1100 * time.Millisecond)
	o.want(t, "/readyz", 200, "ready")
	if asked.Load() != before+1 {
		t.Errorf("a second later it was asked %d more times", asked.Load()-before)
	}
}

func TestReadinessChangesAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	o := startOps(t, func(context.Context) error {
		if broken.Load() {
			return errors.New("database gone")
		}
		return nil
	})
	for _, state := range []bool{false, false, true, true, false} {
		broken.Store(state)
		time.Sleep(1010 * time.Millisecond)
		_, _, _ = o.do(t, "GET", "/readyz")
	}
	o.stop()
	if got := strings.Count(o.log.String(), "\n"); got != 3 || !strings.Contains(o.log.String(), `reason="database gone"`) {
		t.Errorf("want ready, not ready, ready; the log is:\n%s", o.log)
	}
}

// A check that hangs is cut off by its context, and a probe that gives up does not make
// the next one fail.
func TestHangingCheckIsCutOff(t *testing.T) {
	t.Parallel()
	o := startOps(t, func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("asking the database: %w", ctx.Err()) })
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(impatient, http.MethodGet, "http://"+o.addr+"/readyz", http.NoBody)
	if response, err := o.client.Do(request); err == nil {
		response.Body.Close()
		t.Fatal("the impatient probe was answered")
	}
	start := time.Now()
	o.want(t, "/readyz", 503, "not ready: ")
	if took := time.Since(start); took > 2500*time.Millisecond || took < time.Second {
		t.Errorf("answered after %v", took)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	o := startOps(t, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	probe := make(chan struct{})
	go func() {
		defer close(probe)
		if response, err := o.client.Get("http://" + o.addr + "/readyz"); err == nil {
			response.Body.Close()
		}
	}()
	silent, err := net.Dial("tcp", o.addr) // a connection that never says anything
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	o.stop()
	<-probe
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := net.DialTimeout("tcp", o.addr, time.Second); err == nil {
		t.Error("the port is still open")
	}
}

func TestRunTellsWhenTheListenerFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	o := metrics.NewOps(metrics.OpsConfig{Listener: listener, Metrics: http.NotFoundHandler(), Ready: always(nil), Beside: beside, Log: slog.New(slog.DiscardHandler)})
	if err := o.Run(t.Context()); !errors.Is(err, net.ErrClosed) || !strings.HasPrefix(err.Error(), "serving the operations address: ") {
		t.Errorf("got %v", err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	o := startOps(t, always(nil))
	conns := make([]net.Conn, 130)
	for i := range conns {
		conn, err := net.Dial("tcp", o.addr)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
		fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	answered := 0
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil && strings.Contains(line, "200") {
			answered++
		}
	}
	if answered != 100 {
		t.Errorf("%d connections were served at once, want 100", answered)
	}
	for _, conn := range conns {
		conn.Close()
	}
	time.Sleep(100 * time.Millisecond)
	o.want(t, "/healthz", 200, "alive")
}

func TestSilentConnectionIsClosed(t *testing.T) {
	t.Parallel()
	o := startOps(t, always(nil))
	conn, err := net.Dial("tcp", o.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost:")
	_ = conn.SetReadDeadline(time.Now().Add(8 * time.Second))
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("not closed: %v", err)
	}
}
