package main

import (
	"errors"
	"fmt"
	"time"
)

// Validate refuses values that mean nothing. kong calls it when all flags are settled,
// wherever their values came from.
func (s *settings) Validate() error {
	var all []error
	for _, span := range []struct {
		flag  string
		value time.Duration
	}{{"pool-wait", s.PoolWait}, {"drain-timeout", s.DrainTimeout}, {"pg-idle-transaction", s.PGIdleTransaction}} {
		if span.value <= 0 {
			all = append(all, fmt.Errorf("--%s must be more than 0s", span.flag))
		}
	}
	for _, number := range []struct {
		flag         string
		value, least int
	}{
		{"max-conns", s.MaxConns, 1}, {"max-conns-per-ip", s.MaxConnsPerIP, 0}, {"max-body-bytes", s.MaxBodyBytes, 1},
		{"pool-max", int(s.PoolMax), 1}, {"prepared-statements", s.Prepared, 1}, {"pg-max-clients", s.PGMaxClients, 1},
	} {
		if number.value < number.least {
			all = append(all, fmt.Errorf("--%s must be at least %d", number.flag, number.least))
		}
	}
	if s.PoolMin < 0 || s.PoolMin > s.PoolMax {
		all = append(all, errors.New("--pool-min must be from 0 to --pool-max"))
	}
	return errors.Join(all...)
}
