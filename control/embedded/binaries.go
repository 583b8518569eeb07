package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// oldestMajor is the oldest Postgres that is started.
	oldestMajor = 14
	// versionLimit bounds the question for a program's version.
	versionLimit = 10 * time.Second
)

// usualPlaces are where packages put Postgres: Debian, Red Hat, Homebrew on both
// kinds of Mac, Postgres.app.
var usualPlaces = [...]string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

var digits = regexp.MustCompile(`\d+`)

// binaries is a folder with initdb and postgres that the account can run.
type binaries struct {
	dir     string
	version string // as Postgres writes it: 15.19
	major   int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// findBinaries takes the configured folder or searches for one. major is that of
// the existing cluster, 0 when there is none.
func findBinaries(ctx context.Context, cfg Config, as account, major int) (binaries, error) {
	if cfg.BinDir != "" {
		return askBinaries(ctx, cfg.BinDir, as)
	}
	var usable []binaries
	var failed []error
	for _, dir := range candidates(cfg) {
		b, err := askBinaries(ctx, dir, as)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if major == 0 || b.major == major {
			return b, nil
		}
		usable = append(usable, b)
	}
	if len(usable) > 0 {
		return usable[0], nil // of another version; the caller explains what to do
	}
	return binaries{}, errors.Join(append([]error{errNoPostgres}, failed...)...)
}

var errNoPostgres = errors.New("no PostgreSQL found on this machine: install it " +
	"(Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql@17) " +
	"or name the folder of initdb and postgres with --pg-bin")

// candidates are the folders worth asking, the best first.
func candidates(cfg Config) []string {
	var dirs []string
	if cfg.CacheDir != "" {
		dirs = append(dirs, newestFirst(filepath.Join(cfg.CacheDir, "*", "bin"))...)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	places := cfg.places
	if places == nil {
		places = usualPlaces[:]
	}
	for _, pattern := range places {
		dirs = append(dirs, newestFirst(pattern)...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !holdsPrograms(dir) })
}

// newestFirst lists the folders that match, ordered by the numbers in their names,
// so that 18 comes before 9.6.
func newestFirst(pattern string) []string {
	dirs, _ := filepath.Glob(pattern) // nothing matches a malformed pattern
	slices.SortStableFunc(dirs, func(a, b string) int {
		return slices.Compare(numbers(b), numbers(a))
	})
	return dirs
}

func numbers(s string) []int {
	var ns []int
	for _, d := range digits.FindAllString(s, -1) {
		n, _ := strconv.Atoi(d) // digits only; an absurd length sorts last
		ns = append(ns, n)
	}
	return ns
}

func holdsPrograms(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		st, err := os.Stat(filepath.Join(dir, program))
		if err != nil || st.IsDir() {
			return false
		}
	}
	return true
}

// askBinaries runs postgres --version as the account, which shows that it is there,
// can be run by that user, and is new enough.
func askBinaries(ctx context.Context, dir string, as account) (binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return binaries{}, err
	}
	if !holdsPrograms(dir) {
		return binaries{}, fmt.Errorf("%s does not hold initdb and postgres: --pg-bin must be the bin folder of a PostgreSQL server", dir)
	}
	out, err := askVersion(ctx, filepath.Join(dir, "postgres"), "/", as)
	if err != nil {
		return binaries{}, fmt.Errorf("%s can't be run by user %s, as whom postgres would run: %w", filepath.Join(dir, "postgres"), as.name, err)
	}
	b := binaries{dir: dir, version: out}
	b.major, err = strconv.Atoi(digits.FindString(out))
	if err != nil || b.major < oldestMajor {
		return binaries{}, fmt.Errorf("%s is PostgreSQL %s; %d or newer is needed", dir, out, oldestMajor)
	}
	return b, nil
}

// askVersion runs postgres --version in dir and returns the bare version.
func askVersion(ctx context.Context, path, dir string, as account) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	var out bytes.Buffer
	cmd := command(path, dir, as, "--version")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := runBounded(ctx, cmd); err != nil {
		return "", err
	}
	// "postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)"
	_, version, _ := strings.Cut(out.String(), ") ")
	version, _, _ = strings.Cut(strings.TrimSpace(version), " ")
	return version, nil
}
