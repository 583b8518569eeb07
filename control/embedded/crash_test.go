package embedded

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Ensure the death of the server is told, and that the next start recovers.
func TestServerKilled(t *testing.T) {
	dir := madeDir(t)
	c := start(t, quick(dir))
	execute(t, c.AdminURL("postgres"), "create table kept as select 42 as n")
	check(t, syscall.Kill(c.proc.cmd.Process.Pid, syscall.SIGKILL))
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("Done stays open")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "ended by itself: signal: killed") {
		t.Errorf("Err says %v", err)
	}
	check(t, c.Stop(t.Context()))
	if n := query[int](t, start(t, quick(dir)).AdminURL("postgres"), "select n from kept"); n != 42 {
		t.Errorf("the row says %d", n)
	}
}

// Ensure somebody else's pg_ctl stop is told too: nobody asked us.
func TestServerStoppedByOther(t *testing.T) {
	c := start(t, quick(madeDir(t)))
	check(t, syscall.Kill(c.proc.cmd.Process.Pid, syscall.SIGINT))
	<-c.Done()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "asked to shut down") {
		t.Errorf("Err says %v", err)
	}
}

// Ensure a backend that outlives its killed server is waited for, not worked beside.
func TestBackendOutlivesServer(t *testing.T) {
	dir := madeDir(t)
	c := start(t, quick(dir))
	conn, err := pgx.Connect(t.Context(), c.AdminURL("postgres"))
	check(t, err)
	backend := int(conn.PgConn().PID())
	busy := make(chan struct{})
	go func() { // never looks up from its work, and so does not see the server die
		defer close(busy)
		_, _ = conn.Exec(t.Context(), "set statement_timeout = '4s'; select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b")
		_ = conn.Close(t.Context())
	}()
	defer func() { <-busy }()
	time.Sleep(500 * time.Millisecond)
	check(t, syscall.Kill(c.proc.cmd.Process.Pid, syscall.SIGKILL))
	<-c.Done()
	if !serves(backend, filepath.Join(dir, "pg")) {
		t.Fatal("the backend did not outlive the server, the test shows nothing")
	}
	start(t, quick(dir))
	if serves(backend, filepath.Join(dir, "pg")) {
		t.Error("the new server runs beside the old one's backend")
	}
}

// Ensure kill -9 of a tenantgate takes the server along and loses no data.
func TestParentKilled(t *testing.T) {
	dir := madeDir(t)
	parent, url := helper(t, os.Args[0], dir, account{})
	execute(t, url, "create table kept as select 42 as n")
	pm, ok := readPostmaster(filepath.Join(dir, "pg"))
	if !ok {
		t.Fatal("no pid file")
	}
	check(t, parent.Process.Kill())
	_ = parent.Wait()
	if runtime.GOOS == "linux" {
		eventually(t, "the server ends", func() bool { return !serves(pm.pid, filepath.Join(dir, "pg")) })
	}
	if n := query[int](t, start(t, quick(dir)).AdminURL("postgres"), "select n from kept"); n != 42 {
		t.Errorf("the row says %d", n)
	}
}

// Ensure kill -9 of a tenantgate and its server at once loses nothing committed.
func TestBothKilled(t *testing.T) {
	dir := madeDir(t)
	parent, url := helper(t, os.Args[0], dir, account{})
	execute(t, url, "create table kept as select 42 as n")
	pm, _ := readPostmaster(filepath.Join(dir, "pg"))
	check(t, syscall.Kill(pm.pid, syscall.SIGKILL))
	check(t, parent.Process.Kill())
	_ = parent.Wait()
	if n := query[int](t, start(t, quick(dir)).AdminURL("postgres"), "select n from kept"); n != 42 {
		t.Errorf("the row says %d", n)
	}
}

