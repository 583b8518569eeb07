package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	logBytes  = 4 << 20 // a log file's limit; two are kept
	tailBytes = 4 << 10 // of the newest output, for error messages
)

// logFile takes Postgres' output, which has no bound, and keeps a bounded part.
type logFile struct {
	path  string
	limit int64

	mu   sync.Mutex
	f    *os.File
	size int64
	tail []byte
}

func openLog(dir string) (*logFile, error) {
	l := &logFile{path: filepath.Join(dir, "postgres.log"), limit: logBytes}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("opening postgres' log: %w", err)
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.f, l.size = f, st.Size()
	return nil
}

// Write never fails: an error would stop the reading of the server's output, and a
// server that nobody reads hangs. What a full disk refuses is lost.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	if over := len(l.tail) - tailBytes; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	if l.size+int64(len(p)) > l.limit {
		l.rotate()
	}
	if l.f != nil {
		n, _ := l.f.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

func (l *logFile) rotate() {
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
	if os.Rename(l.path, l.path+".1") == nil {
		_ = l.open()
	}
}

// forget starts a new tail, so that it shows one start only.
func (l *logFile) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = l.tail[:0]
}

// last is the newest output.
func (l *logFile) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.tail))
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}
