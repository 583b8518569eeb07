package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// initdb makes the cluster under another name and renames it when it is whole, so
// that a start that was cut off leaves nothing that looks like one.
func (s *site) initdb(ctx context.Context) error {
	next := s.pgData() + ".new"
	if err := os.RemoveAll(next); err != nil {
		return fmt.Errorf("removing an unfinished cluster: %w", err)
	}
	if err := os.Mkdir(next, 0o700); err != nil {
		return fmt.Errorf("making the cluster's folder: %w", err)
	}
	if err := s.runAs.give(next); err != nil {
		return fmt.Errorf("making the cluster's folder: %w", err)
	}
	if err := s.makePassword(); err != nil {
		return fmt.Errorf("making the superuser's password: %w", err)
	}
	s.log.Info("making a postgres cluster", "version", s.bin.version, "dir", s.pgData(), "user", s.runAs.name)
	if err := s.runInitdb(ctx, next); err != nil {
		return fmt.Errorf("making the cluster: %w", err)
	}
	if err := os.Rename(next, s.pgData()); err != nil {
		return fmt.Errorf("making the cluster: %w", err)
	}
	return nil
}

// makePassword leaves the file with its reader, initdb, which runs as the account.
func (s *site) makePassword() error {
	if err := writeFile(s.passwordFile(), rand.Text()+"\n"); err != nil {
		return err
	}
	return s.runAs.give(s.passwordFile())
}

func (s *site) runInitdb(ctx context.Context, pgData string) error {
	args := append(localeArgs(),
		"--pgdata="+pgData,
		"--username="+superuser,
		"--pwfile="+s.passwordFile(),
		"--auth-host=scram-sha-256",
		"--auth-local=reject")
	if s.cfg.Settings["fsync"] == "off" {
		args = append(args, "--no-sync") // who does not want the data safe does not want to wait for it
	}
	var said bytes.Buffer
	cmd := command(s.bin.path("initdb"), s.home, s.runAs, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := runBounded(ctx, cmd); err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(said.String())))
	}
	return nil
}

// runBounded runs a short program, which dies with ctx and with this process.
func runBounded(ctx context.Context, cmd *exec.Cmd) error {
	dieWithParent(cmd, syscall.SIGKILL)
	p, err := spawn(cmd)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		// The group: initdb has children of its own.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
		return context.Cause(ctx)
	}
}
