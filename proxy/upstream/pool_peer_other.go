//go:build !linux

package upstream

import "net"

// watchPeer has the kernel look whether the other machine is still there. Bytes that it
// never acknowledged are repeated as long as the system does that.
func watchPeer(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		probe(tcp)
	}
}
