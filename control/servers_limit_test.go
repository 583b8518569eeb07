package control

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a project gets no more servers than it may, however many are asked for at once, and that
// another project is not kept from its own.
func TestServersOfAProjectAreBounded(t *testing.T) {
	const most = 7
	s := run(t, Config{ControlURL: controlDB(t), MaxServers: most})
	project := must[Project](t)(s.CreateProject(t.Context(), "full")).ID
	other := must[Project](t)(s.CreateProject(t.Context(), "other")).ID
	var made, refused atomic.Int32
	var wg sync.WaitGroup
	for range 3 * most {
		wg.Go(func() {
			_, _, err := s.CreateServer(context.Background(), project, "x", "")
			switch {
			case err == nil:
				made.Add(1)
			case proxy.AsError(err).Code == proxy.LimitReached:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != most || refused.Load() != 2*most {
		t.Errorf("%d were made and %d refused", made.Load(), refused.Load())
	}
	if _, _, err := s.CreateServer(t.Context(), other, "x", ""); err != nil {
		t.Error(err)
	}
	_, _, err := s.CreateServer(t.Context(), newID(), "x", "")
	wantCode(t, err, proxy.NotFound)
}
