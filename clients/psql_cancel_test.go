package clients_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slow runs for far longer than anybody waits, and is nothing that a policy refuses.
const slow = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a + b < 0"

// terminal gives both ends of a pseudo-terminal: psql goes on after Ctrl-C only where it
// talks to a person.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// TestPsqlCancel presses Ctrl-C while a statement runs; psql then asks again.
func TestPsqlCancel(t *testing.T) {
	need(t, "psql")
	each(t, func(t *testing.T, url string) {
		master, slave := terminal(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "psql", "-X", "--no-readline", "-A", "-t", "-v", "VERBOSITY=sqlstate", url)
		cmd.Env = environment(url)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(master, "BEGIN;\n"+slow+";\n")
		time.Sleep(500 * time.Millisecond)
		fmt.Fprint(master, "\x03")
		said, _ := awaited(master, "57014")
		fmt.Fprint(master, "ROLLBACK;\nSELECT 'after', 40 + 2;\n\\q\n")
		rest, found := awaited(master, "after|42")
		if !strings.Contains(said, "ERROR:  57014") || !found {
			t.Errorf("psql said %q and %q", said, rest)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// awaited reads until a line has the text, at most for a while.
func awaited(master *os.File, text string) (string, bool) {
	var all strings.Builder
	late := time.AfterFunc(20*time.Second, func() { _ = master.Close() })
	defer late.Stop()
	lines := bufio.NewReader(master)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, text) {
			return all.String(), true
		}
		if err != nil {
			return all.String(), false
		}
	}
}
