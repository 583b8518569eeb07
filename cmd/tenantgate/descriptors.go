package main

import (
	"fmt"
	"log/slog"
	"syscall"
)

// File descriptors that are not connections of clients.
const (
	otherDescriptors = 256 // listeners, the operations address, the control store, look-ups, those turned away, files
	perPoolConn      = 2   // a database connection, and one that cancels its statement
)

// leastClients is how many clients' connections are too few to start with.
const leastClients = 64

// fitDescriptors lowers the limits of connections to what the process may open, so that
// there is always a descriptor to accept one with, and it is a limit of tenantgate's own that
// decides who makes room for it.
func (s *settings) fitDescriptors(log *slog.Logger) error {
	var limit syscall.Rlimit // Go has raised it as far as the process may
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of file descriptors: %w", err)
	}
	conns, clients, err := s.fitting(limit.Cur)
	if err != nil {
		return err
	}
	if conns != s.MaxConns || clients != s.PGMaxClients {
		log.Warn("the limit of file descriptors is too low for --max-conns and --pg-max-clients, which are lowered: raise it with ulimit -n (systemd: LimitNOFILE)",
			"descriptors", limit.Cur, "max_conns", conns, "pg_max_clients", clients)
	}
	s.MaxConns, s.PGMaxClients = conns, clients
	return nil
}

// fitting shares what a limit leaves between the two front ends as their own limits do.
func (s *settings) fitting(limit uint64) (conns, clients int, err error) {
	reserved := uint64(otherDescriptors + perPoolConn*int(s.PoolMax)) //nolint:gosec // it is positive
	asked := uint64(s.MaxConns)                                       //nolint:gosec // likewise
	if s.pgAddr() != "" {
		asked += uint64(s.PGMaxClients) //nolint:gosec // likewise
	}
	switch {
	case limit >= reserved+asked:
		return s.MaxConns, s.PGMaxClients, nil
	case limit < reserved+min(leastClients, asked):
		return 0, 0, fmt.Errorf("the limit of file descriptors is %d, and at least %d are needed: run `ulimit -n 65536` first (systemd: LimitNOFILE=65536; Docker: --ulimit nofile=65536)",
			limit, reserved+leastClients)
	}
	left := float64(limit-reserved) / float64(asked)
	conns, clients = max(1, int(float64(s.MaxConns)*left)), s.PGMaxClients
	if s.pgAddr() != "" {
		clients = max(1, int(float64(clients)*left))
	}
	return conns, clients, nil
}

// orUnlimited spells a limit as the front ends do, whose zero is their default.
func orUnlimited(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}
