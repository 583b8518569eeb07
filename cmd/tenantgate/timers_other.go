//go:build !linux

package main

// lazyTimers does nothing where there is no such setting.
func lazyTimers() {}
