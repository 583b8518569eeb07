package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Validate refuses values that mean nothing. kong calls it when all flags are settled,
// wherever their values came from.
func (s *settings) Validate() error {
	var all []error
	for _, span := range []struct {
		flag  string
		value time.Duration
	}{{"pool-wait", s.PoolWait}, {"drain-timeout", s.DrainTimeout}, {"pg-idle-transaction", s.PGIdleTransaction},
		{"pg-transaction-timeout", s.PGTransaction}, {"pg-contended-timeout", s.PGContended}, {"lock-timeout", s.LockTimeout},
	} {
		if span.value <= 0 {
			all = append(all, fmt.Errorf("--%s must be more than 0s", span.flag))
		}
	}
	for _, number := range []struct {
		flag         string
		value, least int
	}{
		{"max-conns", s.MaxConns, 1}, {"max-conns-per-ip", s.MaxConnsPerIP, 0}, {"max-unauthenticated-per-ip", s.MaxUnauthPerIP, 0}, {"max-body-bytes", s.MaxBodyBytes, 1}, {"max-servers-per-project", s.MaxServers, 0}, {"project-budget", s.ProjectBudget, 0},
		{"pool-max", int(s.PoolMax), 1}, {"prepared-statements", s.Prepared, 1}, {"pg-max-clients", s.PGMaxClients, 1},
	} {
		if number.value < number.least {
			all = append(all, fmt.Errorf("--%s must be at least %d", number.flag, number.least))
		}
	}
	if s.ProjectShare < 1 || s.ProjectShare > 100 {
		all = append(all, errors.New("--project-share must be from 1 to 100"))
	}
	if s.PoolMin < 0 || s.PoolMin > s.PoolMax {
		all = append(all, errors.New("--pool-min must be from 0 to --pool-max"))
	}
	for _, a := range []struct{ flag, addr, port string }{{"http-addr", s.HTTPAddr, "8080"}, {"ops-addr", s.OpsAddr, "9090"}, {"pg-addr", s.pgAddr(), "6432"}} {
		if a.addr != "" {
			all = append(all, checkAddr(a.flag, a.addr, a.port))
		}
	}
	return errors.Join(all...)
}

// checkAddr refuses what is no host and port, and shows what is.
func checkAddr(flag, addr, port string) error {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return nil
	}
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		port = addr
	}
	return fmt.Errorf("--%s %s: write HOST:PORT, such as 127.0.0.1:%s", flag, addr, port)
}
