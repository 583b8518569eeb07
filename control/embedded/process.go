package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	// pipeGrace is how long the output of a program that has ended is still read: a
	// backend that outlives a killed server keeps the pipe open.
	pipeGrace = 2 * time.Second

	// quitGrace is how long a server that missed Stop's deadline has to end its
	// backends (SIGQUIT) before it is killed without.
	quitGrace = time.Second
)

// process is a child that was started by spawn.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; set before done is closed
}

// spawn starts cmd and waits for it in the background.
func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run keeps one thread from fork to wait: Linux sends the parent-death signal when
// the forking *thread* ends, and an unlocked goroutine's thread may end any time.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

// signal is without effect on a process that was waited for.
func (p *process) signal(sig os.Signal) { _ = p.cmd.Process.Signal(sig) }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks for a fast shutdown and waits; at ctx's end it insists.
func (p *process) stop(ctx context.Context) error {
	p.signal(syscall.SIGINT)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	if p.ended() { // both can be true, and select takes either
		return nil
	}
	p.kill()
	return fmt.Errorf("it had to be killed: %w", context.Cause(ctx))
}

// kill ends the server without a checkpoint. SIGQUIT comes first because a server
// that is merely killed can't take its backends along.
func (p *process) kill() {
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
		return
	case <-time.After(quitGrace):
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

// returnsMemory has glibc give large blocks back when they are freed. By itself it keeps them in the heap once there were
// some, and a small block above them that stays keeps all of a statement's memory in an idle backend.
const returnsMemory = "MALLOC_TRIM_THRESHOLD_=131072"

// command builds a call of one of Postgres' programs: as the user, in a folder that
// this user can enter, with none of the caller's PG* variables.
func command(path, dir string, as account, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...) //nolint:gosec,noctx // the operator chooses the Postgres; its end is spawn's and the caller's
	cmd.Dir = dir
	cmd.Env = []string{"LC_ALL=" + processLocale, "PATH=/usr/local/bin:/usr/bin:/bin", returnsMemory}
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as.credential()}
	return cmd
}
