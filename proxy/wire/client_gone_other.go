//go:build !linux

package wire

// isClosed does not know on this system.
func isClosed(int) bool { return false }

// acknowledged does not know either.
func acknowledged(int) (bytes uint64, known bool) { return 0, false }
