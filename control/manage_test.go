package control

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure nobody who manages servers keeps another's credentials from being looked up, nor another
// project from managing its own, however much is asked for and however long it takes.
func TestManagingLeavesConnections(t *testing.T) {
	url := controlDB(t)
	var mu sync.Mutex
	short := map[string]int{}
	s := run(t, Config{ControlURL: url, Short: func(what, whose string) {
		mu.Lock()
		defer mu.Unlock()
		short[what+" "+whose]++
	}})
	busy := must[Project](t)(s.CreateProject(t.Context(), "busy")).ID
	other := must[Project](t)(s.CreateProject(t.Context(), "other")).ID
	_, token, err := s.CreateToken(t.Context(), TokenSpec{Projects: []string{other}, Scopes: proxy.Manage})
	if err != nil {
		t.Fatal(err)
	}
	free := lockProject(t, url, busy)
	var creating sync.WaitGroup
	for range 3 * s.cfg.MaxConns {
		creating.Go(func() {
			if _, _, err := s.CreateServer(context.Background(), busy, "x", ""); err != nil {
				wantCode(t, err, proxy.Overloaded)
			}
		})
	}
	for deadline := time.Now().Add(5 * time.Second); s.pool.Stat().AcquiredConns() == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Developer(t.Context(), proxy.Account{}, token); err != nil {
		t.Errorf("looking up a token: %v", err)
	}
	if _, _, err := s.CreateServer(t.Context(), other, "x", ""); err != nil {
		t.Errorf("another project's server: %v", err)
	}
	time.Sleep(manageWait)
	free()
	creating.Wait()
	if mu.Lock(); short["management project"] == 0 {
		t.Errorf("counted: %v", short)
	}
	mu.Unlock()
}

// Ensure a caller who leaves while others are served is not counted as one for whom there was no turn.
func TestManagingLeft(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t), Short: func(what, whose string) { t.Errorf("counted as short: %s, %s", what, whose) }})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for range s.cfg.MaxConns {
		_ = s.managing.Take(t.Context(), proxy.Account{Project: "others"}, 0)
	}
	if err := s.manage(ctx, proxy.Account{Project: "others"}, func(context.Context) error { return nil }); err == nil || proxy.AsError(err).Code == proxy.Overloaded {
		t.Errorf("told %v", err)
	}
}

// lockProject has whoever makes a server in the project wait until free is called.
func lockProject(t *testing.T, url, id string) (free func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `BEGIN`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT FROM tenantgate.projects WHERE id = $1 FOR UPDATE`, id); err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close(context.Background()) }
}
