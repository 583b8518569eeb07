package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long an orphaned server is given for each way to end.
const (
	orphanFast      = 15 * time.Second
	orphanImmediate = 7 * time.Second // Postgres kills its own backends after 5 s
	orphanKill      = 2 * time.Second
	orphanPoll      = 20 * time.Millisecond
)

// postmaster is what a server writes into its cluster's postmaster.pid (Postgres'
// miscadmin.h, "LOCK_FILE_LINE_*"): lines 1, 4 and 8.
type postmaster struct {
	pid   int
	port  int
	ready bool
}

func pidFile(pgData string) string { return filepath.Join(pgData, "postmaster.pid") }

// readPostmaster reports false when there is no such file or a broken one.
func readPostmaster(pgData string) (postmaster, bool) {
	b, err := os.ReadFile(pidFile(pgData))
	if err != nil {
		return postmaster{}, false
	}
	line := strings.Split(string(b), "\n")
	var pm postmaster
	if pm.pid, err = strconv.Atoi(strings.TrimSpace(line[0])); err != nil || pm.pid == 0 {
		return postmaster{}, false
	}
	pm.pid = max(pm.pid, -pm.pid) // negative in single-user mode
	if len(line) >= 8 {
		pm.port, _ = strconv.Atoi(line[3]) // 0 when broken: nobody answers there
		pm.ready = strings.TrimSpace(line[7]) == "ready"
	}
	return pm, true
}

// clearOrphan makes way for a new server. The caller holds the directory's lock, so
// a server that still runs has lost its tenantgate.
func clearOrphan(ctx context.Context, pgData string, log *slog.Logger) error {
	pm, ok := readPostmaster(pgData)
	if !ok {
		return dropBrokenPidFile(pgData)
	}
	if !serves(pm.pid, pgData) {
		return disown(pgData)
	}
	log.Warn("stopping a postgres that an earlier tenantgate left running", "pid", pm.pid)
	for _, step := range []struct {
		sig  syscall.Signal
		wait time.Duration
	}{{syscall.SIGINT, orphanFast}, {syscall.SIGQUIT, orphanImmediate}, {syscall.SIGKILL, orphanKill}} {
		if err := syscall.Kill(pm.pid, step.sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stopping the orphaned server, process %d: %w", pm.pid, err)
		}
		gone, err := waitGone(ctx, pm.pid, pgData, step.wait)
		if err != nil {
			return err
		}
		if gone {
			return disown(pgData)
		}
	}
	return fmt.Errorf("the orphaned server, process %d, does not end", pm.pid)
}

func waitGone(ctx context.Context, pid int, pgData string, limit time.Duration) (bool, error) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if !serves(pid, pgData) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("waiting for the orphaned server, process %d: %w", pid, context.Cause(ctx))
		case <-time.After(orphanPoll):
		}
	}
	return false, nil
}

// disown puts this process' number into a pid file whose server is gone. Postgres
// would refuse to start if the old number belongs to another process by now, or to a
// dead one that nobody has waited for; its parent's number it passes over, and still does its second check, on the shared
// memory that the file names, which finds backends that outlived their server.
func disown(pgData string) error {
	b, err := os.ReadFile(pidFile(pgData))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the server ended in good order
	}
	if err != nil {
		return fmt.Errorf("reading a stale pid file: %w", err)
	}
	_, rest, _ := strings.Cut(string(b), "\n")
	f, err := os.OpenFile(pidFile(pgData), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("disarming a stale pid file: %w", err)
	}
	err = rewrite(f, strconv.Itoa(os.Getpid())+"\n"+rest)
	return errors.Join(err, f.Close())
}

// dropBrokenPidFile removes one without a number, left by a crash or a full disk.
func dropBrokenPidFile(pgData string) error {
	if err := os.Remove(pidFile(pgData)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing a broken pid file: %w", err)
	}
	return nil
}
