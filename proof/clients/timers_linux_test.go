package clients_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The service starts itself anew to have its threads woken later. It is told by what its
// environment was at first: the slack itself is shown to few.
func TestServeHasLazyTimers(t *testing.T) {
	tenant(t)
	if is, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || is >= 1_000_000 {
		t.Skipf("whoever runs this has set the timers already, or can't: %d, %v", is, err)
	}
	first, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", gate.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(first, []byte("\x00TENANTGATE_RESTARTED=1\x00")) {
		t.Error("serve did not start itself anew")
	}
}
