package rest

import "golang.org/x/sys/unix"

// States of a TCP socket, from Linux' include/net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpSynRecv     = 3
	tcpClose       = 7
)

// peer tells whether the peer sends no more, and whether the connection is broken, too. A client that has closed both of
// its halves looks like one that has closed its sending half, until something is written to it: then it resets the
// connection. Bytes that wait to be read hide neither. It never blocks.
func (c *conn) peer() (silent, broken bool) {
	if c.raw == nil {
		return false, false
	}
	err := c.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		silent = err == nil && info.State != tcpEstablished && info.State != tcpSynRecv
		broken = silent && info.State == tcpClose
	})
	return silent || err != nil, broken || err != nil
}
