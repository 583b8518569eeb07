package main

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// slack is how late the kernel may wake a thread of the service that sleeps for some time. A
// time limit may end that much later.
const slack = time.Millisecond

// restarted is in the environment of a program that lazyTimers has started anew.
const restarted = "TENANTGATE_RESTARTED"

// lazyTimers lets the kernel wake sleeping threads later than its default of 50 µs (prctl(2),
// PR_SET_TIMERSLACK). The Go runtime's monitor sleeps for 20 µs at a time under load, and takes
// the processor from whatever is in a system call for longer than that, so a write to a socket
// ends in a change of threads; on a virtual machine that was a fifth to a half of what the
// service took (docs/benchmarks.md). A thread has its slack from the one that made it, and the
// monitor is made before main: so the program starts itself anew, as the same process. Where that
// can't be, it goes on as it is.
func lazyTimers() {
	if os.Getenv(restarted) != "" {
		_ = os.Unsetenv(restarted)
		return
	}
	runtime.LockOSThread() // it is this thread's
	defer runtime.UnlockOSThread()
	if is, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || is >= int(slack) {
		return
	}
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) != nil {
		return
	}
	again := append(os.Environ(), restarted+"=1")
	if path, err := os.Executable(); err == nil {
		_ = syscall.Exec(path, os.Args, again) //nolint:gosec // it is this program, with what it was given
	}
	_ = syscall.Exec("/proc/self/exe", os.Args, again) //nolint:gosec // the same, where its file is gone; the process is called exe then
}
