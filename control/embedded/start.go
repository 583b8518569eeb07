package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	portTries    = 5
	readyPoll    = 10 * time.Millisecond
	backendsWait = 15 * time.Second // for backends that outlived a killed server
	backendsPoll = 200 * time.Millisecond
	probeLimit   = 5 * time.Second
)

// What the server says on its two curable failures. Its messages are in English:
// the locale is ours.
const (
	saysPortTaken    = "could not create any TCP/IP sockets"
	saysBackendsLeft = "is still in use"
)

var (
	errPortTaken    = errors.New("the port is taken")
	errBackendsLeft = errors.New("processes of the last server still run")
)

// start runs the server on the first port that works.
func (s *site) start(ctx context.Context) (*Cluster, error) {
	password, err := readLine(s.passwordFile())
	if err != nil || password == "" {
		return nil, fmt.Errorf("the superuser's password is not in %s: restore the file, or remove %s to start anew", s.passwordFile(), s.dataDir)
	}
	c := &Cluster{log: s.log, home: s.home, password: password, done: make(chan struct{})}
	ports := 0
	for patience := time.Now().Add(backendsWait); ; {
		if c.port, err = s.choosePort(ctx, ports == 0); err != nil {
			return nil, err
		}
		c.proc, err = s.startOn(ctx, c)
		switch {
		case errors.Is(err, errPortTaken) && ports < portTries:
			ports++
		case errors.Is(err, errBackendsLeft) && time.Now().Before(patience):
			time.Sleep(backendsPoll)
		case err != nil:
			return nil, err
		default:
			return c, writeFile(s.portFile(), strconv.Itoa(c.port)+"\n")
		}
	}
}

// choosePort prefers the last start's port, so that URLs noted elsewhere stay good.
// Between this look and the server's own bind it can be lost to another process.
func (s *site) choosePort(ctx context.Context, preferLast bool) (int, error) {
	if last, err := readLine(s.portFile()); preferLast && err == nil && last != "" {
		if port, err := freePort(ctx, last); err == nil {
			return port, nil
		}
		s.log.Info("the last start's port is taken", "port", last)
	}
	port, err := freePort(ctx, "0")
	if err != nil {
		return 0, fmt.Errorf("choosing a port: %w", err)
	}
	return port, nil
}

func freePort(ctx context.Context, port string) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// startOn starts the server on c's port and returns when it answers.
func (s *site) startOn(ctx context.Context, c *Cluster) (*process, error) {
	s.out.forget()
	cmd := command(s.bin.path("postgres"), s.home, s.runAs, s.args(c.port)...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	dieWithParent(cmd, syscall.SIGINT)
	p, err := spawn(cmd)
	if err != nil {
		return nil, err
	}
	if err := s.waitReady(ctx, p); err != nil {
		p.kill()
		return nil, err
	}
	if err := probe(ctx, c.AdminURL("postgres")); err != nil {
		p.kill()
		return nil, fmt.Errorf("asking the new server: %w", err)
	}
	return p, nil
}

// waitReady goes by what the server writes into its pid file: connecting instead
// could reach another server, and fills the log with refusals.
func (s *site) waitReady(ctx context.Context, p *process) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return s.explain(p.err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to be ready: %w", context.Cause(ctx))
		case <-tick.C:
			if pm, ok := readPostmaster(s.pgData()); ok && pm.ready && pm.pid == p.cmd.Process.Pid {
				return nil
			}
		}
	}
}

// explain says why the server ended, in its own words.
func (s *site) explain(exit error) error {
	if exit == nil {
		return errors.New("it was asked to shut down")
	}
	said := s.out.last()
	err := fmt.Errorf("%w; it said:\n%s", exit, said)
	switch {
	case strings.Contains(said, saysPortTaken):
		return errors.Join(errPortTaken, err)
	case strings.Contains(said, saysBackendsLeft):
		return errors.Join(errBackendsLeft, err)
	}
	return err
}

// probe logs in: the password fits and the server answers.
func probe(ctx context.Context, adminURL string) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
