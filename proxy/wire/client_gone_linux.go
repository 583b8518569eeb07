package wire

import "golang.org/x/sys/unix"

// States of a TCP socket, from Linux' include/net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpSynRecv     = 3
)

// isClosed tells whether the peer of a TCP socket has closed it.
func isClosed(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State != tcpEstablished && info.State != tcpSynRecv
}

// acknowledged is how many bytes the peer of a TCP socket has acknowledged.
func acknowledged(fd int) (bytes uint64, known bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, false
	}
	return info.Bytes_acked, true
}
