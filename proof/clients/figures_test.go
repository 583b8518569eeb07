package clients_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// figures are what a service tells of itself, in its metrics and to the kernel.
type figures struct {
	idle, acquired, waiting int // of the pool's connections
	goroutines, clients     int
	rss, heap, stack        int // bytes
	collections             int // of garbage
}

func (f *faulty) measure(t *testing.T) (now figures) {
	t.Helper()
	answer, err := http.Get("http://" + f.ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch n := int(value); {
		case name == "tenantgate_upstream_pool_idle":
			now.idle = n
		case name == "tenantgate_upstream_pool_acquired":
			now.acquired = n
		case name == "tenantgate_upstream_pool_waiting":
			now.waiting = n
		case name == "go_goroutines":
			now.goroutines = n
		case strings.HasPrefix(name, "tenantgate_pg_clients{"):
			now.clients += n
		case name == "go_memstats_next_gc_bytes":
			now.heap = n / 2 // the collector runs again when what it has left has doubled
		case name == "go_gc_duration_seconds_count":
			now.collections = n
		case name == "go_memstats_stack_inuse_bytes":
			now.stack = n
		}
	}
	now.rss = f.resident(t)
	return now
}

// collected measures when the collector has run twice, so that what is counted as heap is alive. The heap in use is no measure of
// that: it moves by megabytes with garbage, which is as much as several hundred clients take. The service makes garbage by
// itself when it is asked for its figures.
func (f *faulty) collected(t *testing.T) (now figures) {
	t.Helper()
	before, end := f.measure(t).collections, time.Now().Add(20*time.Second)
	for now.collections < before+2 {
		if now = f.measure(t); time.Now().After(end) {
			t.Fatalf("the collector ran %d times in 20 s", now.collections-before)
		}
	}
	return now
}

// resident is the memory of the service's process.
func (f *faulty) resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
