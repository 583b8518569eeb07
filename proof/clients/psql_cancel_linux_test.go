package clients_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal gives both ends of a pseudo-terminal: psql goes on after Ctrl-C only where it
// talks to a person.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	raw, err := master.SyscallConn() // Fd would take its deadlines away
	if err != nil {
		t.Fatal(err)
	}
	var number int
	var getting, unlocking error
	err = raw.Control(func(fd uintptr) {
		number, getting = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		unlocking = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
	})
	if err := errors.Join(err, getting, unlocking); err != nil {
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
		_ = slave.Close() // so that its end is seen here
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
	_ = master.SetReadDeadline(time.Now().Add(20 * time.Second))
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
