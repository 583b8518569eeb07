package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockDir takes the one lock of a directory. The kernel lets it go when the process
// ends, however it ends; children don't inherit it.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("data directory %s is in use by process %s: stop it, or use another directory (--data-dir)", dir, holder(f))
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := rewrite(f, strconv.Itoa(os.Getpid())+"\n"); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return f, nil
}

// holder is the process that wrote its number into a lock file.
func holder(f *os.File) string {
	var b [16]byte
	n, _ := f.ReadAt(b[:], 0) // shorter than the buffer, so always io.EOF
	if s := strings.TrimSpace(string(b[:n])); s != "" {
		return s
	}
	return "(unknown)"
}

func rewrite(f *os.File, text string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// writeFile replaces a small file as a whole, so that no reader sees half of it.
func writeFile(path, text string) error {
	next := path + ".new"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// readLine is a small file's text without the line end, "" if there is no file.
func readLine(path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// makeDir makes a folder that others can pass through, whatever the umask, but not
// list. One that exists keeps its mode.
func makeDir(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil
	}
	if err := os.MkdirAll(path, 0o711); err != nil { //nolint:gosec // the server's user must pass
		return err
	}
	return os.Chmod(path, 0o711) //nolint:gosec // the same
}

// checkOurs refuses a folder that holds something else than a data directory, which has a lock from its first moment: whoever removes
// the folder "to start afresh" would lose what it holds.
func checkOurs(dir string) error {
	held, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking into the data directory: %w", err)
	}
	if len(held) > 0 && !exists(filepath.Join(dir, "lock")) {
		return fmt.Errorf("data directory %s is not empty, and is not one that tenantgate made: name a new or an empty one (--data-dir)", dir)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
