package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tenantgate/tenantgate/control/embedded"
)

const (
	dirPrefix  = "tenantgate-pgtest-"
	startLimit = time.Minute
	stopLimit  = 10 * time.Second
	leftAge    = time.Hour // a younger folder may be one that is being set up
)

// shared is the one server of this test binary. It is package state because the
// tests of a package have nothing else in common that could hold it.
var shared server

type server struct {
	mu      sync.Mutex
	main    bool // Main runs, so somebody will stop the server
	dir     string
	cluster *embedded.Cluster
	err     error
}

func (s *server) get() (*embedded.Cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.main {
		return nil, fmt.Errorf("call os.Exit(pgtest.Main(m)) in TestMain, so that the server is stopped")
	}
	if s.cluster == nil && s.err == nil {
		s.cluster, s.err = s.start()
	}
	return s.cluster, s.err
}

func (s *server) start() (*embedded.Cluster, error) {
	removeLeft(os.TempDir())
	var err error
	if s.dir, err = makeDir(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return embedded.Start(ctx, Config(s.dir))
}

func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := s.cluster.Stop(ctx); err != nil {
			return err
		}
	}
	if s.dir == "" {
		return nil
	}
	return removeDir(s.dir)
}

func makeDir() (string, error) {
	dir, err := os.MkdirTemp("", dirPrefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711) //nolint:gosec // the server's user must pass
}

// removeDir removes a data directory, and its cluster if that had to live elsewhere
// (a TMPDIR that only root may enter).
func removeDir(dir string) error {
	var elsewhere error
	if home, err := os.ReadFile(filepath.Join(dir, "location")); err == nil {
		elsewhere = os.RemoveAll(strings.TrimSpace(string(home)))
	}
	return errors.Join(elsewhere, os.RemoveAll(dir))
}

// removeLeft removes the folders of test binaries that were killed.
func removeLeft(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	for _, dir := range left {
		if abandoned(dir) {
			_ = removeDir(dir) // what is left of it is no reason to fail a test
		}
	}
}

// abandoned tells whether dir is an old folder of this user's that nobody works in.
// Anybody can make a folder of such a name, with a location in it that names /etc.
func abandoned(dir string) bool {
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() || time.Since(st.ModTime()) < leftAge {
		return false
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && unused(dir)
}

// unused tells whether no process has the data directory's lock.
func unused(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
