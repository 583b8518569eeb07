package metrics_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every panel of the dashboard shows something when a real Prometheus has scraped a
// process that is busy: the labels are right, not only the names.
func TestEveryPanelShowsSomething(t *testing.T) {
	t.Parallel()
	p := startPrometheus(t)
	fill := strings.NewReplacer("$__rate_interval", "10s", "$job", "tenantgate", "$instance", ".*")
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			expr := fill.Replace(target.Expr)
			if samples, err := p.query(t, expr); err != nil || samples == 0 {
				t.Errorf("panel %s: %d samples, %v, of %s", panel.Title, samples, err, expr)
			}
		}
	}
}

// prometheus is a running one that scrapes a busy process.
type prometheus struct {
	url    string
	client *http.Client
}

func startPrometheus(t *testing.T) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed")
	}
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 250ms}\nscrape_configs: [{job_name: tenantgate, static_configs: [{targets: [%q]}]}]\n", busy(t))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := freeAddr(t)
	command := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr, "--log.level=warn")
	command.Stdout, command.Stderr = t.Output(), t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &prometheus{url: "http://" + addr, client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}}}
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	p.waitForScrapes(t)
	return p
}

// busy serves metrics in which every event keeps happening, and gives the address.
func busy(t *testing.T) string {
	t.Helper()
	m := newMetrics()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			record(m)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	server := httptest.NewServer(m.Handler())
	t.Cleanup(func() { cancel(); <-done; server.Close() })
	return server.Listener.Addr().String()
}

func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// waitForScrapes waits until the counters have been seen to rise.
func (p *prometheus) waitForScrapes(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		if samples, _ := p.query(t, "rate(tenantgate_server_id_overridden_total[10s]) > 0"); samples > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("prometheus scraped nothing in 30 s")
}

// query gives the number of series that an instant query answers.
func (p *prometheus) query(t *testing.T, expr string) (int, error) {
	t.Helper()
	response, err := p.client.PostForm(p.url+"/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []any }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, fmt.Errorf("prometheus: %s", answer.Error)
	}
	return len(answer.Data.Result), nil
}
