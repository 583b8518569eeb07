package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// front is a process that answers the statements over HTTP.
type front struct {
	name   string
	addr   string
	counts string // the URL where it tells what it allocated
	path   func(server string, s statement) string
	token  string
	cmd    *exec.Cmd
}

// startFronts starts what is compared, in the order of the tables.
func startFronts(ctx context.Context, c *compareCommand, d *database) ([]*front, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var fronts []*front
	for i, kind := range []string{"bare", "walled", "idiomatic"} {
		port, err := freePort(ctx)
		if err != nil {
			return fronts, err
		}
		f := &front{name: kind, addr: local(port), counts: "http://" + local(port+1) + "/", path: func(_ string, s statement) string { return "/" + s.name }}
		f.cmd = exec.CommandContext(ctx, self, "front", kind, "--server", server, "--addr", f.addr, "--pool", strconv.Itoa(c.Pool)) //nolint:gosec // itself
		f.cmd.Env = append(os.Environ(), "BENCH_DATABASE_URL="+d.hand)
		if kind == "walled" {
			f.cmd.Env = append(os.Environ(), "BENCH_DATABASE_URL="+d.statement, "BENCH_SIGNATURE="+d.key.Sign(server))
		}
		if err := f.start(ctx, d.dir, f.counts); err != nil {
			return fronts[:i], err
		}
		fronts = append(fronts, f)
	}
	f, err := startTenantgate(ctx, c.options, d)
	if err == nil {
		fronts = append(fronts, f)
	}
	return fronts, err
}

// startTenantgate starts it as it is shipped, with all walls, but for the limits of one
// server's rate and statements at once.
func startTenantgate(ctx context.Context, o options, d *database, flags ...string) (*front, error) {
	return startShipped(ctx, o, d, append(flags, "--requests-per-second", "0", "--max-concurrent", "1000")...)
}

// startShipped starts it with those limits, too.
func startShipped(ctx context.Context, o options, d *database, flags ...string) (*front, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	f := &front{name: "tenantgate", addr: local(port), counts: "http://" + local(port+1) + "/metrics", token: d.token}
	f.path = func(server string, _ statement) string {
		return "/api/developer/projects/" + d.project + "/servers/" + server + "/database/query"
	}
	f.cmd = exec.CommandContext(ctx, o.Tenantgate, "serve", "--http-addr", f.addr, "--ops-addr", local(port+1), "--rls", "required", //nolint:gosec // the caller's choice
		"--pool-min", strconv.Itoa(o.Pool), "--pool-max", strconv.Itoa(o.Pool), "--prepared-statements", strconv.Itoa(o.Prepared))
	f.cmd.Args = append(f.cmd.Args, flags...)
	if o.apart {
		f.cmd.SysProcAttr = apart()
	}
	f.cmd.Env = append(os.Environ(), "TENANTGATE_DATABASE_URL="+d.statement, "TENANTGATE_CONTROL_DATABASE_URL="+d.control, "TENANTGATE_LOOKUP_DATABASE_URL="+d.hand)
	return f, f.start(ctx, d.dir, "http://"+local(port+1)+"/readyz")
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort finds a port that is free now, and the next one too.
func freePort(ctx context.Context) (int, error) {
	for range 100 {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", local(0))
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		next, err := (&net.ListenConfig{}).Listen(ctx, "tcp", local(port+1))
		_ = l.Close()
		if err == nil {
			return port, next.Close()
		}
	}
	return 0, errors.New("no two free ports in a row")
}

// start runs the process until the URL answers 200. What it says goes into a file of dir.
func (f *front) start(ctx context.Context, dir, ready string) error {
	said, err := os.CreateTemp(dir, f.name+"-*.log")
	if err != nil {
		return err
	}
	defer said.Close() //nolint:errcheck // the process has its own
	f.cmd.Stderr = said
	f.cmd.Cancel = func() error { return f.cmd.Process.Signal(syscall.SIGTERM) }
	f.cmd.WaitDelay = 20 * time.Second
	if err := f.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", f.name, err)
	}
	for range 200 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	f.stop()
	text, _ := os.ReadFile(said.Name())
	return fmt.Errorf("%s is not ready after ten seconds: %s", f.name, text)
}

func (f *front) stop() {
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	_ = f.cmd.Wait()
}

// requests are one for each message of a server, for clients to send in turns.
func (f *front) requests(server string, s statement) [][]byte {
	list := make([][]byte, messages)
	for n := range list {
		list[n] = f.request(server, s, n)
	}
	return list
}

// request is the n-th of a statement for a server.
func (f *front) request(server string, s statement, n int) []byte {
	return request(f.path(server, s), f.token, s.body(n))
}
