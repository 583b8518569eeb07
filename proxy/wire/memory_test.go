package wire

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var idleClients = flag.Int("idle-clients", 1000, "how many idle clients TestIdleMemory has")

// descriptor is a client's end of a connection that takes no memory of the process.
type descriptor struct {
	net.Conn
	fd int
}

func (d descriptor) Read(p []byte) (int, error) {
	n, err := syscall.Read(d.fd, p)
	if n == 0 && err == nil {
		err = net.ErrClosed
	}
	return n, err
}
func (d descriptor) Write(p []byte) (int, error) { return syscall.Write(d.fd, p) }

// enter logs in over a descriptor, with what was made of the password once.
func (d *door) enter(t *testing.T, clientKey [32]byte) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(d.addr)
	number, _ := strconv.Atoi(port)
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	r := &raw{Conn: descriptor{fd: fd}, t: t}
	r.say(startupOf(version3, "user", shop))
	_, _, _ = r.hear()
	r.say(messageOf('p', scramPlain+"\x00\x00\x00\x00\x0bn,,n=,r=abc"))
	_, body, _ := r.hear()
	server := string(body[4:])
	nonce, _, _ := strings.Cut(server[2:], ",")
	without := "c=biws,r=" + nonce
	stored := sha256.Sum256(clientKey[:])
	proof := hmacSHA256(stored[:], []byte("n=,r=abc,"+server+","+without))
	subtle.XORBytes(proof[:], proof[:], clientKey[:])
	r.say(messageOf('p', without+",p="+b64(proof[:])))
	for {
		switch kind, body, err := r.hear(); {
		case err != nil || kind == 'E':
			t.Fatalf("%q %v", body, err)
		case kind == 'Z':
			return fd
		}
	}
}

// used is what the process has in use, after everything was collected: heap and stacks, and
// all that is resident.
func used() (inUse, resident uint64) {
	for range 4 { // stacks shrink by half each time, and pools take two
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, _ := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return m.HeapInuse + m.StackInuse, pages * uint64(os.Getpagesize())
}

// An idle client costs little: a goroutine, its buffers, no connection of the database.
func TestIdleMemory(t *testing.T) {
	d := openDoor(t, nil)
	salted, err := pbkdf2.Key(sha256.New, shopKey, testSalt, testIterations, 32)
	if err != nil {
		t.Fatal(err)
	}
	clientKey := hmacSHA256(salted, []byte("Client Key"))
	fds := make([]int, 0, *idleClients)
	defer func() {
		for _, fd := range fds {
			_ = syscall.Close(fd)
		}
	}()
	fds = append(fds, d.enter(t, clientKey))
	before, residentBefore := used()
	for len(fds) < cap(fds) {
		fds = append(fds, d.enter(t, clientKey))
	}
	for d.Clients()["idle"] < *idleClients {
		time.Sleep(time.Millisecond)
	}
	after, residentAfter := used()
	each := float64(after-before) / float64(*idleClients-1) / 1024
	t.Logf("%d idle clients: %.2f KiB each in use, %.2f KiB resident", *idleClients, each,
		float64(residentAfter-residentBefore)/float64(*idleClients-1)/1024)
	if each > 16 {
		t.Errorf("%.2f KiB for an idle client", each)
	}
}
