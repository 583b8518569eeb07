package mutants

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed mutants.txt
var list string

// Mutant is one way to break the engine.
type Mutant struct {
	Name  string
	Proof string // the kind of proof that must notice: a key of proofs
	Edits []Edit
}

// Edit replaces a text that stands once in a file of the repository.
type Edit struct{ File, Old, New string }

// All reads mutants.txt: blocks of lines `mutant:`, `proof:`, and for each edit `in:`,
// `old:` and `new:`, with blank lines between the blocks; # starts a comment.
func All() ([]Mutant, error) {
	var all []Mutant
	for i, line := range strings.Split(list, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if key == "mutant" {
			all = append(all, Mutant{Name: value})
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(all) == 0 || !all[len(all)-1].take(key, value) {
			return nil, fmt.Errorf("mutants.txt:%d: %q is not understood", i+1, line)
		}
	}
	return all, nil
}

func (m *Mutant) take(key, value string) bool {
	last := len(m.Edits) - 1
	switch {
	case key == "proof":
		m.Proof = value
	case key == "in":
		m.Edits = append(m.Edits, Edit{File: value})
	case key == "old" && last >= 0:
		m.Edits[last].Old = value
	case key == "new" && last >= 0:
		m.Edits[last].New = value
	default:
		return false
	}
	return true
}

// overlay writes the mutant's files into dir and gives what `go test -overlay` wants, from
// the path of a file in the repository to that of its mutant.
func (m *Mutant) overlay(root, dir string) (map[string]string, error) {
	files := map[string]string{}
	for i, e := range m.Edits {
		path := filepath.Join(root, e.File)
		from := path
		if files[path] != "" {
			from = files[path]
		}
		src, err := os.ReadFile(from)
		if err != nil {
			return nil, fmt.Errorf("reading the source: %w", err)
		}
		if n := strings.Count(string(src), e.Old); n != 1 || e.Old == "" {
			return nil, fmt.Errorf("%s: %q stands in %s %d times", m.Name, e.Old, e.File, n)
		}
		files[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(files[path], []byte(strings.Replace(string(src), e.Old, e.New, 1)), 0o600); err != nil {
			return nil, fmt.Errorf("writing the mutant: %w", err)
		}
	}
	return files, nil
}
