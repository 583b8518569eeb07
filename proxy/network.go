package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Accept gives take the connections that come in, until ctx is done, which has to close ln, or
// ln fails. Where file descriptors or memory are short it waits a moment, at most a second:
// connections that end make room. kind names them in the log and in the error.
func Accept(ctx context.Context, ln net.Listener, kind string, log *slog.Logger, take func(net.Conn)) error {
	pause := time.Duration(0)
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			take(conn)
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the listener was closed because ctx is done
		case !passing(err):
			return fmt.Errorf("accepting %s connections: %w", kind, err)
		default:
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			log.Warn("accepting a connection failed", "kind", kind, "error", err, "pause", pause)
			time.Sleep(pause)
		}
	}
}

// passing tells whether accepting connections, which failed, may work again later.
func passing(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// AccountOf is whose share strangers from a network have something out of, as if it were a project.
func AccountOf(network netip.Prefix) Account { return Account{Project: "network " + network.String()} }

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

// siteBits is how long the prefix of a site is in IPv6: none is given more than a /48 as a rule, and
// many are, for nothing (RFC 6177): that is 65,536 networks of NetworkOf's.
const siteBits = 48

// siteOf is all that the owner of a NetworkOf may have: clients elsewhere are to find places beside it.
func siteOf(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is6() {
		return network
	}
	return netip.PrefixFrom(network.Addr(), siteBits).Masked()
}
