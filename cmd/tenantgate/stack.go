package main

import (
	"fmt"
	"syscall"
)

// leastStack is what the SQL parser needs, in bytes: it is C code that recurses, its
// threads have stacks of the process' limit, and one that overflows ends the process. The
// deepest text that passes the guards before the parser needs less than this.
const leastStack = 1 << 20

// checkStack refuses to start where a statement could end the process.
func checkStack() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_STACK, &limit); err != nil {
		return fmt.Errorf("reading the stack limit: %w", err)
	}
	return stackSuffices(limit.Cur)
}

// stackSuffices judges a limit in bytes; no limit is the largest number.
func stackSuffices(limit uint64) error {
	if limit >= leastStack {
		return nil
	}
	return fmt.Errorf("the stack limit is %d KiB, and the SQL parser needs %d KiB: run `ulimit -s 8192` first (systemd: LimitSTACK=8M; Docker: --ulimit stack=8388608)", limit>>10, leastStack>>10)
}
