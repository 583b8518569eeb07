package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
)

// site is a data directory that this process has locked, and all that is needed to
// start a server in it.
type site struct {
	cfg     Config
	log     *slog.Logger
	dataDir string
	home    string // see the package comment
	runAs   account
	bin     binaries
	out     *logFile
	locks   []*os.File
}

func (s *site) pgData() string       { return filepath.Join(s.home, "pg") }
func (s *site) passwordFile() string { return filepath.Join(s.home, "superuser") }
func (s *site) portFile() string     { return filepath.Join(s.home, "port") }

// release lets the data directory go. The server must have ended.
func (s *site) release() {
	if s.out != nil {
		s.out.close()
	}
	for _, f := range s.locks {
		_ = f.Close()
	}
}

// prepare locks the data directory, finds a Postgres and the cluster's home, and
// makes the cluster if there is none.
func prepare(ctx context.Context, cfg Config) (*site, error) {
	if cfg.DataDir == "" {
		return nil, errors.New("no data directory given")
	}
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	if err := checkOurs(dir); err != nil {
		return nil, err
	}
	s := &site{cfg: cfg, log: cfg.Log, dataDir: dir}
	if err := s.settle(ctx); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

func (s *site) settle(ctx context.Context) error {
	if err := checkSettings(s.cfg.Settings); err != nil {
		return err
	}
	if err := s.lock(s.dataDir); err != nil {
		return err
	}
	var err error
	if s.out, err = openLog(s.dataDir); err != nil {
		return err
	}
	if s.home, err = existingHome(s.dataDir); err != nil {
		return err
	}
	if s.home != "" {
		return s.reuse(ctx)
	}
	return s.create(ctx)
}

func (s *site) lock(dir string) error {
	f, err := lockDir(dir)
	if err != nil {
		return err
	}
	s.locks = append(s.locks, f)
	return nil
}

// reuse prepares the start of a cluster that exists, or whose making was cut off.
func (s *site) reuse(ctx context.Context) error {
	if err := s.lockHome(); err != nil {
		return err
	}
	if !exists(s.pgData()) {
		return s.fill(ctx)
	}
	version, err := readLine(filepath.Join(s.pgData(), "PG_VERSION"))
	if err != nil {
		return fmt.Errorf("reading the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(version)
	if err != nil {
		return fmt.Errorf("%s is no PostgreSQL cluster (no version in it): remove %s to start anew", s.pgData(), s.dataDir)
	}
	if s.runAs, err = chooseAccount(s.pgData()); err != nil {
		return err
	}
	if s.bin, err = findBinaries(ctx, s.cfg, s.runAs, major); err != nil {
		return err
	}
	if s.bin.major != major {
		return versionError(s.pgData(), major, s.bin)
	}
	if err := s.enter(ctx, s.home); errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("user %s, who owns the cluster, can't enter %s: let others pass (chmod o+x) on each folder above it", s.runAs.name, s.home)
	} else if err != nil {
		return err
	}
	return clearOrphan(ctx, s.pgData(), s.log)
}

func versionError(pgData string, major int, bin binaries) error {
	return fmt.Errorf("the cluster %s is of PostgreSQL %d, but %s is %s: name a PostgreSQL %[2]d with --pg-bin; "+
		"or dump the databases with it (pg_dumpall), remove the data directory, start again and load the dump; "+
		"or, if nothing in it matters, just remove the data directory", pgData, major, bin.dir, bin.version)
}

// create makes a home and a cluster in it.
func (s *site) create(ctx context.Context) error {
	var err error
	if err = s.equip(ctx); err != nil {
		return err
	}
	s.home = s.dataDir
	if err = s.enter(ctx, s.home); errors.Is(err, fs.ErrPermission) {
		s.home, err = s.settleElsewhere(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.lockHome(); err != nil {
		return err
	}
	return s.initdb(ctx)
}

// fill makes a cluster in a home that has none yet.
func (s *site) fill(ctx context.Context) error {
	if err := s.equip(ctx); err != nil {
		return err
	}
	return s.initdb(ctx)
}

// equip chooses user and Postgres for a cluster that does not exist yet.
func (s *site) equip(ctx context.Context) (err error) {
	if s.runAs, err = chooseAccount(""); err != nil {
		return err
	}
	s.bin, err = findBinaries(ctx, s.cfg, s.runAs, 0)
	return err
}

// lockHome guards a home that two data directories name (a copied one does).
func (s *site) lockHome() error {
	if s.home == s.dataDir {
		return nil
	}
	return s.lock(s.home)
}
