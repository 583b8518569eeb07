package embedded

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ensure the log keeps its newest part, within its bound, and never fails its writer.
func TestLogBounded(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(dir)
	check(t, err)
	l.limit = 1000
	for i := range 500 {
		n, err := l.Write(bytes.Repeat([]byte{byte('a' + i%26)}, 33))
		if n != 33 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	_, _ = l.Write([]byte("the end\n"))
	for _, name := range []string{"postgres.log", "postgres.log.1"} {
		st, err := os.Stat(filepath.Join(dir, name))
		check(t, err)
		if st.Size() == 0 || st.Size() > 1000 || st.Mode() != 0o600 {
			t.Errorf("%s: %d bytes, %v", name, st.Size(), st.Mode())
		}
	}
	if !strings.HasSuffix(l.last(), "the end") || len(l.tail) > tailBytes {
		t.Errorf("the tail has %d bytes: %q", len(l.tail), l.last())
	}
	l.close()
	if n, err := l.Write([]byte("late")); n != 4 || err != nil {
		t.Errorf("a late write: %d, %v", n, err)
	}

	l, err = openLog(dir) // an earlier run's bytes count
	check(t, err)
	defer l.close()
	if l.size == 0 {
		t.Error("the size of an existing log is not known")
	}
	check(t, os.RemoveAll(dir))
	l.limit = 1
	if n, err := l.Write([]byte("no folder")); n != 9 || err != nil {
		t.Errorf("a write without a folder: %d, %v", n, err)
	}
}
