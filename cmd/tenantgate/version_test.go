package main_test

import (
	"regexp"
	"strings"
	"testing"
)

// section is a heading of CHANGELOG.md: a version and its date, or what is not released.
var section = regexp.MustCompile(`(?m)^## \[(Unreleased|[0-9.]+)\](?: - (\d{4}-\d\d-\d\d))?$`)

// TestChangelogHasTheVersion holds the file VERSION and CHANGELOG.md together: between
// releases the newest section is Unreleased; the commit of a release has one with its date.
func TestChangelogHasTheVersion(t *testing.T) {
	version, changes := read(t, "../../VERSION"), read(t, "../../CHANGELOG.md")
	form := regexp.MustCompile(`^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(-dev)?\n$`).FindStringSubmatch(version)
	newest := section.FindStringSubmatch(changes)
	switch {
	case form == nil:
		t.Fatalf("VERSION is %q, which is neither 1.2.3 nor 1.2.3-dev", version)
	case newest == nil:
		t.Fatal("CHANGELOG.md has no section")
	case strings.Count(changes, "\n## ") != len(section.FindAllString(changes, -1)):
		t.Error("a section of CHANGELOG.md is neither ## [Unreleased] nor ## [1.2.3] - 2026-12-31")
	case form[2] == "-dev" && newest[1] != "Unreleased":
		t.Errorf("VERSION is %s-dev and the newest section of CHANGELOG.md is %s, which is released", form[1], newest[1])
	case form[2] == "" && (newest[1] != form[1] || newest[2] == ""):
		t.Errorf("VERSION is %s and the newest section of CHANGELOG.md is %q: it must be the version with its date", form[1], newest[0])
	}
}
