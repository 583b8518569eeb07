package clients_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// figures are what a service tells of itself, in its metrics and to the kernel.
type figures struct {
	idle, acquired, waiting int // of the pool's connections
	goroutines, clients     int
	rss, heap, stack        int // bytes
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
		case name == "go_memstats_heap_inuse_bytes":
			now.heap = n
		case name == "go_memstats_stack_inuse_bytes":
			now.stack = n
		}
	}
	now.rss = f.resident(t)
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
