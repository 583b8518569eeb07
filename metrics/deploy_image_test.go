package metrics_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The image names the ports that the service can listen on.
func TestImageExposesThePorts(t *testing.T) {
	exposed := regexp.MustCompile(`(?m)^EXPOSE (.*)$`).FindStringSubmatch(string(read(t, "Dockerfile")))
	if exposed == nil || !slices.Equal(strings.Fields(exposed[1]), []string{"8080", "6432", "9090"}) {
		t.Errorf("Dockerfile exposes %v, not REST, Postgres clients and operations", exposed)
	}
}

// What Dockerfile.dockerignore lets into the image's build is enough to build the program.
func TestImageContextIsEnoughToBuild(t *testing.T) {
	context := t.TempDir()
	rules := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(string(read(t, "Dockerfile.dockerignore")), ""))
	root := os.DirFS("..")
	if err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && !entersContext(rules, name):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(context, name), 0o700)
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(context, name), content, 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(context, "VERSION")); err != nil {
		t.Error(err)
	}
	var said bytes.Buffer
	list := exec.Command("go", "list", "-deps", "./cmd/tenantgate")
	list.Dir, list.Stderr = context, &said
	if err := list.Run(); err != nil {
		t.Errorf("%v: %s", err, &said)
	}
}

// entersContext applies the forms of rules that the file has: *, !NAME, and **/PATTERN for
// the last part of a path. The last rule that fits decides.
func entersContext(rules []string, name string) bool {
	enters := true
	top, _, _ := strings.Cut(name, "/")
	for _, rule := range rules {
		pattern, anywhere := strings.CutPrefix(rule, "**/")
		fits, _ := path.Match(pattern, path.Base(name))
		switch {
		case rule == "*":
			enters = false
		case strings.HasPrefix(rule, "!") && rule[1:] == top:
			enters = true
		case anywhere && fits:
			enters = false
		}
	}
	return enters
}
