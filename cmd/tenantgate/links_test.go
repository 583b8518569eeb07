package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]+)"`)
	fenced  = regexp.MustCompile("(?s)```.*?```")
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Ensure each link of the pages to a file of the repository leads to one, and to a heading that is there.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../*.md", "../../*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range []string{"README.md", "docs/isolation.md", "docs/own-tables.md", "docs/doctor.md", "docs/resources.md", "deploy/README.md"} {
		if !slices.Contains(pages, "../../"+page) {
			t.Errorf("%s was not read", page)
		}
	}
	for _, page := range pages {
		for _, found := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, name, _ := strings.Cut(found[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads to no file", page, found[1])
			} else if name != "" && !anchors(read(t, target))[name] {
				t.Errorf("%s: %s leads to no heading", page, found[1])
			}
		}
	}
}

// anchors are the names that a page's headings have in links, and those given by <a id>.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := dropped.ReplaceAllString(strings.ToLower(found[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	for _, found := range anchor.FindAllStringSubmatch(text, -1) {
		names[found[1]] = true
	}
	return names
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
