package upstream

import (
	"net"

	"golang.org/x/sys/unix"
)

// watchPeer has the kernel break a TCP connection whose other machine is gone: it would
// repeat our last bytes for a quarter of an hour otherwise. A machine that is there
// acknowledges them, however busy the process on it is.
func watchPeer(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	probe(tcp)
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // closed meanwhile
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(peerTimeout.Milliseconds()))
	})
}
