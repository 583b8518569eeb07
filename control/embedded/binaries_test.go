package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeBin makes a folder with an initdb (the real one, if any) and a postgres.
func fakeBin(t *testing.T, dir, postgres string) {
	t.Helper()
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "postgres"), []byte(postgres), 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "initdb"), nil, 0o755))
}

func fakeVersion(t *testing.T, dir, version string) {
	t.Helper()
	fakeBin(t, dir, fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s (Debian %[1]s-1)'\n", version))
}

// Ensure the search takes the newest, but one that fits the cluster before that, and
// passes over what can't be used.
func TestFindBinaries(t *testing.T) {
	top := filepath.Dir(openDir(t))
	for version, dir := range map[string]string{"9.6.24": "usr/9.6", "14.2": "usr/14", "17.1": "usr/17", "18beta1": "usr/18", "16.4": "cache/16.4.0"} {
		fakeVersion(t, filepath.Join(top, dir, "bin"), version)
	}
	fakeBin(t, filepath.Join(top, "usr/19/bin"), "#!/bin/sh\nexit 1\n")
	check(t, os.MkdirAll(filepath.Join(top, "usr/20/bin"), 0o755))
	as, err := chooseAccount("")
	check(t, err)
	t.Setenv("PATH", "/nowhere")
	places := []string{top + "/usr/*/bin"}

	for _, c := range []struct {
		name  string
		cfg   Config
		major int
		want  string // the version, or what the error says
	}{
		{"newest", Config{places: places}, 0, "18beta1"},
		{"the cluster's", Config{places: places}, 14, "14.2"},
		{"none fits the cluster", Config{places: places}, 15, "18beta1"},
		{"cache first", Config{places: places, CacheDir: top + "/cache"}, 0, "16.4"},
		{"the cluster's before the cache's", Config{places: places, CacheDir: top + "/cache"}, 17, "17.1"},
		{"named", Config{BinDir: top + "/usr/14/bin", places: places}, 17, "14.2"},
		{"named, too old", Config{BinDir: top + "/usr/9.6/bin", places: places}, 0, "is PostgreSQL 9.6.24; 14 or newer"},
		{"named, broken", Config{BinDir: top + "/usr/19/bin", places: places}, 0, "can't be run by user " + as.name},
		{"named, empty", Config{BinDir: top + "/usr/20/bin", places: places}, 0, "does not hold initdb and postgres"},
		{"none", Config{places: []string{top + "/no/*/bin"}}, 0, "apt-get install postgresql"},
		{"none, how to name one", Config{places: []string{}}, 0, "--pg-bin"},
		{"only bad ones are named", Config{places: []string{top + "/usr/*9*/bin"}}, 0, "usr/9.6/bin is PostgreSQL 9.6.24"},
	} {
		b, err := findBinaries(t.Context(), c.cfg, as, c.major)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && b.version != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, b.version, err, c.want)
		}
	}
}

// Ensure PATH is searched, through links, before the usual places.
func TestFindBinariesOnPath(t *testing.T) {
	top := filepath.Dir(openDir(t))
	fakeVersion(t, filepath.Join(top, "real", "bin"), "16.9")
	fakeVersion(t, filepath.Join(top, "usr", "18", "bin"), "18.1")
	check(t, os.Mkdir(filepath.Join(top, "path"), 0o755))
	check(t, os.Symlink(filepath.Join(top, "real", "bin", "postgres"), filepath.Join(top, "path", "postgres")))
	as, err := chooseAccount("")
	check(t, err)
	t.Setenv("PATH", filepath.Join(top, "path"))
	b, err := findBinaries(t.Context(), Config{places: []string{top + "/usr/*/bin"}}, as, 0)
	if err != nil || b.version != "16.9" {
		t.Errorf("%q, %v", b.version, err)
	}
}

// Ensure Postgres in a place that only root can enter is explained.
func TestBinariesOnlyForRoot(t *testing.T) {
	needsRoot(t)
	top := filepath.Dir(openDir(t))
	fakeVersion(t, filepath.Join(top, "shut", "bin"), "17.1")
	check(t, os.Chmod(filepath.Join(top, "shut"), 0o700))
	cfg := quick(filepath.Join(top, "data"))
	cfg.BinDir = filepath.Join(top, "shut", "bin")
	refused(t, cfg, "can't be run by user", "permission denied")
}

func TestNewestFirst(t *testing.T) {
	top := t.TempDir()
	for _, v := range []string{"9.6", "10", "18", "15.2", "15.10"} {
		check(t, os.Mkdir(filepath.Join(top, v), 0o755))
	}
	var got []string
	for _, dir := range newestFirst(top + "/*") {
		got = append(got, filepath.Base(dir))
	}
	if want := []string{"18", "15.10", "15.2", "10", "9.6"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Ensure a machine without the usual users still has one for Postgres.
func TestFirstAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passwd")
	check(t, os.WriteFile(path, []byte("root:x:0:0::/:/bin/sh\n# comment\ntoor:x:0:0::/:\nbad:x:y:1:\napp:x:1000:1001::/:\n"), 0o600))
	a, err := firstAccount(path)
	check(t, err)
	if want := (account{name: "app", uid: 1000, gid: 1001, change: true}); a != want {
		t.Errorf("got %+v", a)
	}
	check(t, os.WriteFile(path, []byte("root:x:0:0::/:/bin/sh\n"), 0o600))
	if _, err := firstAccount(path); err == nil || !strings.Contains(err.Error(), "useradd") {
		t.Errorf("only root: %v", err)
	}
	if _, err := accountByID(987654, false); err == nil || !strings.Contains(err.Error(), "passwd entry") {
		t.Errorf("no entry: %v", err)
	}
}
