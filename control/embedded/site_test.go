package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ensure a folder that holds something else is left as it is.
func TestForeignDir(t *testing.T) {
	cfg := quick(filepath.Join(openDir(t), "docs"))
	check(t, os.MkdirAll(cfg.DataDir, 0o700))
	check(t, os.WriteFile(filepath.Join(cfg.DataDir, "letter.txt"), nil, 0o600))
	refused(t, cfg, cfg.DataDir, "is not empty, and is not one that tenantgate made")
	if held, err := os.ReadDir(cfg.DataDir); err != nil || len(held) != 1 {
		t.Errorf("it holds %v, %v", held, err)
	}
}

// Ensure root in a place where no other user may enter gets a server all the same,
// is told where it is, and finds it again.
func TestRootOnlyDir(t *testing.T) {
	needsRoot(t)
	top := openDir(t)
	check(t, os.Mkdir(top, 0o700))
	cfg := quick(filepath.Join(top, "clone", "data"))
	cfg.elsewhere = []string{"/proc/nothing-can-be-made-here", filepath.Join(top, "shut"), filepath.Dir(top) + "/open"}
	var log bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))

	c := start(t, cfg)
	execute(t, c.AdminURL("postgres"), "create table kept as select 42 as n")
	home, err := readLine(filepath.Join(cfg.DataDir, "location"))
	check(t, err)
	if !strings.HasPrefix(home, filepath.Dir(top)+"/open/cluster-") || !exists(filepath.Join(home, "pg")) {
		t.Fatalf("the cluster is in %q", home)
	}
	if belongs, err := readLine(filepath.Join(home, "data-directory")); err != nil || belongs != cfg.DataDir {
		t.Errorf("the cluster belongs to %q, %v", belongs, err)
	}
	if !strings.Contains(log.String(), "the cluster is elsewhere") || !strings.Contains(log.String(), "cluster="+home) {
		t.Errorf("the log does not say where:\n%s", &log)
	}
	if url, err := Find(cfg.DataDir); err != nil || url != c.AdminURL("postgres") {
		t.Errorf("Find: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(top, "shut")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	stop(t, c)

	c = start(t, cfg)
	if n := query[int](t, c.AdminURL("postgres"), "select n from kept"); n != 42 {
		t.Errorf("the row says %d", n)
	}
	copied := quick(filepath.Join(top, "copy"))
	check(t, os.Mkdir(copied.DataDir, 0o700))
	check(t, writeFile(filepath.Join(copied.DataDir, "lock"), ""))
	check(t, writeFile(filepath.Join(copied.DataDir, "location"), home+"\n"))
	refused(t, copied, home, "in use by process")
	stop(t, c)

	// Its making was cut off.
	check(t, os.RemoveAll(filepath.Join(home, "pg")))
	stop(t, start(t, cfg))
	halfRemoved(t, cfg, home, &log)
}

// halfRemoved takes away one half of a cluster that is elsewhere, then the other.
func halfRemoved(t *testing.T, cfg Config, home string, log *bytes.Buffer) {
	t.Helper()
	// The data directory was removed: a new cluster, and the old one is mentioned.
	check(t, os.RemoveAll(cfg.DataDir))
	log.Reset()
	stop(t, start(t, cfg))
	if !strings.Contains(log.String(), "earlier data directory") || !strings.Contains(log.String(), home) {
		t.Errorf("the log does not mention %s:\n%s", home, log)
	}

	// The cluster is gone, the data directory is not: say so, don't start empty.
	check(t, os.RemoveAll(filepath.Dir(home)))
	refused(t, cfg, "is gone", "start anew")
}

// Ensure a cluster in a place that was shut after its making is explained.
func TestShutLater(t *testing.T) {
	needsRoot(t)
	dir := madeDir(t)
	stop(t, start(t, quick(dir)))
	check(t, os.Chmod(dir, 0o700))
	refused(t, quick(dir), "can't enter "+dir, "chmod o+x")
}

// Ensure that only a folder which is shut counts as one: a try that was cut off says
// nothing, and must not move the cluster away.
func TestEnter(t *testing.T) {
	needsRoot(t)
	dir := openDir(t)
	as, err := chooseAccount("")
	check(t, err)
	bin, err := findBinaries(t.Context(), quick(dir), as, 0)
	check(t, err)
	s := site{runAs: as, bin: bin}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.enter(ended, "/"); !errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("cut off: %v", err)
	}
	check(t, os.Mkdir(dir, 0o700))
	if err := s.enter(t.Context(), dir); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("shut: %v", err)
	}
	check(t, os.Chmod(dir, 0o711))
	check(t, s.enter(t.Context(), dir))

	cfg := quick(dir)
	cfg.BinDir = filepath.Join(filepath.Dir(dir), "bin")
	fakeBin(t, cfg.BinDir, fmt.Sprintf("#!/bin/sh\n[ \"$(pwd)\" != %s ] || exit 3\nexec %s \"$@\"\n", dir, bin.path("postgres")))
	refused(t, cfg, "exit status 3")
	if exists(filepath.Join(dir, "location")) {
		t.Error("the cluster moved away")
	}
}

