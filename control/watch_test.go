package control

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a change that one process makes is seen by another within a second, and how soon.
func TestChangesAreSeenByAnotherProcess(t *testing.T) {
	url := controlDB(t)
	watch(t, url, run(t, Config{ControlURL: url}), 20, time.Second)
}

// Ensure the same when no notification ever arrives, as behind a pooler in transaction mode.
func TestChangesAreSeenByPollingAlone(t *testing.T) {
	url := controlDB(t)
	deaf := open(t, Config{ControlURL: url})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { deaf.poll(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	watch(t, url, deaf, 3, time.Second)
}

// Ensure the same when the connection that listens is there but says nothing any more.
func TestChangesAreSeenWhenTheListenerIsDeaf(t *testing.T) {
	url := controlDB(t)
	r, lost := pgtest.NewRelay(t, url)
	s := open(t, Config{ControlURL: url})
	s.listener = must[*pgx.ConnConfig](t)(pgx.ParseConfig(lost))
	runStore(t, s)
	settle(t, s)
	r.Silent.Store(true)
	watch(t, url, s, 3, time.Second)
}

// Ensure that even a store that nobody runs is right before long.
func TestChangesAreSeenWithoutRun(t *testing.T) {
	url := controlDB(t)
	watch(t, url, open(t, Config{ControlURL: url}), 1, 2*time.Second)
}

// watch makes changes through one store and waits until another sees them.
func watch(t *testing.T, url string, here *Store, rounds int, limit time.Duration) {
	t.Helper()
	ctx := t.Context()
	there := open(t, Config{ControlURL: url})
	m := populate(t, there)
	took := map[string][]time.Duration{}
	see := func(what string, change func() error, seen func() bool) {
		t.Helper()
		if seen() {
			t.Fatalf("%s: seen before it was made", what)
		}
		wantCode(t, change(), "")
		took[what] = append(took[what], within(t, limit, what, seen))
	}
	for i := range rounds {
		time.Sleep(time.Duration(i%7) * 50 * time.Millisecond) // at another point of the poll each time
		token, text, err := there.CreateToken(ctx, TokenSpec{Projects: []string{m.project.ID}, Scopes: proxy.Read})
		wantCode(t, err, "")
		see("revoked token", func() error { return there.RevokeToken(ctx, token.ID) },
			func() bool { _, err := here.Developer(ctx, proxy.Account{}, text); return err != nil })
		server, key, err := there.CreateServer(ctx, m.project.ID, "n", "")
		wantCode(t, err, "")
		now := func() proxy.Server { got, _ := here.Application(ctx, proxy.Account{}, server.ID, key); return got }
		see("server's policy", func() error { return there.SetServerPolicy(ctx, server.ID, "p") }, func() bool { return now().Policy == "p" })
		see("deactivated server", func() error { return there.SetServerActive(ctx, server.ID, false) }, func() bool { return !now().Active })
		see("rotated key", func() error { _, err := there.RotateKey(ctx, server.ID, 0); return err }, func() bool { return now().ID == "" })
		id := newID()
		see("created server", func() error { _, _, err := there.CreateServerWithID(ctx, m.project.ID, id, "n", ""); return err },
			func() bool { _, err := here.Server(ctx, proxy.Account{}, m.project.ID, id); return err == nil })
	}
	for what, all := range took {
		slices.Sort(all)
		t.Logf("%s: median %v, worst %v of %d", what, all[len(all)/2], all[len(all)-1], len(all))
	}
}

// Ensure what is not announced by the commands of this package is noticed as well.
func TestChangesByHandAreSeen(t *testing.T) {
	url := controlDB(t)
	s := run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	other := must[Project](t)(s.CreateProject(ctx, "other"))
	projects := func() []string { caller, _ := s.Developer(ctx, proxy.Account{}, m.text); return caller.Projects }
	steps := []struct {
		sql  string
		seen func() bool
	}{
		{"INSERT INTO tenantgate.token_projects SELECT id, '" + other.ID + "' FROM tenantgate.tokens", func() bool { return len(projects()) == 2 }},
		{"DELETE FROM tenantgate.token_projects WHERE project_id = '" + other.ID + "'", func() bool { return len(projects()) == 1 }},
		{"UPDATE tenantgate.servers SET project_id = '" + other.ID + "'", func() bool {
			_, here := s.Server(ctx, proxy.Account{}, other.ID, m.server.ID)
			_, there := s.Server(ctx, proxy.Account{}, m.project.ID, m.server.ID)
			return here == nil && there != nil
		}},
		{"DELETE FROM tenantgate.servers", func() bool { _, err := s.Application(ctx, proxy.Account{}, m.server.ID, m.key); return err != nil }},
		{"DELETE FROM tenantgate.projects WHERE id = '" + other.ID + "'", func() bool { return s.Project(ctx, proxy.Account{}, other.ID) != nil }},
		{"TRUNCATE tenantgate.tokens CASCADE", func() bool { return projects() == nil }},
	}
	for _, step := range steps {
		if step.seen() {
			t.Fatalf("%s: seen before", step.sql)
		}
		exec(t, url, step.sql)
		within(t, time.Second, step.sql, step.seen)
	}
}

// Ensure one change drops what it concerns and leaves the rest in memory.
func TestAChangeDropsNoMoreThanItself(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	warm := func() {
		_, err := s.Developer(ctx, proxy.Account{}, m.text)
		wantCode(t, err, "")
		_, err = s.Application(ctx, proxy.Account{}, m.server.ID, m.key)
		wantCode(t, err, "")
	}
	settle(t, s)
	warm()
	_, _, err := s.CreateServer(ctx, m.project.ID, "another", "")
	wantCode(t, err, "")
	settle(t, s)
	before := s.pool.Stat().AcquireCount()
	warm()
	if n := s.pool.Stat().AcquireCount() - before; n != 0 {
		t.Errorf("%d look-ups after a change that concerned none of it", n)
	}
}

// Ensure a gap in what was announced is noticed without waiting for the next reading.
func TestAGapInTheAnnouncements(t *testing.T) {
	var r revision
	var forgotten []string
	one, all := func(c change) { forgotten = append(forgotten, c.kind) }, func() { forgotten = append(forgotten, "all") }
	r.announced(change{seq: 7, kind: "before the first reading"}, one, all)
	r.catchUp(5, 0, all)
	r.announced(change{seq: 6, kind: "next"}, one, all)
	r.announced(change{seq: 6, kind: "again"}, one, all)
	r.announced(change{seq: 8, kind: "after a gap"}, one, all)
	r.catchUp(7, 6, all) // a reading that an announcement overtook
	r.announced(change{seq: 9, kind: "next"}, one, all)
	if want := []string{"all", "all", "next", "again", "all", "next"}; !slices.Equal(forgotten, want) {
		t.Errorf("forgot %v, want %v", forgotten, want)
	}
	if seen, _ := r.current(); seen != 9 {
		t.Errorf("seen up to %d", seen)
	}
}

// Ensure the store is not taken to be away when only the watchers' connections fail.
func TestOnlyTheWatchersFail(t *testing.T) {
	url := controlDB(t)
	r, lost := pgtest.NewRelay(t, url)
	s := open(t, Config{ControlURL: url})
	broken := must[*pool](t)(openPool(t.Context(), lost, 1, "test"))
	s.watcher.Close()
	s.watcher, s.listener = broken, must[*pgx.ConnConfig](t)(pgx.ParseConfig(lost))
	r.Cut(true)
	runStore(t, s)
	time.Sleep(confirmWindow)
	watch(t, url, s, 1, time.Second)
	if s.fresh.away() || !s.fresh.confirmedWithin(confirmWindow) {
		t.Error("the store counts as away")
	}
}

// Ensure a notification that anybody may send does no more than empty the caches.
func TestForgedNotifications(t *testing.T) {
	url := controlDB(t)
	s := run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	settle(t, s)
	for _, payload := range []string{"", "x", "1", "-5 token", "99 token zz", "9223372036854775807 all", "2 server a", "3 future kind", "4 key " + string(make([]byte, 0))} {
		exec(t, url, "SELECT pg_notify('tenantgate', $1)", payload)
	}
	time.Sleep(50 * time.Millisecond)
	_, err := s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "")
	wantCode(t, s.RevokeToken(ctx, m.token.ID), "")
	within(t, time.Second, "revocation", func() bool { _, err := s.Developer(ctx, proxy.Account{}, m.text); return err != nil })
}

// Ensure a store that was restored to an earlier state is not believed to be unchanged.
func TestAStoreThatWentBackInTime(t *testing.T) {
	url := controlDB(t)
	s := run(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	settle(t, s)
	_, err := s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "")
	exec(t, url, `SET session_replication_role = replica; DELETE FROM tenantgate.tokens; UPDATE tenantgate.revision SET seq = 2`)
	within(t, time.Second, "the restore", func() bool { _, err := s.Developer(ctx, proxy.Account{}, m.text); return err != nil })
	_, text, err := s.CreateToken(ctx, TokenSpec{Projects: []string{m.project.ID}, Scopes: proxy.Read})
	wantCode(t, err, "")
	_, err = s.Developer(ctx, proxy.Account{}, text)
	wantCode(t, err, "")
}
