package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Find is the superuser's URL, for the database "postgres", of the server that runs
// in a data directory: for commands beside a running `tenantgate dev`. The server is
// logged in to before Find returns. The URL holds the password.
func Find(dataDir string) (string, error) {
	adminURL, err := find(dataDir)
	if err != nil {
		return "", fmt.Errorf("data directory %s: %w", dataDir, err)
	}
	return adminURL, nil
}

func find(dataDir string) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	s := site{dataDir: dir}
	if s.home, err = existingHome(dir); err != nil {
		return "", err
	}
	if s.home == "" {
		return "", errors.New("there is no postgres cluster in it: tenantgate dev makes one")
	}
	password, err := readLine(s.passwordFile())
	if err != nil {
		return "", err
	}
	pm, ok := readPostmaster(s.pgData())
	if !ok || !pm.ready {
		return "", errors.New("its postgres is not running: start tenantgate dev")
	}
	adminURL := connURL(superuser, password, pm.port, "postgres")
	if err := probe(context.Background(), adminURL); err != nil {
		return "", fmt.Errorf("it does not answer: %w", err)
	}
	return adminURL, nil
}
