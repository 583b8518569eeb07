package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const timersMarker = "TENANTGATE_TEST_TIMERS"

// TestLazyTimers has another process start itself anew, and tell what became of it.
func TestLazyTimers(t *testing.T) {
	if os.Getenv(timersMarker) != "" {
		fmt.Println("process", os.Getpid())
		lazyTimers()
		is, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		fmt.Println("slack", is, err, os.Getenv(restarted) == "", len(os.Args))
		return
	}
	if is, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || is >= int(slack) {
		t.Skipf("whoever runs this has set the timers already, or can't: %d, %v", is, err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLazyTimers$", "-test.v")
	cmd.Env = append(os.Environ(), timersMarker+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	process := fmt.Sprintf("process %d\n", cmd.Process.Pid)
	if strings.Count(string(out), process) != 2 || strings.Count(string(out), "slack 1000000 <nil> true 3\n") != 1 {
		t.Errorf("not anew, as the same process, with other timers:\n%s", out)
	}
}