// orphan starts a server on a cluster as one is left where no death signal exists.
func orphan(t *testing.T, dir string) (pid int) {
	t.Helper()
	c := start(t, quick(dir))
	execute(t, c.AdminURL("postgres"), "create table kept as select 42 as n")
	stop(t, c)
	as, err := chooseAccount(filepath.Join(dir, "pg"))
	check(t, err)
	cmd := command(c.proc.cmd.Path, dir, as, c.proc.cmd.Args[1:]...)
	check(t, cmd.Start())
	go func() { _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, "the orphan is ready", func() bool {
		pm, ok := readPostmaster(filepath.Join(dir, "pg"))
		return ok && pm.ready
	})
	return cmd.Process.Pid
}

// Ensure a server whose tenantgate is gone is stopped.
func TestOrphan(t *testing.T) {
	dir := madeDir(t)
	pid := orphan(t, dir)
	c := start(t, quick(dir))
	if alive(pid) {
		t.Error("the orphan still runs")
	}
	if n := query[int](t, c.AdminURL("postgres"), "select n from kept"); n != 42 {
		t.Errorf("the row says %d", n)
	}
}

// Ensure a server that ends without removing its pid file, and that nobody has waited
// for yet (in a container whose first process reaps nothing, nobody ever does), makes
// way too.
func TestOrphanUnreaped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the stand-in is known by its folder, which only Linux shows")
	}
	dir := madeDir(t)
	pgData := filepath.Join(dir, "pg")
	as, err := chooseAccount(pgData)
	check(t, err)
	stand := command("/bin/sleep", pgData, as, "60")
	check(t, stand.Start())
	defer func() { _ = stand.Wait() }()
	check(t, os.WriteFile(pidFile(pgData), fmt.Appendf(nil, "%d\n%s\n", stand.Process.Pid, pgData), 0o600))
	check(t, as.give(pidFile(pgData)))
	start(t, quick(dir))
	if !alive(stand.Process.Pid) || serves(stand.Process.Pid, pgData) {
		t.Error("the stand-in should be dead and not waited for")
	}
}

// Ensure a pid file whose number went to another process neither stops the start nor
// costs that process its life.
func TestRecycledPid(t *testing.T) {
	dir := madeDir(t)
	c := start(t, quick(dir))
	path := pidFile(filepath.Join(dir, "pg"))
	left, err := os.ReadFile(path)
	check(t, err)
	stop(t, c)

	as, err := chooseAccount(filepath.Join(dir, "pg"))
	check(t, err)
	other := command("/bin/sleep", "/", as, "60") // of the server's user: Postgres believes it
	check(t, other.Start())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	_, rest, _ := strings.Cut(string(left), "\n")
	check(t, os.WriteFile(path, fmt.Appendf(nil, "%d\n%s", other.Process.Pid, rest), 0o600))
	check(t, as.give(path))

	if _, err := find(dir); err == nil {
		t.Error("found a server that does not run")
	}
	start(t, quick(dir))
	if st, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(other.Process.Pid)).Output(); err != nil || strings.HasPrefix(string(st), "Z") {
		t.Errorf("the other process was hit (%s, %v)", st, err)
	}
}

// Ensure a pid file that a crash left broken does not stop the start.
func TestBrokenPidFile(t *testing.T) {
	dir := madeDir(t)
	stop(t, start(t, quick(dir)))
	for _, text := range []string{"", "\n", "soon\n", "0\n"} {
		check(t, os.WriteFile(pidFile(filepath.Join(dir, "pg")), []byte(text), 0o600))
		stop(t, start(t, quick(dir)))
	}
}

// Ensure a cluster whose making was cut off is made anew.
func TestUnfinishedCluster(t *testing.T) {
	dir := openDir(t)
	check(t, os.MkdirAll(filepath.Join(dir, "pg.new", "base"), 0o711))
	check(t, os.WriteFile(filepath.Join(dir, "pg.new", "PG_VERSION"), []byte("15\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	start(t, quick(dir))
	if exists(filepath.Join(dir, "pg.new")) {
		t.Error("the unfinished cluster is still there")
	}
}
