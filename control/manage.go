package control

import (
	"context"
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
)

// manage does something for who manages a project, in its turn. Half of the connections are for
// that at most, and no project has them all: the others look up credentials, whatever is asked for.
func (s *Store) manage(ctx context.Context, a proxy.Account, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := s.managing.Take(ctx, a, manageWait); err != nil {
		if !errors.Is(err, proxy.ErrNoTurn) { // the caller is gone, or the service ends
			return readError("waiting to manage servers", err)
		}
		s.cfg.Short("management", proxy.Whose(err))
		e := overloaded()
		e.Hint, e.Cause = "make and change servers one after the other", err
		return e
	}
	defer s.managing.Give(a)
	return do(ctx)
}