// Ensure an ordinary user's server runs in that user's directory, as that user.
func TestOrdinaryUser(t *testing.T) {
	needsRoot(t) // to become one
	as, err := unprivileged()
	check(t, err)
	dir := openDir(t)
	top := filepath.Dir(dir)
	check(t, as.give(top))
	_, url := helper(t, copyOf(t, os.Args[0], filepath.Join(top, "helper")), dir, as)
	if got := query[int](t, url, "select 1"); got != 1 {
		t.Errorf("select 1 is %d", got)
	}
	if uid := owner(t, filepath.Join(dir, "lock")); uid != int(as.uid) {
		t.Errorf("the lock is of %d", uid)
	}
	if exists(filepath.Join(dir, "location")) {
		t.Error("the cluster moved away")
	}
}

func copyOf(t *testing.T, from, to string) string {
	t.Helper()
	in, err := os.Open(from)
	check(t, err)
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	check(t, err)
	_, err = io.Copy(out, in)
	check(t, err)
	check(t, out.Close())
	return to
}

// Ensure the states that only a person can mend are explained.
func TestExplained(t *testing.T) {
	dir := madeDir(t)
	stop(t, start(t, quick(dir)))
	version := filepath.Join(dir, "pg", "PG_VERSION")
	was, err := os.ReadFile(version)
	check(t, err)

	check(t, os.WriteFile(version, []byte("13\n"), 0o600))
	refused(t, quick(dir), "is of PostgreSQL 13", "--pg-bin", "pg_dumpall", "remove the data directory")
	check(t, os.WriteFile(version, []byte("\n"), 0o600))
	refused(t, quick(dir), "is no PostgreSQL cluster")
	check(t, os.WriteFile(version, was, 0o600))

	check(t, os.Rename(filepath.Join(dir, "superuser"), filepath.Join(dir, "away")))
	refused(t, quick(dir), "password", filepath.Join(dir, "superuser"))
	check(t, os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "superuser")))
	stop(t, start(t, quick(dir)))
}

// Ensure Find answers for a running server only.
func TestFind(t *testing.T) {
	dir := openDir(t)
	if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "no postgres cluster in it") {
		t.Errorf("an absent directory: %v", err)
	}
	c := start(t, quick(dir))
	url, err := Find(dir)
	check(t, err)
	if got := query[int](t, url, "select 1"); got != 1 || url != c.AdminURL("postgres") {
		t.Error("Find's URL is not the cluster's")
	}
	stop(t, c)
	if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Errorf("a stopped server: %v", err)
	}
	// What a crash leaves says "ready", but nobody answers.
	check(t, os.WriteFile(pidFile(filepath.Join(dir, "pg")), []byte("999999\nd\n1\n1\n\n\n\nready   \n"), 0o600))
	if _, err := Find(dir); err == nil || !strings.Contains(err.Error(), "does not answer") || strings.Contains(err.Error(), c.password) {
		t.Errorf("a crashed server: %v", err)
	}
}
