package proxy

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// PassingAccept tells whether accepting connections, which failed, may work again later.
func PassingAccept(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// NetworkOf is whom a client counts for where clients are limited: an IPv4 address, or an
// IPv6 /64, which is what one subscriber has. It is zero where there is no IP address.
func NetworkOf(transport net.Conn) netip.Prefix {
	tcp, ok := transport.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr, bits := tcp.AddrPort().Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
