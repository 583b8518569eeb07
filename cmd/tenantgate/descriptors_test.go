package main

import "testing"

// TestFitting keeps clients' connections within the limit of file descriptors.
func TestFitting(t *testing.T) {
	for name, test := range map[string]struct {
		limit          uint64
		pgAddr         string
		conns, clients int // 0: it refuses to start
	}{
		"room for all":      {20_000, "127.0.0.1:6432", 4096, 10_000},
		"without clients":   {4500, "off", 4096, 10_000},
		"shared":            {296 + 1409, "127.0.0.1:6432", 409, 999},
		"all for HTTP":      {296 + 1024, "off", 1024, 10_000},
		"too few":           {300, "off", 0, 0},
		"fewer than others": {100, "off", 0, 0},
		"no limit":          {1<<64 - 1, "127.0.0.1:6432", 4096, 10_000},
	} {
		s := &settings{MaxConns: 4096, PGMaxClients: 10_000, PoolMax: 20, PGAddr: test.pgAddr}
		conns, clients, err := s.fitting(test.limit)
		if conns != test.conns || clients != test.clients || (err != nil) != (test.conns == 0) {
			t.Errorf("%s: %d and %d, %v", name, conns, clients, err)
		}
	}
}
