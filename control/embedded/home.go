package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// existingHome is where the data directory's cluster lives, "" if there is none.
func existingHome(dataDir string) (string, error) {
	home, err := readLine(filepath.Join(dataDir, "location"))
	if err != nil {
		return "", fmt.Errorf("finding the cluster: %w", err)
	}
	if home == "" {
		home = dataDir
	} else if !exists(home) {
		return "", fmt.Errorf("the cluster of %s was in %s, which is gone: remove %[1]s to start anew", dataDir, home)
	}
	if home == dataDir && !exists(filepath.Join(home, "pg")) {
		return "", nil
	}
	return home, nil
}

// enter tries whether the account can work in dir; if not, the error is a
// fs.ErrPermission. It is tried, not computed: owners, groups, access lists and
// mounts above dir all have a say.
func (s *site) enter(ctx context.Context, dir string) error {
	if _, err := askVersion(ctx, s.bin.path("postgres"), dir, s.runAs); err != nil {
		return fmt.Errorf("trying %s as user %s: %w", dir, s.runAs.name, err)
	}
	return nil
}

// settleElsewhere makes a home that the account can enter, and notes it.
func (s *site) settleElsewhere(ctx context.Context) (string, error) {
	parents := s.cfg.elsewhere
	if parents == nil {
		parents = []string{"/var/lib/tenantgate", os.TempDir()}
	}
	var failed []error
	for _, parent := range parents {
		home, err := s.makeHome(ctx, parent)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err := writeFile(filepath.Join(s.dataDir, "location"), home+"\n"); err != nil {
			return "", fmt.Errorf("noting where the cluster lives: %w", err)
		}
		s.log.Warn("the user that postgres runs as can't enter the data directory; the cluster is elsewhere",
			"user", s.runAs.name, "data-dir", s.dataDir, "cluster", home)
		return home, nil
	}
	return "", fmt.Errorf("user %s can't enter %s, and no other place was found: %w", s.runAs.name, s.dataDir, errors.Join(failed...))
}

// makeHome makes a fresh folder. Its name tells the data directory apart (a hash of
// the path) but has a random part: whatever is there already is somebody else's, or
// the data of a directory that was removed or moved.
func (s *site) makeHome(ctx context.Context, parent string) (string, error) {
	if err := makeDir(parent); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(s.dataDir))
	prefix := "cluster-" + hex.EncodeToString(sum[:4]) + "-"
	if left, _ := filepath.Glob(filepath.Join(parent, prefix+"*")); len(left) > 0 {
		s.log.Warn("clusters of an earlier data directory of this path are left; remove them if nothing in them matters", "clusters", left)
	}
	home, err := os.MkdirTemp(parent, prefix+"*")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(home, 0o711); err != nil { //nolint:gosec // the server's user must pass
		return "", err
	}
	if err := s.enter(ctx, home); err != nil {
		return "", errors.Join(err, os.Remove(home))
	}
	return home, writeFile(filepath.Join(home, "data-directory"), s.dataDir+"\n")
}
