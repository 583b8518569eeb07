package main_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// minimum are the oldest versions that may be required. Each fixes something that is
// named in docs/dependencies.md; there is no vulnerability database where the tests run.
var minimum = map[string]string{
	"github.com/alecthomas/kong":          "v1.17.0",
	"github.com/fasthttp/router":          "v1.5.4",
	"github.com/getkin/kin-openapi":       "v0.152.0", // OpenAPI 3.1
	"github.com/goccy/go-yaml":            "v1.19.2",  // panics on invalid input
	"github.com/jackc/pgx/v5":             "v5.12.0",  // GHSA-j38q-h3ph-jjpq, GHSA-95fj-3fxw-g62g
	"github.com/lestrrat-go/jwx/v3":       "v3.3.0",
	"github.com/maypok86/otter/v2":        "v2.4.0",
	"github.com/pganalyze/pg_query_go/v6": "v6.2.5", // GHSA-6ggm-xmc9-8ffg
	"github.com/pressly/goose/v3":         "v3.29.0",
	"github.com/prometheus/client_golang": "v1.25.0",
	"github.com/valyala/fasthttp":         "v1.74.0", // request framing
	"google.golang.org/protobuf":          "v1.36.12",
}

// retired are modules, by prefix, that were replaced for a reason and must not come back,
// not even through another one.
var retired = []string{
	"github.com/jackc/pgproto3",           // archived; CVE-2026-32286 stays open in it
	"github.com/jackc/pgx/v4",             // needs the former
	"github.com/jackc/pgconn",             // the same
	"github.com/lib/pq",                   // pgx is the driver
	"github.com/pganalyze/pg_query_go/v5", // no fix of GHSA-6ggm-xmc9-8ffg
	"github.com/wasilibs/go-pgquery",      // one text can spoil the answer to the next
	"github.com/fergusstrange/embedded-postgres",
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) (v\S+)`)

// requirements are the modules of go.mod and their versions.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src), "replace ") || strings.Contains(string(src), "exclude ") {
		t.Error("go.mod replaces or excludes something: the versions there are not the ones that are built")
	}
	modules := map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(string(src), -1) {
		modules[m[1]] = m[2]
	}
	if len(modules) < 20 {
		t.Fatalf("only %d requirements were found", len(modules))
	}
	return modules
}

func TestRequirementsAreNewEnough(t *testing.T) {
	modules := requirements(t)
	for module, least := range minimum {
		version, required := modules[module]
		switch {
		case !required:
			t.Errorf("%s is not required; take it off the list if nothing needs it", module)
		case older(t, version, least):
			t.Errorf("%s %s is older than %s", module, version, least)
		}
	}
}

func TestRetiredModulesStayAway(t *testing.T) {
	for module := range requirements(t) {
		for _, prefix := range retired {
			if module == prefix || strings.HasPrefix(module, prefix+"/") {
				t.Errorf("%s is required", module)
			}
		}
	}
}

// older compares the three numbers of two versions; a pre-release counts as older than
// its release.
func older(t *testing.T, version, least string) bool {
	t.Helper()
	a, b := numbers(t, version), numbers(t, least)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return strings.Contains(version, "-") && !strings.Contains(least, "-")
}

func numbers(t *testing.T, version string) (n [3]int) {
	t.Helper()
	core, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	parts := strings.Split(core, ".")
	if len(parts) != len(n) {
		t.Fatalf("%q is not a version", version)
	}
	for i, part := range parts {
		number, err := strconv.Atoi(part)
		if err != nil {
			t.Fatalf("%q is not a version", version)
		}
		n[i] = number
	}
	return n
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version, least string
		want           bool
	}{
		{"v1.2.3", "v1.2.3", false},
		{"v1.2.10", "v1.2.9", false},
		{"v1.2.9", "v1.2.10", true},
		{"v1.10.0", "v1.9.9", false},
		{"v0.9.9", "v1.0.0", true},
		{"v2.0.0-rc.1", "v2.0.0", true},
		{"v2.0.1-rc.1", "v2.0.0", false},
		{"v0.0.0-20260820222146-c27c302e5fc3", "v0.0.1", true},
	} {
		if got := older(t, c.version, c.least); got != c.want {
			t.Errorf("older(%s, %s) is %v", c.version, c.least, got)
		}
	}
}
