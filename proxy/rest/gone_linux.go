package rest

import "golang.org/x/sys/unix"

// States of a TCP socket, from Linux' include/net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpSynRecv     = 3
)

// gone tells whether the peer has closed, or the connection is broken. Bytes that
// wait to be read do not hide it. It never blocks.
func (c *conn) gone() bool {
	if c.raw == nil {
		return false
	}
	gone := false
	err := c.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err == nil && info.State != tcpEstablished && info.State != tcpSynRecv
	})
	return gone || err != nil
}
